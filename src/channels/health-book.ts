/**
 * The health of every model on every channel, held for the running process: the stateful shell
 * around the reducer of `health.ts`. It counts running attempts and tokens, applies what is true of
 * a whole channel to all its models, answers whether another channel is better, and hands effects
 * on. It opens no socket and sets no timer: `wake` lets time pass. `begin` and `end` come in pairs,
 * one pair per attempt.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Channel, Snapshot } from './channel.ts'
import { createCheckPlan } from './check-plan.ts'
import type { HealthEffect, HealthEvent, Outcome } from './health-event.ts'
import { describePlace, type HealthLine } from './health-line.ts'
import {
  keepWhatApplies,
  newPlace,
  noteFailure,
  noteFirstEvent,
  renewalOf,
  type ChannelEntry,
  type HealthPlace,
  type OpenAttempt,
  type Place,
} from './health-place.ts'
import { restoreHealth, saveHealth, type SavedHealth } from './health-saved.ts'
import {
  gradeOf,
  nextWakeAt,
  shownMode,
  startState,
  type Grade,
  type HealthMode,
} from './health-state.ts'
import { step } from './health.ts'
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
import { defaultTokensMax, fullTokens, mayFailOverInto, spendTokens } from './tokens.ts'

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

/** What the book leaves to others to do; it compares channels itself. */
export type PlacedEffect = Exclude<HealthEffect, { kind: 'compare' }>

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
const warnedSiblingsMax = 3
/** Answers shorter than this are mostly overhead: their time per token says little. */
const tokensPerAnswerMin = 16

export function createHealthBook(options: HealthBookOptions): HealthBook {
  const { clock, random } = options
  const book = new Map<string, ChannelEntry>()
  const startedAt = clock.monotonic()
  const tokensMax = options.failoverTokensMax ?? defaultTokensMax
  let snapshot: Snapshot | undefined
  let wakeAt = Number.POSITIVE_INFINITY
  const plan = createCheckPlan({
    random,
    intervalMs: options.checkIntervalMs ?? defaultCheckIntervalMs,
  })
  const watch = createLatencyWatch({
    channelsOf: (model) => snapshot?.channelsByModel.get(model) ?? [],
    findPlace: (name, model) => book.get(name)?.places.get(model),
    placeOf,
    places: allPlaces,
    apply,
    askForProbes: (place, count) => options.onEffect?.({ kind: 'probe', count }, place),
  })

  function* allPlaces(): Generator<Place> {
    for (const { places } of book.values()) yield* places.values()
  }

  function entryOf(channel: Channel): ChannelEntry {
    let entry = book.get(channel.name)
    if (entry === undefined) {
      entry = { channel, running: 0, tokens: fullTokens(tokensMax), places: new Map() }
      book.set(channel.name, entry)
    }
    return entry
  }

  function placeOf(channel: Channel, model: string): Place {
    const { places } = entryOf(channel)
    let place = places.get(model)
    if (place === undefined) places.set(model, (place = newPlace(channel, startedAt)))
    return place
  }

  function apply(channel: Channel, model: string, event: HealthEvent): void {
    const place = placeOf(channel, model)
    const { state, effects } = step(place.state, event, clock.monotonic(), random)
    if (state !== place.state) {
      place.state = state
      const at = nextWakeAt(state)
      if (at !== undefined && at < wakeAt) wakeAt = at
    }
    for (const effect of effects) perform(effect, channel, model)
  }

  function perform(effect: HealthEffect, channel: Channel, model: string): void {
    if (effect.kind === 'compare') watch.compare(channel, model, clock.monotonic())
    else options.onEffect?.(effect, { channel: channel.name, model })
    if (effect.kind === 'changed' && effect.to === 'off') warnSiblings(channel, model)
  }

  /** A model that fails outright makes the channel's other busy models worth a look. */
  function warnSiblings(channel: Channel, model: string): void {
    const { places } = entryOf(channel)
    if (places.get(model)?.state.cause !== 'run') return
    const busy = [...places]
      .filter(([other, { state }]) => other !== model && state.lastOkAt !== undefined)
      .sort(([, left], [, right]) => (right.state.lastOkAt ?? 0) - (left.state.lastOkAt ?? 0))
    for (const [other] of busy.slice(0, warnedSiblingsMax))
      apply(channel, other, { kind: 'warned' })
  }

  /** What one model's attempt says about the channel's other models: refused or accepted credentials. */
  function spread(channel: Channel, model: string, event: HealthEvent): void {
    for (const other of channel.models.keys()) {
      if (other === model) continue
      const place = placeOf(channel, other)
      const { state, effects } = step(place.state, event, clock.monotonic(), random)
      place.state = state
      wakeAt = Math.min(wakeAt, nextWakeAt(state) ?? wakeAt)
      // The operator hears of a channel's refused credential once, and one probe confirms it.
      for (const effect of effects)
        if (effect.kind === 'changed')
          options.onEffect?.(effect, { channel: channel.name, model: other })
    }
  }

  function begin(channel: Channel, model: string, made: AttemptKind = {}): OpenAttempt {
    const isProbe = made.isProbe === true
    const traitsKind = made.traits === undefined ? undefined : latencyKind(made.traits)
    const attempt: OpenAttempt = {
      channel,
      model,
      beganAt: clock.monotonic(),
      isProbe,
      kind: traitsKind ?? (isProbe ? probeKind : undefined),
    }
    entryOf(channel).running++
    const place = placeOf(channel, model)
    if (traitsKind !== undefined) watch.expect(place, attempt)
    const { mode } = place.state
    if (!isProbe && (mode === 'off' || mode === 'trial')) apply(channel, model, { kind: 'begun' })
    return attempt
  }

  function answered(attempt: OpenAttempt, outputTokens?: number): void {
    const { kind } = attempt
    if (kind === undefined) return
    const place = placeOf(attempt.channel, attempt.model)
    const durationMs = clock.monotonic() - attempt.beganAt
    const isStream = isStreamKind(kind)
    const value = isStream
      ? durationMs
      : durationMs / Math.max(outputTokens ?? 0, tokensPerAnswerMin)
    if (isStream) noteFirstEvent(place, durationMs)
    const isCounted = place.overdue.delete(attempt)
    place.waiting.delete(attempt)
    place.answered.add(attempt)
    const inherited = watch.inherited(place, attempt)
    const sample = { latencyKind: kind, value, inherited, isCounted }
    apply(attempt.channel, attempt.model, {
      kind: 'answered',
      beganAt: attempt.beganAt,
      ...sample,
    })
  }

  function end(attempt: OpenAttempt, result: AttemptEnd): void {
    const { channel, model } = attempt
    const now = clock.monotonic()
    const entry = entryOf(channel)
    entry.running = Math.max(0, entry.running - 1)
    entry.tokens = spendTokens(entry.tokens, result.outcome, now)
    const place = placeOf(channel, model)
    const wasAnswered = place.answered.delete(attempt)
    place.waiting.delete(attempt)
    place.overdue.delete(attempt)
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
      spread(channel, model, { ...event, isSpread: true })
    else if (before.cause === 'config' && isBack(place.state.mode))
      spread(channel, model, { kind: before.isConfirming ? 'refuted' : 'released' })
  }

  function wake(): void {
    const now = clock.monotonic()
    if (now >= watch.nextScanAt()) watch.scan(now)
    if (now >= plan.nextAt()) runChecks(now)
    if (now < wakeAt) return
    wakeAt = Number.POSITIVE_INFINITY
    for (const { channel, places } of book.values())
      for (const [model, place] of places) {
        if ((nextWakeAt(place.state) ?? Number.POSITIVE_INFINITY) <= now)
          apply(channel, model, { kind: 'wake' })
        wakeAt = Math.min(wakeAt, nextWakeAt(place.state) ?? wakeAt)
      }
  }

  function runChecks(now: number): void {
    const mayCheck = options.mayCheck?.() ?? true
    const due = plan.takeDue(now, (channel) => entryOf(channel).places)
    if (!mayCheck) return
    for (const { channel, model } of due)
      options.onEffect?.({ kind: 'probe', count: 1 }, { channel: channel.name, model })
  }

  function follow(previous: Snapshot | undefined, next: Snapshot): void {
    snapshot = next
    const renewed: { readonly before: ChannelEntry; readonly why: string }[] = []
    for (const [name, entry] of book) {
      const channel = next.channels.get(name)
      const why =
        previous === undefined || channel === undefined
          ? undefined
          : renewalOf(previous.channels.get(name), channel)
      if (channel === undefined || why !== undefined) book.delete(name)
      else keepWhatApplies(entry, channel)
      if (why !== undefined) renewed.push({ before: entry, why })
    }
    for (const channel of next.channels.values())
      for (const model of channel.models.keys()) placeOf(channel, model)
    plan.follow(next, clock.monotonic())
    for (const { before, why } of renewed) tellRenewal(before, why)
  }

  /** Forgetting that something was off is a change like any other. */
  function tellRenewal({ channel: { name }, places }: ChannelEntry, why: string): void {
    const now = clock.monotonic()
    for (const [model, { state }] of places) {
      const from = shownMode(state, now)
      if (from === 'on' || book.get(name)?.places.has(model) !== true) continue
      options.onEffect?.({ kind: 'changed', from, to: 'on', why }, { channel: name, model })
    }
  }

  function restore(saved: readonly SavedHealth[]): void {
    const moment = { now: clock.monotonic(), wallMs: clock.now() }
    for (const one of saved) {
      const { model } = one
      const channel = channelOf(one)
      if (channel === undefined) continue
      const place = placeOf(channel, model)
      place.state = restoreHealth(one, channel.check, moment)
      wakeAt = Math.min(wakeAt, nextWakeAt(place.state) ?? wakeAt)
      const to = shownMode(place.state, moment.now)
      if (to === one.mode) continue
      const { why } = place.state
      options.onEffect?.(
        { kind: 'changed', from: one.mode, to, why },
        { channel: channel.name, model },
      )
    }
  }

  function describe(channel: Channel, model: string): HealthLine {
    const place = placeOf(channel, model)
    const { running } = entryOf(channel)
    return describePlace({ channel, model, place, running }, { clock, startedAt })
  }

  /** The channel as the catalogue has it, where it has this model. */
  function channelOf({ channel: name, model }: HealthPlace): Channel | undefined {
    const channel = snapshot?.channels.get(name)
    return channel?.models.has(model) === true ? channel : undefined
  }

  return {
    state: (name, model) => book.get(name)?.places.get(model)?.state ?? startState('request'),
    running: (name) => book.get(name)?.running ?? 0,
    mayFailOverInto(name) {
      const tokens = book.get(name)?.tokens
      return tokens === undefined || mayFailOverInto(tokens, clock.monotonic())
    },
    draw: random,
    begin,
    answered,
    end,
    retract(attempt, keyId) {
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
    nextWakeAt: () => Math.min(wakeAt, watch.nextScanAt(), plan.nextAt()),
    list(shown) {
      return [...shown.channels.values()]
        .sort((left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1))
        .flatMap((channel) => [...channel.models.keys()].map((model) => describe(channel, model)))
    },
    save() {
      const now = clock.monotonic()
      return [...book.values()].flatMap(({ channel, places }) =>
        [...places].map(([model, { state }]) =>
          saveHealth({ channel: channel.name, model }, state, { now, wallMs: clock.now() }),
        ),
      )
    },
    restore,
    follow,
  }
}

function isBack(mode: HealthMode): boolean {
  return mode === 'on' || mode === 'ramp'
}

/** Nothing that an operator would look for among a channel's failures. */
function isBlameless(outcome: Outcome): boolean {
  return outcome === 'ok' || outcome === 'client' || outcome === 'nobody'
}
