/**
 * The view of one model on one channel for operators. Reads the state and changes nothing. Times are wall
 * time, for display only.
 */
import type { Clock } from '../../base/clock.ts'
import type { Channel } from '../channel.ts'
import type { CountFacts } from '../count-book.ts'
import { learnedLimitOf, waitNames, type KnownWait, type WaitName } from '../silence.ts'
import {
  gradeOf,
  isFit,
  nextWakeAt,
  shareOf,
  shownMode,
  type HealthState,
  type ShownMode,
} from './health-state.ts'
import type { Outcome } from './health-event.ts'
import type { WaitsByBody } from './health-place.ts'
import { ownQuantiles, pinnedQuantiles, probeKind } from './latency.ts'
import { sumRecent, type RecentAttempts } from './recent-attempts.ts'
import { knownWait } from './waits.ts'

export interface HealthLine extends CountFacts {
  readonly channel: string
  readonly model: string
  readonly vendor: string
  readonly rank: number
  readonly mode: ShownMode | 'disabled'
  /** Whether the next attempt could take it without panic. */
  readonly isUsable: boolean
  readonly sinceMs: number
  readonly why: string
  /** The share of the model's requests that it takes now, before its weight in its rank: 0 to 1. */
  readonly share: number
  /** When time alone changes something next. */
  readonly wakeAtMs: number | undefined
  /** End of a rest that the vendor requested. */
  readonly restUntilMs: number | undefined
  readonly lastOkAtMs: number | undefined
  readonly running: number
  /** Time to the first event of a small streamed request: recent, and the baseline. */
  readonly firstEventMs: { readonly p50: number; readonly p95: number } | undefined
  readonly usualFirstEventMs: { readonly p50: number; readonly p95: number } | undefined
  /** Waits of a day, without those that have no limit or that no answer has shown yet. */
  readonly waits: readonly ShownWait[]
  /** Failures since the process started, by class. */
  readonly failures: readonly FailureLine[]
  /** Attempts of the last `recentMinutes`. */
  readonly recentAttempts: AttemptCounts
}

/** What answers have shown about one of the waits of a stream. */
export interface ShownWait extends KnownWait {
  readonly wait: WaitName
  readonly asksReasoning: boolean
  /** After it another channel takes over. Undefined while nothing is learned. */
  readonly limitMs: number | undefined
}

/** Attempts of traffic, without probes. */
export interface AttemptCounts {
  /** Those that say something about the channel: not requests at fault, nor clients that left. */
  readonly ended: number
  readonly failed: number
}

export const noAttempts: AttemptCounts = { ended: 0, failed: 0 }

export interface FailureLine {
  readonly outcome: Outcome
  readonly count: number
  readonly lastAtMs: number
}

interface Shown {
  readonly channel: Channel
  readonly share: number
  readonly model: string
  /** The catalogue says that the model does. */
  readonly thinks: boolean
  readonly running: number
  readonly place: {
    readonly state: HealthState
    readonly recentMs: readonly number[]
    readonly failures: ReadonlyMap<Outcome, { readonly count: number; readonly at: number }>
    readonly recentAttempts: RecentAttempts
    readonly waits: WaitsByBody
  }
}

export function describePlace(
  { channel, model, thinks, share, place, running }: Shown,
  { clock, startedAt }: { readonly clock: Clock; readonly startedAt: number },
): HealthLine {
  const { state } = place
  const now = clock.monotonic()
  // Monotonic time has fractions of a millisecond; a time of day needs none.
  const wallTime = (at: number): number => Math.round(clock.now() + (at - now))
  const grade = gradeOf(state, now)
  const isDisabled = channel.override === 'disabled'
  const wakeAt = isDisabled ? undefined : nextWakeAt(state)
  return {
    channel: channel.name,
    model,
    vendor: channel.vendor,
    rank: channel.rank,
    mode: isDisabled ? 'disabled' : shownMode(state, now),
    isUsable: !isDisabled && isFit(grade),
    sinceMs: wallTime(Math.max(state.since, startedAt)),
    why: isDisabled ? 'operator' : state.why,
    share,
    wakeAtMs: wakeAt === undefined ? undefined : wallTime(wakeAt),
    restUntilMs: now < state.restUntil ? wallTime(state.restUntil) : undefined,
    lastOkAtMs: state.lastOkAt === undefined ? undefined : wallTime(state.lastOkAt),
    running,
    firstEventMs: quantilesOf(place.recentMs),
    usualFirstEventMs:
      pinnedQuantiles(channel, model, probeKind) ?? ownQuantiles(state.latency, probeKind),
    waits: [
      ...shownWaits(place.waits, { asksReasoning: false, thinks }),
      ...shownWaits(place.waits, { asksReasoning: true, thinks }),
    ],
    failures: [...place.failures].map(([outcome, { count, at }]) => ({
      outcome,
      count,
      lastAtMs: wallTime(at),
    })),
    recentAttempts: sumRecent(place.recentAttempts, now),
  }
}

function shownWaits(
  { reasoning, plain }: WaitsByBody,
  { asksReasoning, thinks }: { readonly asksReasoning: boolean; readonly thinks: boolean },
): readonly ShownWait[] {
  return waitNames.flatMap((wait) => {
    const known = knownWait(asksReasoning ? reasoning : plain, wait)
    if (known.answers === 0 || (wait === 'head' && thinks)) return []
    return { wait, asksReasoning, ...known, limitMs: learnedLimitOf(wait, known) }
  })
}

/**
 * The share of the model's requests that a channel takes, before its weight among channels of its rank:
 * those that no channel of a lower rank takes. All channels take their shares of the same requests, see
 * `select.ts`.
 */
export function shareInRoute(
  channel: Channel,
  channels: readonly Channel[],
  shareAloneOf: (channel: Channel) => number,
): number {
  let taken = 0
  for (const other of channels)
    if (other.rank < channel.rank) taken = Math.max(taken, shareAloneOf(other))
  return Math.max(0, shareAloneOf(channel) - taken)
}

/** The share that a channel would take without any other. */
export function shareAlone({ override }: Channel, state: HealthState, now: number): number {
  if (override === 'disabled') return 0
  const grade = gradeOf(state, now)
  return grade === 'on' || grade === 'ramp' || grade === 'slow' ? shareOf(state, now) : 0
}

function quantilesOf(values: readonly number[]): { p50: number; p95: number } | undefined {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  return { p50: at(0.5), p95: at(0.95) }
}
