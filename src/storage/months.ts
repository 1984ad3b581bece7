/**
 * Tables of exchanges by month, which only PostgreSQL has: a whole month goes at once there, without
 * a row being touched. On SQLite there are none, and nothing is done.
 */
import type { Database } from './database.ts'

const monthTable = /^exchange_\d{4}_\d{2}$/

/** Drops each month all of whose ids are smaller than `firstId`. */
export async function dropMonthsBefore(database: Database, firstId: string): Promise<void> {
  if (database.dialect !== 'postgres') return
  const months = await database.query(
    `SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bound
       FROM pg_inherits
       JOIN pg_class child ON child.oid = pg_inherits.inhrelid
       JOIN pg_class parent ON parent.oid = pg_inherits.inhparent
      WHERE parent.relname = 'exchange' ORDER BY child.relname`,
  )
  for (const month of months) {
    const name = String(month['name'])
    const end = /TO \('([^']+)'\)/.exec(String(month['bound']))?.[1]
    if (!monthTable.test(name) || end === undefined || end > firstId) continue
    await database.query(`DROP TABLE IF EXISTS ${name}`)
  }
}
