/**
 * Attempts as the record of an exchange lists them: channel, status, class, and how long they took.
 * `channels/outcomes.ts` says what each class means. Pure.
 */
import { reasonOf } from '../formats/vendor-reason.ts'
import type { AttemptRecord } from '../ledger/ledger.ts'
import { statusOf, type AttemptOutcome } from './attempt-outcome.ts'
import type { Delivered } from './deliver.ts'

interface AttemptTimes {
  readonly channel: string
  /** Monotonic times. */
  readonly requestStartedMs: number
  readonly startedMs: number
  readonly endedMs: number
  readonly droppedBetas?: readonly string[] | undefined
}

export function attemptRecord(outcome: AttemptOutcome, times: AttemptTimes): AttemptRecord {
  const reason = outcome.kind === 'vendor_error' ? reasonOf(outcome.error) : undefined
  return {
    channel: times.channel,
    status: statusOf(outcome),
    class: outcome.class,
    startedMs: Math.round(times.startedMs - times.requestStartedMs),
    firstEventMs: outcome.class === 'answered' ? Math.round(outcome.firstEventMs) : null,
    durationMs: Math.round(times.endedMs - times.startedMs),
    ...(times.droppedBetas !== undefined && { droppedBetas: times.droppedBetas }),
    ...(reason !== undefined && { reason }),
  }
}

/** Returns the list with the end of the stream that was delivered; its attempt is the last one. */
export function withStreamEnd(
  attempts: readonly AttemptRecord[],
  { ending, reason }: Pick<Delivered, 'ending' | 'reason'>,
  durationMs: number,
): readonly AttemptRecord[] {
  const last = attempts.at(-1)
  if (last === undefined) return attempts
  const end = {
    class: ending === 'upstream_cut' ? 'cut' : last.class,
    durationMs: Math.round(durationMs),
    ...(reason !== undefined && { reason }),
  }
  return [...attempts.slice(0, -1), { ...last, ...end }]
}
