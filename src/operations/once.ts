/**
 * Requests that may be repeated: the answer is stored in the transaction of the change itself, so that a
 * repetition finds either both or neither. The stored answer holds no secret. Kept for a day.
 */
import { dayMs } from '../base/clock.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { withDatabase } from './context.ts'
import { conflict, type OperationContext } from './operation.ts'

/** A request that may be repeated. */
export interface RepeatableRequest {
  /** The id of the token that sends it. */
  readonly tokenId: string
  /** The client's own name for it. */
  readonly name: string
  /** Of everything that it asks for. */
  readonly hash: string
}

/** Ends an operation whose change was made before. */
export class RepeatedRequest extends Error {
  /** JSON of the first answer, without its secret. */
  readonly answer: string

  constructor(answer: string) {
    super('the request was answered before')
    this.name = 'RepeatedRequest'
    this.answer = answer
  }
}

const keptMs = dayMs

/**
 * Makes the next transaction of the context happen once for this request. Its result is
 * the answer. A repetition throws `RepeatedRequest`, or is refused where it asks for something else.
 */
export function onceOnly(context: OperationContext, request: RepeatableRequest): OperationContext {
  const { database } = context
  return withDatabase(context, {
    transact: (work) =>
      database.transact(async (transaction) => {
        await claim(transaction, request, context.clock.now())
        const answer = await work(transaction)
        await transaction.query(
          'UPDATE idempotency_key SET answer = $3 WHERE token_id = $1 AND name = $2',
          [request.tokenId, request.name, withoutSecret(answer)],
        )
        return answer
      }),
  })
}

/** A concurrent repetition waits here until the first one is committed. */
async function claim(
  transaction: Transaction,
  { tokenId, name, hash }: RepeatableRequest,
  nowMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM idempotency_key WHERE created_at_ms < $1', [nowMs - keptMs])
  const claimed = await transaction.query(
    `INSERT INTO idempotency_key (token_id, name, request_hash, answer, created_at_ms)
     VALUES ($1, $2, $3, '', $4) ON CONFLICT (token_id, name) DO NOTHING RETURNING name`,
    [tokenId, name, hash, nowMs],
  )
  if (claimed.length > 0) return
  const { answer, requestHash } = await readAnswer(transaction, tokenId, name)
  if (requestHash === hash) throw new RepeatedRequest(answer)
  throw conflict(
    `The Idempotency-Key ${name} is in use for another request. Nothing was changed. Use a new one.`,
  )
}

async function readAnswer(queryable: Queryable, tokenId: string, name: string) {
  const [row] = await queryable.query(
    'SELECT answer, request_hash FROM idempotency_key WHERE token_id = $1 AND name = $2',
    [tokenId, name],
  )
  return { answer: String(row?.['answer']), requestHash: String(row?.['request_hash']) }
}

/** Secrets are fields of the answer itself; a field that an operator has named so is none. */
export const secretFields: readonly string[] = ['secret', 'codes']

function withoutSecret(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return JSON.stringify(answer)
  const fields = Object.entries(answer)
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, value]) => [name, secretFields.includes(name) ? null : value]),
    ),
  )
}
