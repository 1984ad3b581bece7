/**
 * The time that all nodes of one store agree on, for leases and for how old something is. An
 * embedded store is used by one machine, whose clock it is; a server is asked for its own.
 */
import type { Clock } from '../base/clock.ts'
import type { Database } from './database.ts'

/** Wall time in milliseconds. Between two nodes it differs by no more than a query takes. */
export async function readStoreTime(
  database: Pick<Database, 'dialect' | 'query'>,
  clock: Pick<Clock, 'now'>,
): Promise<number> {
  if (database.dialect === 'sqlite') return clock.now()
  const [row] = await database.query(
    'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms',
  )
  return Number(row?.['now_ms'])
}
