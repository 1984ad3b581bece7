/**
 * The text of the attempts of an exchange in its row: a JSON array with one array for each attempt. The
 * attempt that gave the answer repeats nothing of the row: it has only its times.
 *
 *     [["alpha-main",529,"overloaded",0,null,120],[121,250,1092]]
 *
 * Times are in milliseconds: the start, the time to the first event, the duration.
 */
import type { AttemptRecord } from './ledger.ts'

type Times = readonly [startedMs: number, firstEventMs: number | null, durationMs: number]

type StoredAttempt =
  Times | readonly [channel: string, status: number | null, attemptClass: string, ...Times]

/** What the row of the exchange says of the answer. */
export interface Delivered {
  readonly channel: string | undefined
  readonly status: number
}

/** The class of an attempt whose answer the client got; see `channels/outcomes.ts`. */
const answered = 'answered'

export function formatAttempts(attempts: readonly AttemptRecord[], delivered: Delivered): string {
  if (attempts.length === 0) return '[]'
  return JSON.stringify(attempts.map((attempt) => toStored(attempt, delivered)))
}

function toStored(attempt: AttemptRecord, delivered: Delivered): StoredAttempt {
  const { channel, status, startedMs, firstEventMs, durationMs } = attempt
  const isDelivered =
    attempt.class === answered && channel === delivered.channel && status === delivered.status
  return isDelivered
    ? [startedMs, firstEventMs, durationMs]
    : [channel, status, attempt.class, startedMs, firstEventMs, durationMs]
}

export function parseAttempts(
  text: string,
  { channel = '', status }: Delivered,
): readonly AttemptRecord[] {
  const stored = JSON.parse(text) as readonly StoredAttempt[]
  return stored.map((attempt) => {
    if (attempt.length === 3) return fromTimes({ channel, status, class: answered }, attempt)
    const [ownChannel, ownStatus, ownClass, ...times] = attempt
    return fromTimes({ channel: ownChannel, status: ownStatus, class: ownClass }, times)
  })
}

function fromTimes(
  of: Pick<AttemptRecord, 'channel' | 'status' | 'class'>,
  [startedMs, firstEventMs, durationMs]: Times,
): AttemptRecord {
  return { ...of, startedMs, firstEventMs, durationMs }
}
