/**
 * The append-only history of channels (table channel_change): the old state, the new state, and why.
 * Details contain the gateway's own words and numbers only, never text of a vendor, a client or a
 * request.
 */
import type { FailureLine, HealthLine } from '../health/health-line.ts'
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

export interface ChannelChangeDetail {
  /** Failures since the line before, by class. */
  readonly failures?: readonly FailureLine[]
  readonly first_event_ms?: HealthLine['firstEventMs']
  readonly usual_first_event_ms?: HealthLine['usualFirstEventMs']
  /** When something happens next by itself. */
  readonly wake_at_ms?: number | undefined
}

const changeForm = rowForm({
  /** Unique, so that a write repeated after a broken-off answer adds nothing. */
  id: column.text,
  atMs: column.number,
  /** The process that saw it; undefined for an operator's change, which affects every process. */
  node: column.textOrNone,
  channel: column.text,
  /** Undefined: all models of the channel. */
  model: column.textOrNone,
  from: column.named('from_state', column.text),
  to: column.named('to_state', column.text),
  /** One of the reasons listed in docs/operating.md. */
  why: column.text,
  /** The operator. */
  actor: column.optional(column.text),
  detail: column.json<ChannelChangeDetail>(),
  /** Tells changes of one millisecond apart. */
  sequence: column.number,
})
export type ListedChange = Read<typeof changeForm>
export type ChannelChange = Omit<ListedChange, 'sequence'>

export type ChannelFailures = ReadonlyMap<string, number>

/** Builds the details of a line. `before` counts failures up to the previous line. */
export function describeChange(line: HealthLine, before: ChannelFailures): ChannelChangeDetail {
  const failures = line.failures.flatMap((failure) => {
    const count = failure.count - (before.get(failure.outcome) ?? 0)
    return count > 0 ? [{ ...failure, count }] : []
  })
  return {
    ...(failures.length === 0 ? {} : { failures }),
    ...(line.firstEventMs === undefined ? {} : { first_event_ms: line.firstEventMs }),
    ...(line.usualFirstEventMs === undefined
      ? {}
      : { usual_first_event_ms: line.usualFirstEventMs }),
    ...(line.wakeAtMs === undefined ? {} : { wake_at_ms: line.wakeAtMs }),
  }
}

/** Appends the changes in this order; one that is in the table already is left as it is. */
export async function appendChanges(
  transaction: Transaction,
  changes: readonly ChannelChange[],
): Promise<void> {
  for (const change of changes)
    await insertRow(
      transaction,
      'channel_change',
      changeForm.write(change),
      'ON CONFLICT (id) DO NOTHING',
    )
}

export interface ChangeQuery {
  /** Undefined: of all channels. */
  readonly channel?: string | undefined
  /** Only changes that are listed after this one. */
  readonly before?: Pick<ListedChange, 'atMs' | 'sequence'> | undefined
  readonly countMax: number
}

/** Lists the newest first, by the time of the change: a line may have waited for the store. */
export async function listChanges(
  queryable: Queryable,
  { channel, before, countMax }: ChangeQuery,
): Promise<readonly ListedChange[]> {
  const conditions = new Conditions()
  const place = before && [before.atMs, before.sequence]
  conditions.follow(['at_ms', 'sequence'], place, 'desc')
  conditions.compare('channel =', channel)
  const rows = await queryable.query(
    `SELECT * FROM channel_change WHERE ${conditions.text}
      ORDER BY at_ms DESC, sequence DESC LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return rows.map(changeForm.read)
}

/** Returns the number of the newest change; 0 where there is none. */
export async function newestChange(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT MAX(sequence) AS sequence FROM channel_change')
  return Number(row?.['sequence'] ?? 0)
}

/** Finds when an operator last switched the channel off. */
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
