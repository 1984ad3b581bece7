/**
 * Deletes exchanges, charged and free, that are older than the retention time; entries and sums stay.
 * Writes the retention limit (table exchange_cut) first, so that an audit or a statement always knows why a
 * row is missing; the limit never moves back. On PostgreSQL whole months are dropped at once. Rows
 * are deleted in small transactions with pauses: a charge waits for one of them at most.
 */
import { dayMs, utcDay } from '../base/clock.ts'
import { eachAccount } from './account-store.ts'
import type { Database, Queryable, Transaction } from '../storage/database.ts'
import { firstExchangeIdAt, longestExchangeMs } from './entry-store.ts'
import { removeFreeExchanges } from './free-exchange-store.ts'
import { removeLabelPlaces } from './label-day.ts'

export interface RetentionOrder {
  readonly nowMs: number
  /** How long an exchange is kept after its end. */
  readonly keepMs: number
  /** Waited for after each transaction. */
  readonly pause: () => Promise<void>
}

export interface RetentionReport {
  /** 00:00 UTC of the first day whose exchanges are all there. */
  readonly cutMs: number
  readonly removed: number
}

const rowsPerTransaction = 200

export async function removeOldExchanges(
  database: Database,
  { nowMs, keepMs, pause }: RetentionOrder,
): Promise<RetentionReport> {
  const wantedMs = Math.floor((nowMs - keepMs) / dayMs) * dayMs
  const storedMs = await readExchangeCut(database)
  const cutMs = Math.max(wantedMs, storedMs)
  if (cutMs <= 0) return { cutMs: 0, removed: 0 }
  if (cutMs > storedMs)
    await database.transact((transaction) =>
      saveExchangeCut(transaction, { cutMs, decidedAtMs: nowMs }),
    )
  // Where each month is a partition, whole months are dropped. A month that cannot be dropped now is
  // not deleted row by row instead.
  const firstId = firstExchangeIdAt(Math.max(0, cutMs - longestExchangeMs))
  const fromId = await dropMonthsBefore(database, { firstId, pause })
  let removed = 0
  for await (const { id } of eachAccount(database)) {
    const accountId = String(id)
    for await (const count of removeFrom(database, { accountId, fromId, cutMs })) {
      removed += count
      await pause()
    }
    await removeLabelPlaces(database, { accountId, beforeDay: utcDay(cutMs) })
  }
  removed += await removeFreeExchanges(database, { firstId: firstExchangeIdAt(cutMs), pause })
  return { cutMs, removed }
}

/** Yields the number of rows that each transaction has deleted. */
async function* removeFrom(
  database: Database,
  order: { readonly accountId: string; readonly fromId: string; readonly cutMs: number },
): AsyncGenerator<number> {
  const { accountId, fromId, cutMs } = order
  const end = firstExchangeIdAt(cutMs)
  for (;;) {
    const rows = await database.query(
      `SELECT exchange_id FROM exchange
        WHERE account_id = $1 AND exchange_id >= $2 AND exchange_id < $3 AND ended_at_ms < $4
        ORDER BY exchange_id LIMIT $5`,
      [accountId, fromId, end, cutMs, rowsPerTransaction],
    )
    const last = rows.at(-1)?.['exchange_id']
    if (last === undefined) return
    await database.query(
      `DELETE FROM exchange
        WHERE account_id = $1 AND exchange_id >= $2 AND exchange_id <= $3 AND ended_at_ms < $4`,
      [accountId, fromId, last, cutMs],
    )
    yield rows.length
    if (rows.length < rowsPerTransaction) return
  }
}

/** Exchanges that ended before this may be gone; 0 where every exchange is kept. */
export async function readExchangeCut(database: Queryable): Promise<number> {
  const [row] = await database.query('SELECT COALESCE(MAX(cut_ms), 0) AS cut_ms FROM exchange_cut')
  return Number(row?.['cut_ms'] ?? 0)
}

export async function saveExchangeCut(
  transaction: Transaction,
  cut: { readonly cutMs: number; readonly decidedAtMs: number },
): Promise<void> {
  await transaction.query(
    `INSERT INTO exchange_cut (cut_ms, decided_at_ms) VALUES ($1, $2)
     ON CONFLICT (cut_ms) DO NOTHING`,
    [cut.cutMs, cut.decidedAtMs],
  )
}

interface MonthsOrder {
  /** Months go all of whose ids are smaller. */
  readonly firstId: string
  /** Between two tries. */
  readonly pause: () => Promise<void>
}

const monthTable = /^exchange_\d{4}_\d{2}$/
/** Several times as long as a charge takes, and no longer than one may wait unnoticed. */
const lockWaitMs = 50
const triesMax = 10

/**
 * Drops the months that lie wholly before `firstId`. Resolves with the first id after the months that
 * could not be dropped; empty where all were dropped.
 */
async function dropMonthsBefore(
  database: Database,
  { firstId, pause }: MonthsOrder,
): Promise<string> {
  if (database.dialect !== 'postgres') return ''
  for (let tries = 1; ; tries++) {
    for (const { name } of await listMonths(database, firstId))
      await database.query(dropIfFree(name))
    const kept = await listMonths(database, firstId)
    if (kept.length === 0 || tries === triesMax) return kept.at(-1)?.end ?? ''
    await pause()
  }
}

interface Month {
  readonly name: string
  /** Greater than every id of it. */
  readonly end: string
}

/** Those all of whose ids are smaller than `firstId`, in their order. */
async function listMonths(database: Database, firstId: string): Promise<readonly Month[]> {
  const rows = await database.query(
    `SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bound
       FROM pg_inherits
       JOIN pg_class child ON child.oid = pg_inherits.inhrelid
      WHERE pg_inherits.inhparent = 'exchange'::regclass ORDER BY child.relname`,
  )
  return rows.flatMap((row) => {
    const name = String(row['name'])
    const end = /TO \('([^']+)'\)/.exec(String(row['bound']))?.[1]
    if (!monthTable.test(name) || end === undefined || end > firstId) return []
    return [{ name, end }]
  })
}

/** One statement, because a conflict that reached the client would be tried again without a pause. */
function dropIfFree(name: string): string {
  return `DO $$ BEGIN
    SET LOCAL lock_timeout = ${lockWaitMs};
    DROP TABLE IF EXISTS ${name};
  EXCEPTION WHEN lock_not_available THEN NULL;
  END $$`
}
