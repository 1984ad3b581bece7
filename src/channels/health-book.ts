/**
 * The health of every model on every channel, held for the running process. It follows each attempt
 * from `begin` to `end` (one pair per attempt), counts those that run and the channel's tokens, says
 * when checks and comparisons are due, and shows and saves what the register knows. It opens no
 * socket and sets no timer: `wake` lets time pass. The invariant: an attempt teaches only the place
 * that it began on, and nothing once an operator has renewed that.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Channel, Snapshot } from './channel.ts'
import { createChannelLoad } from './channel-load.ts'
import { createCheckPlan } from './check-plan.ts'
import type { HealthEvent, Outcome, PlacedEffect } from './health-event.ts'
import { describePlace, type HealthLine } from './health-line.ts'
import {
  isSameUpstream,
  newPlace,
  noteFailure,
  noteFirstEvent,
  type HealthPlace,
  type OpenAttempt,
  type Place,
} from './health-place.ts'
import { createHealthRegister } from './health-register.ts'
import { restoreHealth, saveHealth, type SavedHealth } from './health-saved.ts'
import { lookedAt, startWaiting, stopWaiting, unbearableAt } from './health-silence.ts'
import { gradeOf, shownMode, startState, type Grade, type HealthMode } from './health-state.ts'
import {
  isStreamKind,
  latencyKind,
  ownQuantiles,
  pinnedQuantiles,
  probeKind,
  type LatencyTraits,
} from './latency.ts'
import { createLatencyWatch } from './latency-watch.ts'
import type { Caller } from './outcome-window.ts'
import type { ChannelFacts } from './select.ts'
import { defaultTokensMax, mayFailOverInto, spendTokens } from './tokens.ts'

export interface HealthBookOptions {
  readonly clock: Clock
  readonly random: Random
  /** How often a channel is checked that nothing else proves. */
  readonly checkIntervalMs?: number
  /** Size of each channel's bucket of failover tokens. */
  readonly failoverTokensMax?: number
  /** Several gateways on one store: only one of them runs the checks. */
  readonly mayCheck?: () => boolean
  /** Told of each effect once, in order, after the state has changed. Must not throw. */
  readonly onEffect?: (effect: PlacedEffect, place: HealthPlace) => void
}

export interface AttemptEnd {
  readonly outcome: Outcome
  /** Undefined for a probe of the gateway's own. */
  readonly caller: Caller | undefined
  readonly retryAfterMs?: number | undefined
}

export interface AttemptKind {
  /** What the time to the first event depends on; absent where it is not to be measured. */
  readonly traits?: LatencyTraits
  readonly isProbe?: boolean
}

export interface HealthBook extends ChannelFacts {
  /** An attempt (or a probe) starts on this channel. */
  begin(channel: Channel, model: string, kind?: AttemptKind): OpenAttempt
  /** Its first event has come, or its whole answer with so many output tokens. Call at most once. */
  answered(attempt: OpenAttempt, outputTokens?: number): void
  /** It has ended. Call exactly once. */
  end(attempt: OpenAttempt, result: AttemptEnd): void
  /** An attempt that ended `hard` failed on another channel as well: the request is to blame. */
  retract(attempt: OpenAttempt, keyId: string): void
  /** Probes under way on the channel, whatever their model; see `running` for those of traffic. */
  probing(channel: string): number
  /** Whether there is room for a probe; see `channel-load.ts`. */
  mayProbe(channel: string): boolean
  /** An operator wants to know now: holds end, and probes tell. */
  recheck(place: HealthPlace): void
  /** Another node has switched this off: probes find out whether that holds here too. */
  warn(place: HealthPlace): void
  grade(channel: Channel, model: string): Grade | 'disabled'
  /** What 99 in 100 streams of this kind take to begin at most; undefined while unknown. */
  usualMostMs(channel: Channel, model: string, traits: LatencyTraits): number | undefined
  /**
   * Lets time pass: holds end, probes and checks fall due, requests that wait too long are noticed.
   * Cheap when nothing is due; about once a second is often enough.
   */
  wake(): void
  /** When `wake` has something to do next, in monotonic time; at most a second off while requests wait. */
  nextWakeAt(): number
  /** What an operator is shown of one place; undefined where the catalogue has no such place. */
  find(place: HealthPlace): HealthLine | undefined
  /** Every channel × model of the snapshot, channels by rank and name. */
  list(snapshot: Snapshot): readonly HealthLine[]
  /** All that is worth keeping over a restart. */
  save(): readonly SavedHealth[]
  /** What an earlier process saved; what was not on resumes on trial. After the first `follow`. */
  restore(saved: readonly SavedHealth[]): void
  /**
   * Takes the catalogue in, and forgets what no longer applies: channels and models that are gone,
   * and the past of a channel that an operator has switched on again or given another address or
   * credential.
   */
  follow(previous: Snapshot | undefined, next: Snapshot): void
}

const defaultCheckIntervalMs = 600_000
/** Answers shorter than this are mostly overhead: their time per token says little. */
const tokensPerAnswerMin = 16

export function createHealthBook(options: HealthBookOptions): HealthBook {
  const { clock, random } = options
  const startedAt = clock.monotonic()
  const onEffect = options.onEffect ?? (() => {})
  let snapshot: Snapshot | undefined
  /** When the first of the places may have been silent for too long. */
  let silenceAt = Number.POSITIVE_INFINITY
  const register = createHealthRegister({
    clock,
    random,
    startedAt,
    tokensMax: options.failoverTokensMax ?? defaultTokensMax,
    compare: (channel, model) => watch.compare(channel, model, clock.monotonic()),
    onEffect,
  })
  const { entryOf, placeOf, apply } = register
  const load = createChannelLoad()
  const plan = createCheckPlan({
    random,
    intervalMs: options.checkIntervalMs ?? defaultCheckIntervalMs,
  })
  const watch = createLatencyWatch({
    channelsOf: (model) => snapshot?.channelsByModel.get(model) ?? [],
    findPlace: register.findPlace,
    placeOf,
    places: register.places,
    apply,
    askForProbes: (place, count) => onEffect({ kind: 'probe', count }, place),
  })

  /** An exchange keeps the catalogue it began with: its channel may be another one by now. */
  function placeToday(channel: Channel, model: string): Place {
    const isCurrent = isSameUpstream(entryOf(channel).channel, channel)
    return isCurrent ? placeOf(channel, model) : newPlace(channel, startedAt)
  }

  function isOutdated({ channel, model, place }: OpenAttempt): boolean {
    return register.findPlace(channel.name, model) !== place
  }

  function begin(channel: Channel, model: string, made: AttemptKind = {}): OpenAttempt {
    const isProbe = made.isProbe === true
    const traitsKind = made.traits === undefined ? undefined : latencyKind(made.traits)
    const place = placeToday(channel, model)
    const attempt: OpenAttempt = {
      channel,
      model,
      place,
      beganAt: clock.monotonic(),
      isProbe,
      kind: traitsKind ?? (isProbe ? probeKind : undefined),
      progress: 'waiting',
    }
    load.begin(attempt)
    if (traitsKind !== undefined) {
      watch.expect(place, attempt)
      startWaiting(place.silence, attempt.beganAt)
      silenceAt = Math.min(silenceAt, unbearableAt(place.silence))
    }
    const { mode } = place.state
    if (!isProbe && (mode === 'off' || mode === 'trial')) apply(channel, model, { kind: 'begun' })
    return attempt
  }

  function answered(attempt: OpenAttempt, outputTokens?: number): void {
    const { kind, place } = attempt
    if (kind === undefined || isOutdated(attempt)) return
    const now = clock.monotonic()
    if (isUnanswered(attempt)) stopWaiting(place.silence, true, now)
    const durationMs = now - attempt.beganAt
    const isStream = isStreamKind(kind)
    const value = isStream
      ? durationMs
      : durationMs / Math.max(outputTokens ?? 0, tokensPerAnswerMin)
    if (isStream) noteFirstEvent(place, durationMs)
    const isCounted = attempt.progress === 'overdue'
    place.waiting.delete(attempt)
    attempt.progress = 'answered'
    const inherited = watch.inherited(place, attempt)
    const sample = { latencyKind: kind, value, inherited, isCounted }
    apply(attempt.channel, attempt.model, {
      kind: 'answered',
      beganAt: attempt.beganAt,
      ...sample,
    })
  }

  function end(attempt: OpenAttempt, result: AttemptEnd): void {
    const { channel, model, place } = attempt
    const now = clock.monotonic()
    load.end(attempt)
    place.waiting.delete(attempt)
    if (isOutdated(attempt)) return
    const hasSpoken = result.outcome !== 'client' && result.outcome !== 'nobody'
    if (isUnanswered(attempt)) stopWaiting(place.silence, hasSpoken, now)
    const entry = entryOf(channel)
    const accountId = result.caller?.accountId
    entry.tokens = spendTokens(entry.tokens, { outcome: result.outcome, accountId }, now)
    const wasAnswered = attempt.progress === 'answered'
    if (!isBlameless(result.outcome)) noteFailure(place, result.outcome, now)
    const before = place.state
    const event: HealthEvent = {
      kind: 'ended',
      ...result,
      wasAnswered,
      beganAt: attempt.beganAt,
    }
    apply(channel, model, event)
    if (result.outcome === 'config' && place.state.mode === 'off' && place.state !== before)
      register.spread(channel, model, { ...event, isSpread: true })
    else if (before.cause === 'config' && isBack(place.state.mode))
      register.spread(channel, model, { kind: before.isConfirming ? 'refuted' : 'released' })
  }

  function wake(): void {
    const now = clock.monotonic()
    if (now >= watch.nextScanAt()) watch.scan(now)
    if (now >= silenceAt) noticeSilence(now)
    if (now >= plan.nextAt()) runChecks(now)
    register.wake(now)
  }

  function noticeSilence(now: number): void {
    silenceAt = Number.POSITIVE_INFINITY
    for (const { channel, places } of register.entries())
      for (const [model, { silence, state }] of places) {
        if (unbearableAt(silence) <= now) {
          lookedAt(silence, now)
          if (state.check !== 'none') apply(channel, model, { kind: 'unanswered' })
        }
        silenceAt = Math.min(silenceAt, unbearableAt(silence))
      }
  }

  function runChecks(now: number): void {
    const mayCheck = options.mayCheck?.() ?? true
    const due = plan.takeDue(now, (channel) => entryOf(channel).places)
    if (!mayCheck) return
    for (const { channel, model } of due)
      onEffect({ kind: 'probe', count: 1 }, { channel: channel.name, model })
  }

  function follow(previous: Snapshot | undefined, next: Snapshot): void {
    snapshot = next
    plan.follow(next, clock.monotonic())
    register.follow(previous, next)
  }

  function restore(saved: readonly SavedHealth[]): void {
    const moment = { now: clock.monotonic(), wallMs: clock.now() }
    for (const one of saved) {
      const { model } = one
      const channel = channelOf(one)
      if (channel === undefined) continue
      const place = placeOf(channel, model)
      register.enter(place, restoreHealth(one, channel.check, moment))
      const to = shownMode(place.state, moment.now)
      if (to === one.mode) continue
      const { why } = place.state
      onEffect({ kind: 'changed', from: one.mode, to, why }, { channel: channel.name, model })
    }
  }

  function describe(channel: Channel, model: string): HealthLine {
    const place = placeOf(channel, model)
    const running = load.running(channel.name) + load.probing(channel.name)
    return describePlace({ channel, model, place, running }, { clock, startedAt })
  }

  /** The channel as the catalogue has it, where it has this model. */
  function channelOf({ channel: name, model }: HealthPlace): Channel | undefined {
    const channel = snapshot?.channels.get(name)
    return channel?.models.has(model) === true ? channel : undefined
  }

  return {
    state: (name, model) => register.findPlace(name, model)?.state ?? startState('request'),
    running: (name) => load.running(name),
    probing: (name) => load.probing(name),
    mayProbe(name) {
      const channel = register.findEntry(name)?.channel
      return channel === undefined || load.mayProbe(channel)
    },
    mayFailOverInto(name, accountId) {
      const tokens = register.findEntry(name)?.tokens
      return tokens === undefined || mayFailOverInto(tokens, accountId, clock.monotonic())
    },
    draw: random,
    begin,
    answered,
    end,
    retract(attempt, keyId) {
      if (isOutdated(attempt)) return
      apply(attempt.channel, attempt.model, { kind: 'retracted', keyId })
    },
    recheck(place) {
      const channel = channelOf(place)
      if (channel !== undefined) apply(channel, place.model, { kind: 'asked' })
    },
    warn(place) {
      const channel = channelOf(place)
      if (channel !== undefined) apply(channel, place.model, { kind: 'warned' })
    },
    find(place) {
      const channel = channelOf(place)
      return channel === undefined ? undefined : describe(channel, place.model)
    },
    grade(channel, model) {
      if (channel.override === 'disabled') return 'disabled'
      return gradeOf(placeOf(channel, model).state, clock.monotonic())
    },
    usualMostMs(channel, model, traits) {
      const kind = latencyKind(traits)
      if (!isStreamKind(kind)) return undefined
      const { latency } = placeOf(channel, model).state
      return (pinnedQuantiles(channel, model, kind) ?? ownQuantiles(latency, kind))?.p99
    },
    wake,
    nextWakeAt: () => Math.min(register.nextWakeAt(), watch.nextScanAt(), silenceAt, plan.nextAt()),
    list(shown) {
      return [...shown.channels.values()]
        .sort((left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1))
        .flatMap((channel) => [...channel.models.keys()].map((model) => describe(channel, model)))
    },
    save() {
      const now = clock.monotonic()
      return [...register.entries()].flatMap(({ channel, places }) =>
        [...places].map(([model, { state }]) =>
          saveHealth({ channel: channel.name, model }, state, { now, wallMs: clock.now() }),
        ),
      )
    },
    restore,
    follow,
  }
}

/** A request of somebody's, and not a check or a count, without a word of an answer. */
function isUnanswered({ isProbe, kind, progress }: OpenAttempt): boolean {
  return !isProbe && kind !== undefined && progress !== 'answered'
}

function isBack(mode: HealthMode): boolean {
  return mode === 'on' || mode === 'ramp'
}

/** Nothing that an operator would look for among a channel's failures. */
function isBlameless(outcome: Outcome): boolean {
  return outcome === 'ok' || outcome === 'client' || outcome === 'nobody'
}
