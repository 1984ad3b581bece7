/**
 * One model on one channel in the running process: its health state, the attempts under way, and recent
 * numbers for operators. Plain data and what survives a change of the catalogue; it decides nothing
 * about health. Invariant: a probe never takes a client's place under the concurrency limit.
 */
import type { Channel } from '../channel.ts'
import { isSameUpstream } from '../reach.ts'
import type { Form, Outcome } from './health-event.ts'
import { startState, type HealthState } from './health-state.ts'
import { noteRecent, type RecentAttempts } from './recent-attempts.ts'
import type { RetryBudget } from './retry-budget.ts'
import { waitMaxMs } from './timing.ts'
import { noWaits, type Waits } from './waits.ts'

/** The names of a place. */
export interface HealthPlace {
  readonly channel: string
  readonly model: string
}

/** One attempt under way, as `begin` handed it out. */
export interface OpenAttempt {
  readonly channel: Channel
  readonly model: string
  /** The place it began on; an operator's change of the channel replaces that place. */
  readonly place: Place
  readonly beganAt: number
  readonly isProbe: boolean
  readonly form: Form
  /** See `latencyKind`; undefined where time is not measured. */
  readonly kind: number | undefined
  readonly asksReasoning: boolean
  /** Only the book changes it. */
  progress: 'waiting' | 'overdue' | 'answered'
}

export type PlaceOfAttempt = Pick<OpenAttempt, 'channel' | 'model' | 'place'>

/** A timed request of a client without any part of an answer yet. */
export function isUnanswered({ isProbe, kind, progress }: OpenAttempt): boolean {
  return !isProbe && kind !== undefined && progress !== 'answered'
}

export interface Place {
  state: HealthState
  /** Streams without a first event that are not overdue yet, oldest first. */
  readonly waiting: Set<OpenAttempt>
  readonly silence: Readonly<Record<Form, Silence>>
  waits: WaitsByBody
  comparingSince: number | undefined
  probesAskedAt: number
  /** Times to the first event of the latest streams, as a ring. */
  readonly recentMs: number[]
  recentCount: number
  readonly failures: Map<Outcome, { count: number; at: number }>
  readonly recentAttempts: RecentAttempts
}

/** Of requests whose body asks for reasoning, and of others. */
export interface WaitsByBody {
  readonly reasoning: Waits
  readonly plain: Waits
}

export function waitsOf({
  place: { waits },
  asksReasoning,
}: Pick<OpenAttempt, 'place' | 'asksReasoning'>): Waits {
  return asksReasoning ? waits.reasoning : waits.plain
}

/** One channel: its retry budget, and a place for each of its models. */
export interface ChannelEntry {
  channel: Channel
  budget: RetryBudget
  readonly places: Map<string, Place>
}

const recentMax = 64

export function newPlace(channel: Channel, now: number): Place {
  return {
    state: startState(channel.check, now),
    waiting: new Set(),
    silence: { stream: noSilence(), whole: noSilence() },
    waits: { reasoning: noWaits(), plain: noWaits() },
    comparingSince: undefined,
    probesAskedAt: Number.NEGATIVE_INFINITY,
    recentMs: [],
    recentCount: 0,
    failures: new Map(),
    recentAttempts: [],
  }
}

export function noteFirstEvent(place: Place, durationMs: number): void {
  place.recentMs[place.recentCount++ % recentMax] = durationMs
}

export function noteFailure(place: Place, outcome: Outcome, now: number): void {
  const before = place.failures.get(outcome)
  place.failures.set(outcome, { count: (before?.count ?? 0) + 1, at: now })
}

/** Counts an attempt of traffic that says something about the channel; a suspect request does not. */
export function noteAttempt({ recentAttempts }: Place, outcome: Outcome, now: number): void {
  if (outcome === 'suspect') return
  noteRecent(recentAttempts, outcome !== 'ok', now)
}

/** Takes over the channel of a new catalogue and forgets the models that it no longer has. */
export function updateEntry(entry: ChannelEntry, channel: Channel): void {
  entry.channel = channel
  for (const model of entry.places.keys())
    if (!channel.models.has(model)) entry.places.delete(model)
}

/** Returns why the past of a channel ends with this change; undefined where it goes on. */
export function renewalOf(
  before: Channel | undefined,
  after: Channel,
): 'operator' | 'reconfigured' | undefined {
  if (before === undefined) return 'reconfigured'
  if (before.override === 'disabled' && after.override === 'enabled') return 'operator'
  return isSameUpstream(before, after) ? undefined : 'reconfigured'
}

// --- silence ------------------------------------------------------------------------------------

/**
 * Requests of one form that wait while nothing arrives. A vendor that accepts requests and answers none
 * fails none of them before a limit of minutes, and clients that leave earlier prove nothing, so silence
 * itself asks for a probe.
 */
export interface Silence {
  /** Requests without any part of an answer. */
  waiting: number
  /** Since when nothing has arrived although requests wait. */
  since: number | undefined
  /** How long it may last before a probe is sent; doubles with each probe until an answer arrives. */
  limitMs: number
}

/** Longer than most answers take to begin. */
const silenceMinMs = 20_000

function noSilence(): Silence {
  return { waiting: 0, since: undefined, limitMs: silenceMinMs }
}

export function startWaiting(silence: Silence, now: number): void {
  silence.waiting++
  silence.since ??= now
}

/** `hasAnswered`: the vendor has sent something, even an error; otherwise the client has left. */
export function stopWaiting(silence: Silence, hasAnswered: boolean, now: number): void {
  silence.waiting--
  if (!hasAnswered) return
  silence.since = silence.waiting > 0 ? now : undefined
  silence.limitMs = silenceMinMs
}

/** When the silence has lasted too long; infinity while no request waits. */
export function silenceEndsAt({ waiting, since, limitMs }: Silence): number {
  return waiting > 0 && since !== undefined ? since + limitMs : Number.POSITIVE_INFINITY
}

export function noteSilenceProbed(silence: Silence, now: number): void {
  silence.since = now
  silence.limitMs = Math.min(silence.limitMs * 2, waitMaxMs)
}

// --- attempts under way on a channel ------------------------------------------------------------

/**
 * Counts the attempts that run on each channel, traffic and probes separately. It counts by the channel's
 * name alone: an attempt from before an operator's change still takes room at the vendor until it ends.
 */
interface ChannelLoad {
  begin(attempt: Counted): void
  /** Exactly once for each `begin`. */
  end(attempt: Counted): void
  /** Attempts of traffic. */
  running(channel: string): number
  probing(channel: string): number
  /**
   * Whether the concurrency limit leaves room for a probe. One probe at a time is always allowed: a
   * channel that is always full must be checked too.
   */
  mayProbe(channel: Channel): boolean
}

interface Counted {
  readonly channel: Channel
  readonly isProbe: boolean
}

export function createChannelLoad(): ChannelLoad {
  const running = new Map<string, number>()
  const probing = new Map<string, number>()
  const of = (counts: ReadonlyMap<string, number>, name: string): number => counts.get(name) ?? 0
  return {
    begin({ channel: { name }, isProbe }) {
      const counts = isProbe ? probing : running
      counts.set(name, of(counts, name) + 1)
    },
    end({ channel: { name }, isProbe }) {
      const counts = isProbe ? probing : running
      const left = of(counts, name) - 1
      if (left > 0) counts.set(name, left)
      else counts.delete(name)
    },
    running: (name) => of(running, name),
    probing: (name) => of(probing, name),
    mayProbe({ name, maxConcurrent }) {
      if (maxConcurrent === undefined || of(probing, name) === 0) return true
      return of(running, name) + of(probing, name) < maxConcurrent
    },
  }
}
