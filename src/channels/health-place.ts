/**
 * One model on one channel as the running process holds it: the reducer's state, the attempts under
 * way, and what was seen of late for an operator to read. Plain data with its beginning and what
 * outlives a change of the catalogue; it decides nothing about health.
 */
import type { Channel } from './channel.ts'
import type { Outcome } from './health-event.ts'
import { noSilence, type Silence } from './health-silence.ts'
import { startState, type HealthState } from './health-state.ts'
import type { Tokens } from './tokens.ts'

/** A place by its names. */
export interface HealthPlace {
  readonly channel: string
  readonly model: string
}

/** One attempt under way, as `begin` handed it out. */
export interface OpenAttempt {
  readonly channel: Channel
  readonly model: string
  /** What it is about: no longer the channel's own once an operator has renewed that. */
  readonly place: Place
  readonly beganAt: number
  readonly isProbe: boolean
  /** See `latencyKind`; undefined where time is not measured. */
  readonly kind: number | undefined
  /** Where it stands, for the book alone to change: found overdue, or begun to answer. */
  progress: 'waiting' | 'overdue' | 'answered'
}

export interface Place {
  state: HealthState
  /** Streams without a first event that have not been found overdue yet, oldest first. */
  readonly waiting: Set<OpenAttempt>
  readonly silence: Silence
  comparingSince: number | undefined
  probesAskedAt: number
  /** Times to the first event of the last streams, a ring. */
  readonly recentMs: number[]
  recentCount: number
  readonly failures: Map<Outcome, { count: number; at: number }>
}

/** One channel: what its models share, and a place for each of them. */
export interface ChannelEntry {
  channel: Channel
  tokens: Tokens
  readonly places: Map<string, Place>
}

const recentMax = 64

export function newPlace(channel: Channel, now: number): Place {
  return {
    state: startState(channel.check, now),
    waiting: new Set(),
    silence: noSilence(),
    comparingSince: undefined,
    probesAskedAt: Number.NEGATIVE_INFINITY,
    recentMs: [],
    recentCount: 0,
    failures: new Map(),
  }
}

export function noteFirstEvent(place: Place, durationMs: number): void {
  place.recentMs[place.recentCount++ % recentMax] = durationMs
}

export function noteFailure(place: Place, outcome: Outcome, now: number): void {
  const before = place.failures.get(outcome)
  place.failures.set(outcome, { count: (before?.count ?? 0) + 1, at: now })
}

/** Takes the channel as the catalogue has it now; places of models it no longer has are forgotten. */
export function keepWhatApplies(entry: ChannelEntry, channel: Channel): void {
  entry.channel = channel
  for (const model of entry.places.keys())
    if (!channel.models.has(model)) entry.places.delete(model)
}

/** Why what was known of the channel says nothing about it any more; undefined where it still does. */
export function renewalOf(
  before: Channel | undefined,
  after: Channel,
): 'operator' | 'reconfigured' | undefined {
  if (before === undefined) return 'reconfigured'
  if (before.override === 'disabled' && after.override === 'enabled') return 'operator'
  return isSameUpstream(before, after) ? undefined : 'reconfigured'
}

/** Whether both speak to the same address as the same client of the vendor. */
export function isSameUpstream(one: Channel, other: Channel): boolean {
  if (one === other) return true
  return one.url === other.url && one.credential.reveal() === other.credential.reveal()
}
