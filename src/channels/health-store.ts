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

/**
 * Puts these states in the place of all that were stored. Several nodes may do so at once, each of
 * what it knows: the last word about a place counts.
 */
export async function replaceHealth(
  transaction: Transaction,
  saved: readonly SavedHealth[],
): Promise<void> {
  const kept = new Set<string>()
  // In one order everywhere, so that two nodes wait for each other and never both for the other.
  for (const one of saved.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))) {
    kept.add(keyOf(one))
    await transaction.query(
      `INSERT INTO channel_health (channel, model, mode, why, since_ms, saved_at_ms, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (channel, model) DO UPDATE
         SET mode = excluded.mode, why = excluded.why, since_ms = excluded.since_ms,
           saved_at_ms = excluded.saved_at_ms, detail = excluded.detail`,
      [one.channel, one.model, one.mode, one.why, one.sinceMs, one.savedAtMs, one.detail],
    )
  }
  for (const row of await transaction.query('SELECT channel, model FROM channel_health')) {
    const place = { channel: String(row['channel']), model: String(row['model']) }
    if (kept.has(keyOf(place))) continue
    await transaction.query('DELETE FROM channel_health WHERE channel = $1 AND model = $2', [
      place.channel,
      place.model,
    ])
  }
}

function keyOf({ channel, model }: Pick<SavedHealth, 'channel' | 'model'>): string {
  return `${channel}\n${model}`
}
