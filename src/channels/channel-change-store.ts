/** SQL for table `channel_change`, the append-only history of channels. Triggers refuse all but inserts. */
import type { Queryable, Row, SqlValue, Transaction } from '../storage/database.ts'
import type { ChannelChange, ChannelChangeDetail } from './channel-change.ts'

/** Appends what is not there yet, in this order. */
export async function appendChanges(
  transaction: Transaction,
  changes: readonly ChannelChange[],
): Promise<void> {
  for (const change of changes)
    await transaction.query(
      `INSERT INTO channel_change
         (id, at_ms, node, channel, model, from_state, to_state, why, actor, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (id) DO NOTHING`,
      [
        change.id,
        change.atMs,
        change.node ?? '',
        change.channel,
        change.model ?? '',
        change.from,
        change.to,
        change.why,
        change.actor ?? null,
        JSON.stringify(change.detail),
      ],
    )
}

export interface ChangeQuery {
  /** Undefined: of all channels. */
  readonly channel?: string | undefined
  readonly countMax: number
}

/** The newest first: by when it happened, for a line may have waited for the store. */
export async function listChanges(
  queryable: Queryable,
  { channel, countMax }: ChangeQuery,
): Promise<readonly ChannelChange[]> {
  const [where, parameters]: [string, SqlValue[]] =
    channel === undefined ? ['', [countMax]] : ['WHERE channel = $2', [countMax, channel]]
  const rows = await queryable.query(
    `SELECT id, at_ms, node, channel, model, from_state, to_state, why, actor, detail
     FROM channel_change ${where} ORDER BY at_ms DESC, sequence DESC LIMIT $1`,
    parameters,
  )
  return rows.map(readChange)
}

/** When an operator last switched the channel off; undefined where nobody has. */
export async function findLastOff(
  queryable: Queryable,
  channel: string,
): Promise<number | undefined> {
  const [row] = await queryable.query(
    `SELECT at_ms FROM channel_change
     WHERE channel = $1 AND model = '' AND to_state = 'disabled'
     ORDER BY at_ms DESC, sequence DESC LIMIT 1`,
    [channel],
  )
  return row === undefined ? undefined : Number(row['at_ms'])
}

function readChange(row: Row): ChannelChange {
  return {
    id: String(row['id']),
    atMs: Number(row['at_ms']),
    node: textOrNone(row['node']),
    channel: String(row['channel']),
    model: textOrNone(row['model']),
    from: String(row['from_state']),
    to: String(row['to_state']),
    why: String(row['why']),
    actor: textOrNone(row['actor']),
    detail: JSON.parse(String(row['detail'])) as ChannelChangeDetail,
  }
}

function textOrNone(value: SqlValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
