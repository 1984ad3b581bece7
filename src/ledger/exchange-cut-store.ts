/**
 * SQL of table exchange_cut: from which day on exchanges are all there. A cut is written before the
 * first exchange goes, so nobody ever misses a row without a reason in the store.
 */
import type { Queryable, Transaction } from '../storage/database.ts'

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
