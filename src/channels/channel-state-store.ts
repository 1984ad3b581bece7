/** SQL for table `channel_state`: the live state of channels as each running gateway published it. */
import type { Queryable, Transaction } from '../storage/database.ts'
import type { HealthLine } from './health-line.ts'
import type { HealthPlace } from './health-place.ts'
import type { PublishedState } from './published-state.ts'

export async function publishStates(
  transaction: Transaction,
  states: readonly PublishedState[],
): Promise<void> {
  for (const { node, line, publishedAtMs } of states) {
    const { channel, model, mode, why, sinceMs, ...rest } = line
    await transaction.query(
      `INSERT INTO channel_state
         (node, channel, model, mode, why, since_ms, published_at_ms, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (node, channel, model) DO UPDATE
         SET mode = excluded.mode, why = excluded.why, since_ms = excluded.since_ms,
           published_at_ms = excluded.published_at_ms, detail = excluded.detail`,
      [node, channel, model, mode, why, sinceMs, publishedAtMs, JSON.stringify(rest)],
    )
  }
}

/** Takes back what no longer exists: one place of a node, or all that a node had said. */
export async function withdrawStates(
  transaction: Transaction,
  node: string,
  place?: HealthPlace,
): Promise<void> {
  if (place === undefined)
    await transaction.query('DELETE FROM channel_state WHERE node = $1', [node])
  else
    await transaction.query(
      'DELETE FROM channel_state WHERE node = $1 AND channel = $2 AND model = $3',
      [node, place.channel, place.model],
    )
}

/** Of all nodes, those that are gone included; who is gone, table `gateway_node` tells. */
export async function listStates(queryable: Queryable): Promise<readonly PublishedState[]> {
  const rows = await queryable.query(
    `SELECT node, channel, model, mode, why, since_ms, published_at_ms, detail
     FROM channel_state ORDER BY channel, model, node`,
  )
  return rows.map((row) => {
    // Written by `publishStates` of this version or a neighbouring one.
    const rest = JSON.parse(String(row['detail'])) as Omit<
      HealthLine,
      'channel' | 'model' | 'mode' | 'why' | 'sinceMs'
    >
    return {
      node: String(row['node']),
      publishedAtMs: Number(row['published_at_ms']),
      line: {
        ...rest,
        channel: String(row['channel']),
        model: String(row['model']),
        mode: String(row['mode']) as HealthLine['mode'],
        why: String(row['why']),
        sinceMs: Number(row['since_ms']),
      },
    }
  })
}

export interface PublishedOff extends HealthPlace {
  readonly node: string
  readonly sinceMs: number
}

/** What other nodes have switched off. */
export async function listOffElsewhere(
  queryable: Queryable,
  node: string,
): Promise<readonly PublishedOff[]> {
  const rows = await queryable.query(
    `SELECT node, channel, model, since_ms FROM channel_state
     WHERE mode = 'off' AND node <> $1 ORDER BY node, channel, model`,
    [node],
  )
  return rows.map((row) => ({
    node: String(row['node']),
    channel: String(row['channel']),
    model: String(row['model']),
    sinceMs: Number(row['since_ms']),
  }))
}
