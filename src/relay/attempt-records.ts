/**
 * Attempts as the record of an exchange lists them: channel, status, class, and how long they took. Pure.
 *
 * | class | the attempt |
 * |---|---|
 * | answered | gave the answer that the client got |
 * | cut | gave an answer that broke off after it had begun |
 * | client_left | ended because the client left |
 * | a class of `UpstreamFault` | ended with an error of the vendor |
 * | a cause of `BrokenCause` | ended without an answer |
 */
import type { Ending, AttemptRecord } from '../ledger/ledger.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'

export interface AttemptTimes {
  readonly channel: string
  /** Monotonic times. */
  readonly requestStartedMs: number
  readonly startedMs: number
  readonly endedMs: number
}

export function attemptRecord(outcome: AttemptOutcome, times: AttemptTimes): AttemptRecord {
  const isAnswer = outcome.kind === 'streaming' || outcome.kind === 'whole'
  return {
    channel: times.channel,
    status: statusOf(outcome),
    class: classOf(outcome),
    startedMs: Math.round(times.startedMs - times.requestStartedMs),
    firstEventMs: isAnswer ? Math.round(outcome.firstEventMs) : null,
    durationMs: Math.round(times.endedMs - times.startedMs),
  }
}

function statusOf(outcome: AttemptOutcome): number | null {
  if (outcome.kind === 'vendor_error') return outcome.status
  return outcome.kind === 'streaming' || outcome.kind === 'whole' ? outcome.head.status : null
}

function classOf(outcome: AttemptOutcome): string {
  switch (outcome.kind) {
    case 'streaming':
    case 'whole':
      return 'answered'
    case 'vendor_error':
      return outcome.fault
    case 'broken':
      return outcome.cause
    case 'client_left':
      return 'client_left'
  }
}

/** Returns the list with the end of the stream that was delivered; its attempt is the last one. */
export function withStreamEnd(
  attempts: readonly AttemptRecord[],
  ending: Ending,
  durationMs: number,
): readonly AttemptRecord[] {
  const last = attempts.at(-1)
  if (last === undefined) return attempts
  const name = ending === 'upstream_cut' ? 'cut' : last.class
  return [...attempts.slice(0, -1), { ...last, class: name, durationMs: Math.round(durationMs) }]
}
