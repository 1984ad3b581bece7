/**
 * Tables of exchanges by month, which only PostgreSQL has: a whole month goes at once there, without
 * a row being touched. On SQLite there are none, and nothing is done.
 *
 * To drop one, the server waits for all who use table exchange, and everybody who comes meanwhile
 * waits behind it, charges too. So it waits for a moment only; whoever reads for long keeps the month.
 */
import type { Database } from './database.ts'

export interface MonthsOrder {
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
 * Drops the months that are over for good. Resolves with the first id that is in none of those
 * that had to stay; empty where all have gone.
 */
export async function dropMonthsBefore(
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
