/**
 * Books a batch of ended exchanges on PostgreSQL and tells the outcome of each: together, or each alone where
 * the store does not take them together. Invariant: an outage decides nothing, and then the same batch is
 * booked again.
 */
import { GatewayError } from '../../base/errors.ts'
import { faultOf } from '../../storage/postgres/connection.ts'
import type { HoldLease } from '../../storage/membership.ts'
import type { PostgresPool } from '../../storage/postgres/pool.ts'
import type { ExchangeRecord } from '../ledger.ts'
import { asWithheld, unavailable, type CommitOutcome } from '../settlement-queue.ts'
import { decideRequests, settleAlone } from './statements.ts'

interface Store {
  readonly pool: PostgresPool
  readonly lease: HoldLease
}

/** Never rejects. */
export async function bookBatch(
  { pool, lease }: Store,
  records: readonly ExchangeRecord[],
): Promise<CommitOutcome<void>> {
  try {
    const call = { requests: [], ended: records, isRepeat: false }
    await pool.useIdempotently((connection) => decideRequests(connection, lease, call))
    return decided(records.length)
  } catch (error) {
    if (isOutage(error)) return decided(0, unavailable(error))
  }
  try {
    return await bookEach(pool, records)
  } catch (error) {
    return decided(0, unavailable(error))
  }
}

/**
 * Books each alone: one was booked before, has no hold any more, or is refused, and the others must not
 * suffer for it. Those whose charge is not covered are tried again behind the others, which may free money
 * for them.
 */
async function bookEach(
  pool: PostgresPool,
  records: readonly ExchangeRecord[],
): Promise<CommitOutcome<void>> {
  const refused = new Map<number, Error>()
  const isUncovered = async (record: ExchangeRecord, index: number): Promise<boolean> => {
    try {
      return await pool.useIdempotently((connection) => settleAlone(connection, record))
    } catch (error) {
      if (isOutage(error)) throw error
      refused.set(index, error instanceof Error ? error : new Error('the store failed'))
      return false
    }
  }
  const uncovered: [number, ExchangeRecord][] = []
  for (const [index, record] of records.entries())
    if (await isUncovered(record, index)) uncovered.push([index, record])
  const withheld = new Set<number>()
  for (const [index, record] of uncovered) {
    if (!(await isUncovered(record, index))) continue
    withheld.add(index)
    await isUncovered({ ...asWithheld(record), marks: ['hold_expired'] }, index)
  }
  return { ...decided(records.length), refused, withheld }
}

const noneRefused: ReadonlyMap<number, Error> = new Map()

/** `count`: how many exchanges, from the first on, are decided. */
export function decided(count: number, outage?: Error): CommitOutcome<void> {
  const outcome = { decidedCount: count, refused: noneRefused, booked: undefined }
  return outage === undefined ? outcome : { ...outcome, outage }
}

/**
 * Whether the server answers and does not take charges, for example without room on its disk: then it may
 * still take holds. Whether a connection is lost the pool tells.
 */
export function isRefusal(outage: Error | undefined): boolean {
  for (let cause: unknown = outage; cause instanceof Error; cause = cause.cause) {
    const fault = faultOf(cause)
    if (fault === 'lost' || fault === 'conflict') return false
    if (fault !== 'statement') return true
  }
  return false
}

/** Whether nothing was stored because of the server, not because of the values. */
export function isOutage(error: unknown): boolean {
  return (
    faultOf(error) !== 'statement' ||
    (error instanceof GatewayError && error.code === 'ledger.unavailable')
  )
}
