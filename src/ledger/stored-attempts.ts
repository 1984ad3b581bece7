/**
 * The text of the attempts of an exchange in its row: a JSON array with one array for each attempt. The
 * attempt that gave the answer repeats nothing of the row: it has only its times.
 *
 *     [["alpha-main",529,"overloaded",0,null,120],[121,250,1092]]
 *
 * Times are in milliseconds: the start, the time to the first event, the duration. Betas that the channel
 * left out stand behind them, as one text with commas, and then type, code and parameter of the vendor's
 * error.
 */
import type { AttemptRecord } from './ledger.ts'

type Rest = readonly [
  startedMs: number,
  firstEventMs: number | null,
  durationMs: number,
  droppedBetas?: string | null,
  ...reason: readonly (string | null)[],
]

type StoredAttempt =
  | Rest
  | readonly [channel: string, status: number | null, attemptClass: string, ...Rest]

/** The facts of the answer in the row of the exchange. */
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
  const { channel, status } = attempt
  const rest = restOf(attempt)
  const isDelivered =
    attempt.class === answered && channel === delivered.channel && status === delivered.status
  return isDelivered ? rest : [channel, status, attempt.class, ...rest]
}

function restOf({ reason, ...attempt }: AttemptRecord): Rest {
  const times = [attempt.startedMs, attempt.firstEventMs, attempt.durationMs] as const
  const dropped = attempt.droppedBetas?.join(',')
  if (reason !== undefined)
    return [...times, dropped ?? null, reason.type, reason.code, reason.param]
  return dropped === undefined ? times : [...times, dropped]
}

export function parseAttempts(
  text: string,
  { channel = '', status }: Delivered,
): readonly AttemptRecord[] {
  const stored = JSON.parse(text) as readonly StoredAttempt[]
  return stored.map((attempt) => {
    if (isRest(attempt)) return fromRest({ channel, status, class: answered }, attempt)
    const [ownChannel, ownStatus, ownClass, ...rest] = attempt
    return fromRest({ channel: ownChannel, status: ownStatus, class: ownClass }, rest)
  })
}

function isRest(attempt: StoredAttempt): attempt is Rest {
  return typeof attempt[0] === 'number'
}

function fromRest(
  of: Pick<AttemptRecord, 'channel' | 'status' | 'class'>,
  [startedMs, firstEventMs, durationMs, dropped = null, ...words]: Rest,
): AttemptRecord {
  const [type = null, code = null, param = null] = words
  return {
    ...of,
    startedMs,
    firstEventMs,
    durationMs,
    ...(dropped !== null && { droppedBetas: dropped.split(',') }),
    ...(words.length > 0 && { reason: { type, code, param } }),
  }
}
