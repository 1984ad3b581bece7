/**
 * The health of every model on every channel in the running process. It follows each attempt from `begin`
 * to `end`, counts running attempts and retry budgets, schedules checks and comparisons, and shows and
 * saves the state. It opens no socket and sets no timer: `wake` lets time pass. Invariant: an attempt
 * changes only the place that it began on, and nothing after an operator has renewed the channel.
 */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Channel, Snapshot } from '../channel.ts'
import { createCheckPlan, type CheckPlan } from '../probes/check-plan.ts'
import type { Caller, Form } from './evidence.ts'
import { isChannelRefusal } from './health-event.ts'
import type { AttemptResult, Outcome, PlacedEffect } from './health-event.ts'
import { describePlace, shareAlone, shareInRoute, type HealthLine } from './health-line.ts'
import {
  createChannelLoad,
  newPlace,
  noteAttempt,
  noteFailure,
  noteFirstEvent,
  waitsOf,
  type HealthPlace,
  type OpenAttempt,
  type Place,
} from './health-place.ts'
import { modelOfPlace } from '../places.ts'
import { isSameUpstream } from '../reach.ts'
import { HealthRegister } from './health-register.ts'
import { restoreHealth, saveEntries, type SavedHealth } from './health-store.ts'
import {
  gradeOf,
  isInUse,
  shownMode,
  startState,
  type Grade,
  type HealthState,
} from './health-state.ts'
import { isHeadKind, isStreamKind, latencyKind, probeKind, type LatencyTraits } from './latency.ts'
import { LatencyWatch } from './latency-watch.ts'
import { SilenceWatch } from './silence-watch.ts'
import type { ChannelFacts } from '../select.ts'
import { hasSpentOwn, mayFailOverInto, spendBudget } from './retry-budget.ts'
import { noteOutlasted, type OutlastedWait, type Waited } from './waits.ts'

export interface HealthBookOptions {
  readonly clock: Clock
  readonly random: Random
  /** How often a channel without recent successes is checked. */
  readonly checkIntervalMs: number
  /** Size of each channel's retry budget. */
  readonly failoverTokensMax: number
  /** Of several gateways on one store only one runs the regular checks. */
  readonly mayCheck?: () => boolean
  /** Receives each effect once, in order, after the state has changed. Must not throw. */
  readonly onEffect?: (effect: PlacedEffect, place: HealthPlace) => void
}

export interface AttemptEnd {
  readonly outcome: Outcome
  /** Undefined for a probe. */
  readonly caller: Caller | undefined
  readonly retryAfterMs?: number | undefined
}

interface AttemptKind {
  /** The facts that decide the time to the first event; absent where it is not measured. */
  readonly traits?: LatencyTraits | undefined
  readonly isProbe?: boolean
  /** The body does. */
  readonly asksReasoning?: boolean
  /** The form of an attempt without traits; `whole` unless given. */
  readonly form?: Form
}

/** An answer: a stream after these waits, or a whole one with this number of tokens. */
interface Begun {
  readonly outputTokens?: number | undefined
  readonly waited?: Waited | undefined
}

/** The time of shorter answers is mostly overhead, so their time per token says little. */
const tokensPerAnswerMin = 16

export class HealthBook implements ChannelFacts {
  readonly #options: HealthBookOptions
  readonly #startedAt: number
  readonly #register: HealthRegister
  readonly #watch: LatencyWatch
  readonly #plan: CheckPlan
  readonly #load = createChannelLoad()
  readonly #silence: SilenceWatch
  #snapshot: Snapshot | undefined

  constructor(options: HealthBookOptions) {
    const { clock, random } = options
    this.#options = options
    this.#startedAt = clock.monotonic()
    this.#register = new HealthRegister({
      clock,
      random,
      startedAt: this.#startedAt,
      budget: options.failoverTokensMax,
      compare: (channel, model) => this.#watch.compare(channel, model, clock.monotonic()),
      onEffect: (effect, place) => options.onEffect?.(effect, place),
    })
    this.#watch = new LatencyWatch({
      register: this.#register,
      channelsOf: (model) => this.#channelsOf(model),
      askForProbes: (place, count) =>
        options.onEffect?.({ kind: 'probe', count, form: 'stream' }, place),
    })
    this.#silence = new SilenceWatch(this.#register)
    this.#plan = createCheckPlan({
      random,
      intervalMs: options.checkIntervalMs,
    })
  }

  state(channel: string, model: string): HealthState {
    return this.#register.findPlace(channel, model)?.state ?? startState('request')
  }

  running(channel: string): number {
    return this.#load.running(channel)
  }

  /** Probes under way on the channel, for any model; `running` counts those of traffic. */
  probing(channel: string): number {
    return this.#load.probing(channel)
  }

  /** Whether there is room for a probe; see `ChannelLoad`. */
  mayProbe(name: string): boolean {
    const channel = this.#register.findEntry(name)?.channel
    return channel === undefined || this.#load.mayProbe(channel)
  }

  mayFailOverInto(channel: string, accountId: string): boolean {
    const budget = this.#register.findEntry(channel)?.budget
    const now = this.#options.clock.monotonic()
    return budget === undefined || mayFailOverInto(budget, accountId, now)
  }

  hasSpentOwn(channel: string, accountId: string): boolean {
    const budget = this.#register.findEntry(channel)?.budget
    return budget !== undefined && hasSpentOwn(budget, accountId, this.#options.clock.monotonic())
  }

  draw(): number {
    return this.#options.random()
  }

  /** An attempt (or a probe) starts on this channel. */
  begin(channel: Channel, model: string, made: AttemptKind = {}): OpenAttempt {
    const isProbe = made.isProbe === true
    const { traits } = made
    const form = traits === undefined ? (made.form ?? 'whole') : formOf(traits)
    const traitsKind = traits === undefined ? undefined : latencyKind(traits)
    const place = this.#placeToday(channel, model)
    const attempt: OpenAttempt = {
      channel,
      model,
      place,
      beganAt: this.#options.clock.monotonic(),
      isProbe,
      form,
      kind: traitsKind ?? (isProbe ? probeKind : undefined),
      asksReasoning: made.asksReasoning === true,
      progress: 'waiting',
    }
    this.#load.begin(attempt)
    if (traitsKind !== undefined) {
      this.#watch.expect(place, attempt)
      this.#silence.expect(attempt)
    }
    if (!isProbe && !isInUse(place.state)) this.#register.apply(channel, model, { kind: 'begun' })
    return attempt
  }

  /** The head of its stream has arrived. Call at most once, before `answered`. */
  headed(attempt: OpenAttempt): void {
    const { kind, place, beganAt } = attempt
    if (kind === undefined || !isHeadKind(kind) || this.#isOutdated(attempt)) return
    const sample = this.#sampleOf(attempt, kind, this.#options.clock.monotonic() - beganAt)
    place.waiting.delete(attempt)
    this.#register.applyTo(attempt, { kind: 'headed', sample })
  }

  /** Its first event has arrived, or its whole answer. Call at most once. */
  answered(attempt: OpenAttempt, { outputTokens, waited }: Begun = {}): void {
    const { kind, place, form, beganAt } = attempt
    if (kind === undefined || this.#isOutdated(attempt)) return
    const now = this.#options.clock.monotonic()
    this.#silence.ended(attempt, true, now)
    const durationMs = now - beganAt
    const isStream = isStreamKind(kind)
    const value = isStream
      ? durationMs
      : durationMs / Math.max(outputTokens ?? 0, tokensPerAnswerMin)
    if (isStream) noteFirstEvent(place, durationMs)
    if (waited !== undefined) this.#silence.learn(attempt, waited, now)
    const sample = isHeadKind(kind) ? undefined : this.#sampleOf(attempt, kind, value)
    place.waiting.delete(attempt)
    attempt.progress = 'answered'
    this.#register.applyTo(attempt, { kind: 'answered', form, beganAt, sample })
  }

  #sampleOf(attempt: OpenAttempt, latencyKind: number, value: number) {
    const inherited = this.#watch.inherited(attempt.place, attempt)
    return { latencyKind, value, inherited, isCounted: attempt.progress === 'overdue' }
  }

  /** It waits beyond a learned limit. Call once for each wait. */
  hangs(attempt: OpenAttempt): void {
    if (!this.#isOutdated(attempt)) this.#silence.hangs(attempt, this.#options.clock.monotonic())
  }

  /** It has ended. Call exactly once. */
  end(attempt: OpenAttempt, result: AttemptEnd): void {
    const { channel, model, place, form, beganAt } = attempt
    const now = this.#options.clock.monotonic()
    this.#load.end(attempt)
    place.waiting.delete(attempt)
    if (this.#isOutdated(attempt)) return
    const { outcome, caller, retryAfterMs } = result
    const hasAnswered = outcome !== 'client' && outcome !== 'nobody'
    this.#silence.ended(attempt, hasAnswered, now)
    const entry = this.#register.entryOf(channel)
    entry.budget = spendBudget(entry.budget, { outcome, accountId: caller?.accountId }, now)
    const wasAnswered = attempt.progress === 'answered'
    if (hasAnswered && outcome !== 'ok') noteFailure(place, outcome, now)
    if (hasAnswered && !attempt.isProbe) noteAttempt(place, outcome, now)
    const before = place.state
    const event: AttemptResult = {
      kind: 'ended',
      outcome,
      form,
      caller,
      beganAt,
      retryAfterMs,
      wasAnswered,
    }
    this.#register.applyTo(attempt, event)
    if (isChannelRefusal(outcome) && place.state.mode === 'off' && place.state !== before)
      this.#register.spread(channel, model, { ...event, isSpread: true })
    else if (!isInUse(before) && before.cause === 'config' && isInUse(place.state)) {
      const isRefuted = before.mode === 'off' && before.isConfirming
      this.#register.spread(channel, model, { kind: isRefuted ? 'refuted' : 'released' })
    }
  }

  /** The exchange of an attempt that ended `hard` failed on another channel too. */
  retract(attempt: OpenAttempt, keyId: string): void {
    const { form } = attempt
    if (!this.#isOutdated(attempt))
      this.#register.applyTo(attempt, { kind: 'retracted', form, keyId })
  }

  /** Another channel took about as long as this attempt, which was ended sooner: the request is slow. */
  outlasted(attempt: OpenAttempt, keyId: string, waited: OutlastedWait): void {
    noteOutlasted(waitsOf(attempt), waited, this.#options.clock.monotonic())
    this.retract(attempt, keyId)
  }

  /** An operator requests a check now: back-offs end, and probes decide. */
  recheck(place: HealthPlace): void {
    const channel = this.#channelOf(place)
    if (channel !== undefined) this.#register.apply(channel, place.model, { kind: 'asked' })
  }

  /** Another node has switched this off: probes find out whether it fails here too. */
  warn(place: HealthPlace): void {
    const channel = this.#channelOf(place)
    if (channel !== undefined) this.#register.apply(channel, place.model, { kind: 'warned' })
  }

  grade(channel: Channel, model: string): Grade | 'disabled' {
    if (channel.override === 'disabled') return 'disabled'
    return gradeOf(this.#register.placeOf(channel, model).state, this.#options.clock.monotonic())
  }

  /** Lets time pass: back-offs end, probes and checks fall due. Cheap when nothing is due. */
  wake(): void {
    const now = this.#options.clock.monotonic()
    if (now >= this.#watch.nextScanAt()) this.#watch.scan(now)
    if (now >= this.#silence.nextScanAt()) this.#silence.scan(now)
    if (now >= this.#plan.nextAt()) this.#runChecks(now)
    this.#register.wake(now)
  }

  /** When `wake` has something to do next, in monotonic time; at most a second off while requests wait. */
  nextWakeAt(): number {
    const watchAt = Math.min(this.#watch.nextScanAt(), this.#silence.nextScanAt())
    return Math.min(this.#register.nextWakeAt(), watchAt, this.#plan.nextAt())
  }

  /** What operators see of one place; undefined where the catalogue has no such place. */
  find(place: HealthPlace): HealthLine | undefined {
    const channel = this.#channelOf(place)
    return channel === undefined ? undefined : this.#describe(channel, place.model)
  }

  /**
   * Every channel × model of the snapshot, channels by rank and name; each at the moment it is asked for, and
   * none that has left the catalogue meanwhile.
   */
  *list(snapshot: Snapshot): Generator<HealthLine> {
    const channels = [...snapshot.channels.values()].sort(
      (left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1),
    )
    for (const channel of channels)
      for (const model of channel.models.keys()) {
        const current = this.#channelOf({ channel: channel.name, model })
        if (current !== undefined) yield this.#describe(current, model)
      }
  }

  /** The state that a restart needs, by channel and model; each at the moment it is asked for. */
  save(): Iterable<SavedHealth> {
    return saveEntries(this.#register.entries(), this.#options.clock)
  }

  /** Resumes the state that an earlier process saved, after the first `follow`. */
  restore(saved: Iterable<SavedHealth>): void {
    const { clock } = this.#options
    const moment = { now: clock.monotonic(), wallMs: clock.now() }
    for (const one of saved) {
      const { model } = one
      const channel = this.#channelOf(one)
      if (channel === undefined) continue
      const place = this.#register.placeOf(channel, model)
      const { state, waits } = restoreHealth(one, channel.check, moment)
      place.waits = waits
      this.#register.enter(place, state)
      const to = shownMode(place.state, moment.now)
      if (to === one.mode) continue
      const { why } = place.state
      const at = { channel: channel.name, model }
      this.#options.onEffect?.({ kind: 'changed', from: one.mode, to, why }, at)
    }
  }

  /**
   * Takes over a new catalogue. Channels and models that are gone are forgotten, and so is the past of a
   * channel that an operator has switched on again or given another address or credential.
   */
  follow(previous: Snapshot | undefined, next: Snapshot): void {
    this.#snapshot = next
    this.#plan.follow(next, this.#options.clock.monotonic())
    this.#register.follow(previous, next)
  }

  /** An exchange keeps the catalogue it began with, so its channel may be out of date. */
  #placeToday(channel: Channel, model: string): Place {
    const isCurrent = isSameUpstream(this.#register.entryOf(channel).channel, channel)
    return isCurrent ? this.#register.placeOf(channel, model) : newPlace(channel, this.#startedAt)
  }

  #isOutdated({ channel, model, place }: OpenAttempt): boolean {
    return this.#register.findPlace(channel.name, model) !== place
  }

  #runChecks(now: number): void {
    const options = this.#options
    const mayCheck = options.mayCheck?.() ?? true
    const due = this.#plan.takeDue(now, (channel) => this.#register.entryOf(channel).places)
    if (!mayCheck) return
    for (const { channel, model } of due)
      options.onEffect?.(
        { kind: 'probe', count: 1, form: 'whole' },
        { channel: channel.name, model },
      )
  }

  #describe(channel: Channel, model: string): HealthLine {
    const place = this.#register.placeOf(channel, model)
    const running = this.#load.running(channel.name) + this.#load.probing(channel.name)
    const options = { clock: this.#options.clock, startedAt: this.#startedAt }
    const share = shareInRoute(channel, this.#channelsOf(model), (one) =>
      shareAlone(one, this.#register.placeOf(one, model).state, options.clock.monotonic()),
    )
    const thinks = this.#snapshot?.models.get(modelOfPlace(model))?.thinks === true
    return describePlace({ channel, model, thinks, share, place, running }, options)
  }

  #channelsOf(model: string): readonly Channel[] {
    return this.#snapshot?.channelsByModel.get(model) ?? []
  }

  /** The channel as the catalogue has it, where it has this model. */
  #channelOf({ channel: name, model }: HealthPlace): Channel | undefined {
    const channel = this.#snapshot?.channels.get(name)
    return channel?.models.has(model) === true ? channel : undefined
  }
}

function formOf({ isStream }: LatencyTraits): Form {
  return isStream ? 'stream' : 'whole'
}
