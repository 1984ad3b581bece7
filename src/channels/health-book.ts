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
import { describePlace, type HealthLine } from './health-line.ts'
import { restoreHealth, saveHealth, type SavedHealth } from './health-saved.ts'
import {
  gradeOf,
  nextWakeAt,
  startState,
  type Grade,
  type HealthMode,
  type HealthState,
} from './health-state.ts'
import type { HealthEffect, HealthEvent, Outcome } from './health-event.ts'
import { step } from './health.ts'
import {
  compareAsAlternative,
  isStreamKind,
  latencyKind,
  ownQuantiles,
  probeKind,
  slowAbove,
  type LatencyTraits,
} from './latency.ts'
import { isEstablished, isTrusted, type Quantiles } from './latency-baseline.ts'
import type { Caller } from './outcome-window.ts'
import type { ChannelFacts } from './select.ts'
import { fullTokens, mayFailOverInto, spendTokens, type Tokens } from './tokens.ts'

export interface HealthBookOptions {
  readonly clock: Clock
  readonly random: Random
  /** How often a channel is checked that nothing else proves. */
  readonly checkIntervalMs?: number
  /** Several gateways on one store: only one of them runs the checks. */
  readonly mayCheck?: () => boolean
  /** Told of each effect once, in order, after the state has changed. Must not throw. */
  readonly onEffect?: (effect: PlacedEffect, place: HealthPlace) => void
}

/** What the book leaves to others to do; it compares channels itself. */
export type PlacedEffect = Exclude<HealthEffect, { kind: 'compare' }>

export interface HealthPlace {
  readonly channel: string
  readonly model: string
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

/** One attempt under way, as `begin` handed it out. */
export interface OpenAttempt {
  readonly channel: Channel
  readonly model: string
  readonly beganAt: number
  readonly isProbe: boolean
  /** See `latencyKind`; undefined where time is not measured. */
  readonly kind: number | undefined
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
  /** Another node has switched this off: probes find out whether that holds here too. */
  warn(place: HealthPlace): void
  grade(channel: Channel, model: string): Grade | 'disabled'
  /** How long an attempt may wait for its first event, from what is usual; undefined while unknown. */
  usualLimitMs(channel: Channel, model: string, traits: LatencyTraits): number | undefined
  /**
   * Lets time pass: holds end, probes and checks fall due, requests that wait too long are noticed.
   * Cheap when nothing is due; about once a second is often enough.
   */
  wake(): void
  /** When `wake` has something to do next, in monotonic time; at most a second off while requests wait. */
  nextWakeAt(): number
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

/** One model on one channel. */
interface Place {
  state: HealthState
  /** Attempts without a first event yet, oldest first; those found overdue are in the other set. */
  readonly waiting: Set<OpenAttempt>
  readonly overdue: Set<OpenAttempt>
  /** Streams that have begun to answer and run on. */
  readonly answered: Set<OpenAttempt>
  comparingSince: number | undefined
  probesAskedAt: number
  /** Times to the first event of the last streams, a ring. */
  readonly recentMs: number[]
  recentCount: number
  readonly failures: Map<Outcome, { count: number; at: number }>
}

interface Entry {
  channel: Channel
  running: number
  tokens: Tokens
  readonly places: Map<string, Place>
}

const defaultCheckIntervalMs = 600_000
const overdueScanMs = 1_000
const overdueScanMax = 256
const comparisonWaitMs = 60_000
const comparisonProbesGapMs = 15_000
const warnedSiblingsMax = 3
const recentMax = 64
const limitFactor = 4
/** Answers shorter than this are mostly overhead: their time per token says little. */
const tokensPerAnswerMin = 16

export function createHealthBook(options: HealthBookOptions): HealthBook {
  const { clock, random } = options
  const book = new Map<string, Entry>()
  const startedAt = clock.monotonic()
  let snapshot: Snapshot | undefined
  let wakeAt = Number.POSITIVE_INFINITY
  let scanAt = Number.POSITIVE_INFINITY
  const plan = createCheckPlan({
    random,
    intervalMs: options.checkIntervalMs ?? defaultCheckIntervalMs,
  })

  function entryOf(channel: Channel): Entry {
    let entry = book.get(channel.name)
    if (entry === undefined) {
      entry = { channel, running: 0, tokens: fullTokens, places: new Map() }
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
    if (effect.kind === 'compare') compare(channel, model)
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

  // --- latency ------------------------------------------------------------------------------------

  /**
   * What is usual for this kind on another of the model's channels, where this one has seen too
   * little to tell and that one has seen more.
   */
  function inheritedQuantiles(place: Place, attempt: OpenAttempt): Quantiles | undefined {
    const { kind, model } = attempt
    if (kind === undefined) return undefined
    const own = place.state.latency.baselines[kind]
    if (isEstablished(own)) return undefined
    let best: Quantiles | undefined
    let bestTotal = own?.total ?? 0
    for (const channel of snapshot?.channelsByModel.get(model) ?? []) {
      const other = book.get(channel.name)?.places.get(model)?.state.latency.baselines[kind]
      if (!isTrusted(other) || other.total <= bestTotal) continue
      best = other
      bestTotal = other.total
    }
    return best
  }

  function compare(channel: Channel, model: string): void {
    const place = placeOf(channel, model)
    const now = clock.monotonic()
    const comparison = findBetter(channel, model, now)
    place.comparingSince ??= now
    const isOver = comparison !== 'waiting' || now - place.comparingSince >= comparisonWaitMs
    if (isOver) place.comparingSince = undefined
    const told = isOver && comparison === 'waiting' ? 'worse' : comparison
    apply(channel, model, { kind: 'compared', comparison: told })
  }

  function findBetter(from: Channel, model: string, now: number): 'better' | 'worse' | 'waiting' {
    let unknown: { readonly channel: Channel; readonly missing: number } | undefined
    for (const channel of snapshot?.channelsByModel.get(model) ?? []) {
      if (channel.name === from.name || channel.override === 'disabled') continue
      const { state } = placeOf(channel, model)
      const grade = gradeOf(state, now)
      if (grade !== 'on' && grade !== 'ramp') continue
      const { comparison, missing } = compareAsAlternative(state.latency, now)
      // Where nothing can be asked, the traffic that moves there will show it.
      if (comparison === 'better' || (comparison === 'unknown' && channel.check !== 'request'))
        return 'better'
      if (comparison === 'unknown') unknown ??= { channel, missing }
    }
    if (unknown === undefined) return 'worse'
    askForSamples(unknown.channel, model, unknown.missing)
    return 'waiting'
  }

  function askForSamples(channel: Channel, model: string, count: number): void {
    const place = placeOf(channel, model)
    const now = clock.monotonic()
    if (now - place.probesAskedAt < comparisonProbesGapMs) return
    place.probesAskedAt = now
    options.onEffect?.({ kind: 'probe', count }, { channel: channel.name, model })
  }

  function scanOverdue(now: number): void {
    scanAt = Number.POSITIVE_INFINITY
    for (const { places } of book.values())
      for (const place of places.values()) {
        let seen = 0
        for (const attempt of place.waiting) {
          if (++seen > overdueScanMax) break
          noteOverdue(place, attempt, now)
        }
        if (place.waiting.size > 0) scanAt = now + overdueScanMs
      }
  }

  function noteOverdue(place: Place, attempt: OpenAttempt, now: number): void {
    const { kind } = attempt
    if (kind === undefined) return
    const usual = inheritedQuantiles(place, attempt) ?? ownQuantiles(place.state.latency, kind)
    if (usual === undefined) return
    if (now - attempt.beganAt <= slowAbove(kind, usual)) return
    place.waiting.delete(attempt)
    place.overdue.add(attempt)
    apply(attempt.channel, attempt.model, { kind: 'overdue' })
  }

  // --- the book -----------------------------------------------------------------------------------

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
    if (traitsKind !== undefined && isStreamKind(traitsKind)) {
      place.waiting.add(attempt)
      if (scanAt > attempt.beganAt + overdueScanMs) scanAt = attempt.beganAt + overdueScanMs
    }
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
    if (isStream) place.recentMs[place.recentCount++ % recentMax] = durationMs
    const isCounted = place.overdue.delete(attempt)
    place.waiting.delete(attempt)
    place.answered.add(attempt)
    const inherited = inheritedQuantiles(place, attempt)
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
    if (result.outcome !== 'ok' && result.outcome !== 'client') {
      const before = place.failures.get(result.outcome)
      place.failures.set(result.outcome, { count: (before?.count ?? 0) + 1, at: now })
    }
    const before = place.state
    const event: HealthEvent = {
      kind: 'ended',
      ...result,
      wasAnswered,
      beganAt: attempt.beganAt,
    }
    apply(channel, model, event)
    if (result.outcome === 'config' && place.state.mode === 'off' && place.state !== before)
      spread(channel, model, event)
    else if (before.cause === 'config' && isBack(place.state.mode))
      spread(channel, model, { kind: 'released' })
  }

  function wake(): void {
    const now = clock.monotonic()
    if (now >= scanAt) scanOverdue(now)
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
    for (const [name, entry] of book) {
      const channel = next.channels.get(name)
      const isNew = previous !== undefined && isRenewed(previous.channels.get(name), channel)
      if (channel === undefined || isNew) book.delete(name)
      else keepWhatApplies(entry, channel)
    }
    for (const channel of next.channels.values())
      for (const model of channel.models.keys()) placeOf(channel, model)
    plan.follow(next, clock.monotonic())
  }

  return {
    state: (name, model) => book.get(name)?.places.get(model)?.state ?? startState('request'),
    running: (name) => book.get(name)?.running ?? 0,
    mayFailOverInto(name) {
      const tokens = book.get(name)?.tokens ?? fullTokens
      return mayFailOverInto(tokens, clock.monotonic())
    },
    draw: random,
    begin,
    answered,
    end,
    retract(attempt, keyId) {
      apply(attempt.channel, attempt.model, { kind: 'retracted', keyId })
    },
    warn({ channel: name, model }) {
      const channel = snapshot?.channels.get(name)
      if (channel?.models.has(model) === true) apply(channel, model, { kind: 'warned' })
    },
    grade(channel, model) {
      if (channel.override === 'disabled') return 'disabled'
      return gradeOf(placeOf(channel, model).state, clock.monotonic())
    },
    usualLimitMs(channel, model, traits) {
      const kind = latencyKind(traits)
      const p99 = ownQuantiles(placeOf(channel, model).state.latency, kind)?.p99
      return p99 === undefined || !isStreamKind(kind) ? undefined : limitFactor * p99
    },
    wake,
    nextWakeAt: () => Math.min(wakeAt, scanAt, plan.nextAt()),
    list(shown) {
      return [...shown.channels.values()]
        .sort((left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1))
        .flatMap((channel) =>
          [...channel.models.keys()].map((model) => {
            const place = placeOf(channel, model)
            const { running } = entryOf(channel)
            return describePlace({ channel, model, place, running }, { clock, startedAt })
          }),
        )
    },
    save() {
      const now = clock.monotonic()
      return [...book.values()].flatMap(({ channel, places }) =>
        [...places].map(([model, { state }]) =>
          saveHealth({ channel: channel.name, model }, state, { now, wallMs: clock.now() }),
        ),
      )
    },
    restore(saved) {
      const moment = { now: clock.monotonic(), wallMs: clock.now() }
      for (const one of saved) {
        const channel = snapshot?.channels.get(one.channel)
        if (channel?.models.has(one.model) !== true) continue
        const place = placeOf(channel, one.model)
        place.state = restoreHealth(one, channel.check, moment)
        wakeAt = Math.min(wakeAt, nextWakeAt(place.state) ?? wakeAt)
      }
    },
    follow,
  }
}

function newPlace(channel: Channel, now: number): Place {
  return {
    state: startState(channel.check, now),
    waiting: new Set(),
    overdue: new Set(),
    answered: new Set(),
    comparingSince: undefined,
    probesAskedAt: Number.NEGATIVE_INFINITY,
    recentMs: [],
    recentCount: 0,
    failures: new Map(),
  }
}

function isBack(mode: HealthMode): boolean {
  return mode === 'on' || mode === 'ramp'
}

function keepWhatApplies(entry: Entry, channel: Channel): void {
  entry.channel = channel
  for (const [model, place] of entry.places) {
    if (!channel.models.has(model)) entry.places.delete(model)
    else if (place.state.check !== channel.check)
      place.state = { ...place.state, check: channel.check }
  }
}

function isRenewed(before: Channel | undefined, after: Channel | undefined): boolean {
  if (before === undefined || after === undefined) return true
  return (
    (before.override === 'disabled' && after.override === 'enabled') ||
    before.url !== after.url ||
    before.credential.reveal() !== after.credential.reveal()
  )
}
