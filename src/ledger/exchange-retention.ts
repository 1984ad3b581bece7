/**
 * Lets exchanges go that are older than an operator wants to keep them. Entries and figures stay for
 * ever. The cut is written first, so that an audit or a statement never misses a row without a
 * reason; it never moves back. Rows go in small transactions with pauses between them: a charge
 * waits for one of these at most.
 */
import type { Database, Queryable } from '../storage/database.ts'
import { dropMonthsBefore } from '../storage/months.ts'
import { firstExchangeIdAt, longestExchangeMs } from './entry-store.ts'
import { readExchangeCut, saveExchangeCut } from './exchange-cut-store.ts'

export interface RetentionOrder {
  readonly nowMs: number
  /** How long an exchange is kept after it has ended. */
  readonly keepMs: number
  /** Waited for after each transaction. */
  readonly pause: () => Promise<void>
}

export interface RetentionReport {
  /** 00:00 UTC of the first day whose exchanges are all there. */
  readonly cutMs: number
  readonly removed: number
}

const dayMs = 86_400_000
const accountsPerPage = 100
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
  // Where months are tables of their own, those that are over for good go as a whole; one that has
  // to stay for now is not taken apart row by row instead.
  const firstId = firstExchangeIdAt(Math.max(0, cutMs - longestExchangeMs))
  const fromId = await dropMonthsBefore(database, { firstId, pause })
  let removed = 0
  for await (const accountId of eachAccount(database))
    for await (const count of removeOf(database, { accountId, fromId, cutMs })) {
      removed += count
      await pause()
    }
  return { cutMs, removed }
}

async function* eachAccount(database: Queryable): AsyncGenerator<string> {
  let last = ''
  for (;;) {
    const rows = await database.query('SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2', [
      last,
      accountsPerPage,
    ])
    for (const row of rows) yield String(row['id'])
    if (rows.length < accountsPerPage) return
    last = String(rows.at(-1)?.['id'])
  }
}

/** One transaction after the other; tells how many rows each has removed. */
async function* removeOf(
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
