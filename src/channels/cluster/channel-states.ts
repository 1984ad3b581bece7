/**
 * The live states of channels as each running gateway publishes them (table channel_state), for
 * operators and other nodes. Invariant: an unchanged state is not written again because two clocks
 * differ by a millisecond.
 */
import type { HealthLine } from '../health/health-line.ts'
import { batchesOf } from '../../base/turns.ts'
import { eachRow, type Queryable, type Row, type Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow, upsertRows } from '../../storage/rows.ts'
import type { HealthPlace } from '../health/health-place.ts'

export interface PublishedState {
  readonly node: string
  readonly line: HealthLine
  /** Store time of the last time it was published as different from before. */
  readonly publishedAtMs: number
}

const clockToleranceMs = 1_000

/** `line` with the times of `before` where they mean the same moment. */
export function steady(line: HealthLine, before: HealthLine | undefined): HealthLine {
  return {
    ...line,
    sinceMs: sameMoment(line.sinceMs, before?.sinceMs) ?? 0,
    wakeAtMs: sameMoment(line.wakeAtMs, before?.wakeAtMs),
    restUntilMs: sameMoment(line.restUntilMs, before?.restUntilMs),
    lastOkAtMs: sameMoment(line.lastOkAtMs, before?.lastOkAtMs),
    firstEventMs: roundedTimes(line.firstEventMs),
    usualFirstEventMs: roundedTimes(line.usualFirstEventMs),
    failures: line.failures.map((failure) => {
      const known = before?.failures.find(({ outcome }) => outcome === failure.outcome)
      return { ...failure, lastAtMs: sameMoment(failure.lastAtMs, known?.lastAtMs) ?? 0 }
    }),
  }
}

function sameMoment(atMs: number | undefined, knownMs: number | undefined): number | undefined {
  if (atMs === undefined) return undefined
  const isKnown = knownMs !== undefined && Math.abs(atMs - knownMs) < clockToleranceMs
  return isKnown ? knownMs : Math.round(atMs)
}

function roundedTimes(times: HealthLine['firstEventMs']): HealthLine['firstEventMs'] {
  return times === undefined
    ? undefined
    : { p50: Math.round(times.p50), p95: Math.round(times.p95) }
}

/** Whether two lines show one state; numbers that move with every request are published less often. */
export function isSameState(left: HealthLine, right: HealthLine): boolean {
  return (
    left.mode === right.mode &&
    left.why === right.why &&
    left.sinceMs === right.sinceMs &&
    left.isUsable === right.isUsable &&
    left.isUsageRefused === right.isUsageRefused &&
    left.ignoredLimits?.join() === right.ignoredLimits?.join() &&
    (left.countRatio === undefined) === (right.countRatio === undefined) &&
    left.restUntilMs === right.restUntilMs
  )
}

const lineForm = rowForm({
  channel: column.text,
  model: column.text,
  mode: column.word<HealthLine['mode']>(),
  why: column.text,
  sinceMs: column.number,
})

const table = { table: 'channel_state', key: ['node', 'channel', 'model'] }
const rowsPerStatement = 100

export async function publishStates(
  transaction: Transaction,
  states: Iterable<PublishedState>,
): Promise<void> {
  for (const batch of batchesOf(states, rowsPerStatement))
    await upsertRows(transaction, table, batch.map(rowOf))
}

function rowOf({ node, line, publishedAtMs }: PublishedState) {
  const { channel, model, mode, why, sinceMs, ...rest } = line
  const columns = lineForm.write({ channel, model, mode, why, sinceMs })
  return { node, ...columns, published_at_ms: publishedAtMs, detail: JSON.stringify(rest) }
}

/** Withdraws one place of a node, or all that a node has published. */
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

/** Lists the states of these nodes, by node, channel and model. */
export async function listStates(
  queryable: Queryable,
  nodes: Iterable<string>,
): Promise<readonly PublishedState[]> {
  const states: PublishedState[] = []
  for (const node of nodes) {
    const rows = eachRow(rowsPerStatement, (last) =>
      queryable.query(
        `SELECT node, channel, model, mode, why, since_ms, published_at_ms, detail
           FROM channel_state WHERE node = $1 AND (channel, model) > ($2, $3)
          ORDER BY channel, model LIMIT ${rowsPerStatement}`,
        [node, last?.['channel'] ?? '', last?.['model'] ?? ''],
      ),
    )
    for await (const row of rows) states.push(readState(row))
  }
  return states
}

function readState(row: Row): PublishedState {
  // Written by `publishStates`.
  const rest = JSON.parse(String(row['detail'])) as Omit<HealthLine, keyof Read<typeof lineForm>>
  return {
    node: String(row['node']),
    publishedAtMs: Number(row['published_at_ms']),
    line: { ...rest, ...lineForm.read(row) },
  }
}

const offForm = rowForm({
  node: column.text,
  channel: column.text,
  model: column.text,
  sinceMs: column.number,
})
export type PublishedOff = Read<typeof offForm>

/** Lists the places that other nodes have switched off. */
export async function listOffElsewhere(
  queryable: Queryable,
  node: string,
): Promise<readonly PublishedOff[]> {
  const rows = await queryable.query(
    `SELECT ${offForm.columns} FROM channel_state
     WHERE mode = 'off' AND node <> $1 ORDER BY node, channel, model`,
    [node],
  )
  return rows.map(offForm.read)
}

/** The task of making the regular checks: one node at a time has the lease on it. */
export const checkTask = 'channel_checks'

/** A check of a channel that an operator has requested (table channel_check). */
export type CheckRequest = Read<typeof requestForm>
const requestForm = rowForm({ id: column.text, channel: column.text })

export async function requestCheck(
  transaction: Transaction,
  request: CheckRequest & { readonly askedAtMs: number },
): Promise<void> {
  const asked = { asked_at_ms: request.askedAtMs }
  await insertRow(transaction, 'channel_check', { ...requestForm.write(request), ...asked })
}

export async function listCheckRequests(
  queryable: Queryable,
  sinceMs: number,
): Promise<readonly CheckRequest[]> {
  const rows = await queryable.query(
    'SELECT id, channel FROM channel_check WHERE asked_at_ms >= $1 ORDER BY id',
    [sinceMs],
  )
  return rows.map(requestForm.read)
}

export async function removeCheckRequests(
  transaction: Transaction,
  beforeMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM channel_check WHERE asked_at_ms < $1', [beforeMs])
}
