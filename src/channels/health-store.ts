/** SQL for table `channel_health`: what outlives a process of what it knew about its channels. */
import type { Queryable, Transaction } from '../storage/database.ts'
import type { SavedHealth } from './health-saved.ts'
import { shownModes } from './health-state.ts'

export async function readHealth(queryable: Queryable): Promise<readonly SavedHealth[]> {
  const rows = await queryable.query(
    'SELECT channel, model, mode, why, since_ms, saved_at_ms, detail FROM channel_health',
  )
  return rows.flatMap((row) => {
    const mode = shownModes.find((one) => one === row['mode'])
    // A mode of another version of the program says nothing to this one.
    if (mode === undefined) return []
    return {
      channel: String(row['channel']),
      model: String(row['model']),
      mode,
      why: String(row['why']),
      sinceMs: Number(row['since_ms']),
      savedAtMs: Number(row['saved_at_ms']),
      detail: String(row['detail']),
    }
  })
}

/** Puts these states in the place of all that were stored. */
export async function replaceHealth(
  transaction: Transaction,
  saved: readonly SavedHealth[],
): Promise<void> {
  await transaction.query('DELETE FROM channel_health')
  for (const one of saved)
    await transaction.query(
      `INSERT INTO channel_health (channel, model, mode, why, since_ms, saved_at_ms, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [one.channel, one.model, one.mode, one.why, one.sinceMs, one.savedAtMs, one.detail],
    )
}
