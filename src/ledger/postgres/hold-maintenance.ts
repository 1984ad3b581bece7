/**
 * The work after each renewal of the hold lease: frees the holds of dead nodes, frees own holds that
 * no request knows of, deletes requests that have left their window, and creates the partitions of
 * the next month. Invariant: it frees a hold only when no node will settle it, or when a later
 * settlement still books the same charge.
 */
import { dayMs } from '../../base/clock.ts'
import type { HoldLease } from '../../storage/membership.ts'
import type { PostgresPool } from '../../storage/postgres/pool.ts'
import { releaseHolds } from './statements.ts'

export interface HoldMaintenanceParts {
  readonly pool: PostgresPool
  readonly lease: HoldLease
  /** Wall time. */
  readonly now: () => number
  /** Whether this process knows the hold; a hold it does not know was reported to no request. */
  readonly isOpen: (exchangeId: string) => boolean
}

const monthMs = 31 * dayMs

export async function maintainHolds(parts: HoldMaintenanceParts): Promise<void> {
  const { pool, lease } = parts
  if (lease.mayEvict)
    await pool.useIdempotently((connection) =>
      connection.query('SELECT expire_holds($1, $2)', [lease.nowMs, lease.boot]),
    )
  await releaseUnknownHolds(parts)
  for (const table of ['request_window', 'key_request_window'])
    await pool.useIdempotently((connection) =>
      connection.query(
        `DELETE FROM ${table} w USING account a, store_time($1) AS now_ms
          WHERE a.id = w.account_id AND w.at_ms <= now_ms - a.window_minutes * 60000::bigint`,
        [lease.nowMs],
      ),
    )
  await ensurePartitions(parts)
}

/** Frees holds that were placed although the answer to their statement was lost. */
export async function releaseUnknownHolds({
  pool,
  lease,
  isOpen,
}: HoldMaintenanceParts): Promise<void> {
  const rows = await pool.useIdempotently((connection) =>
    connection.query('SELECT account_id, exchange_id FROM hold WHERE boot = $1', [lease.boot]),
  )
  const unknown = rows
    .map((row) => ({
      accountId: String(row['account_id']),
      exchangeId: String(row['exchange_id']),
    }))
    .filter(({ exchangeId }) => !isOpen(exchangeId))
  if (unknown.length > 0)
    await pool.useIdempotently((connection) => releaseHolds(connection, unknown))
}

/** Creates the partitions of this month and the next, long before they are needed. */
export async function ensurePartitions({
  pool,
  lease,
  now,
}: Omit<HoldMaintenanceParts, 'isOpen'>): Promise<void> {
  const fromMs = lease.nowMs ?? now()
  await pool.useIdempotently((connection) =>
    connection.query('SELECT ensure_exchange_partitions($1, $2)', [fromMs, fromMs + monthMs]),
  )
}
