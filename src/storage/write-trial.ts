/** Whether a store takes writes, found by writing: locks and rights alone do not tell a full disk. */
import type { Database } from './database.ts'

/**
 * SQLite keeps about 2 MB of a transaction in memory and never writes them where it is undone; what is
 * beyond that has to find its place on the disk at once.
 */
const trialRows = 3_500
const rowText = 'x'.repeat(1_000)

class Undo extends Error {}

/** Nothing of it stays. Rejects with what the store says where it cannot be written. */
export async function tryWriting(database: Database): Promise<void> {
  try {
    await database.transact(async (transaction) => {
      await transaction.query('CREATE TABLE write_trial (filler TEXT)')
      await transaction.query(
        `INSERT INTO write_trial
         WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${trialRows})
         SELECT CAST($1 AS TEXT) FROM number`,
        [rowText],
      )
      throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
}
