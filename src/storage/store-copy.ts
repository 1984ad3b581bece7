/**
 * Copies the rows of one store into another, table by table, in pages, in one transaction of the new store:
 * everything arrives, or nothing does.
 */
import { invariant } from '../base/errors.ts'
import type { Queryable, Row, SqlValue, Transaction } from './database.ts'

/** Tables to copy, each after the tables that it refers to. */
const copiedTables = [
  'account',
  'key',
  'key_use',
  'member',
  'entry',
  'sealed_entry',
  'sealed_head',
  'signing_key',
  'seal_mark',
  'code_batch',
  'code',
  'payment',
  'exchange',
  'free_exchange',
  'usage_month',
  'usage_key_month',
  'report_day',
  'label_day',
  'report_moment',
  'vendor',
  'model',
  'price',
  'channel',
  'former_credential',
  'channel_health',
  'channel_change',
  'operator_action',
  'note',
  'reconciliation',
  'operator_cost',
  'exchange_cut',
  'answer_state',
  'unclean_stop',
  'alert_target',
  'alert',
  'alert_delivery',
  'limit_step',
  'ledger_audit',
] as const

/** Tables about running processes, or that are created anew. */
const skippedTables = [
  'schemaversion',
  'revision',
  'gateway_node',
  'channel_state',
  'node_lease',
  'channel_check',
  'channel_check_answer',
  'audit_checkpoint',
  'idempotency_key',
  'token_minute',
  'session',
  'sign_in_code',
  'member_session',
  'sign_in_link',
]

/** Has one partition per month on PostgreSQL. */
const partitionedTable: (typeof copiedTables)[number] = 'exchange'

const rowsPerPage = 500

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

export interface CopyOptions {
  /** SQLite, with its write lock taken, so that nothing changes. */
  readonly source: Queryable
  /** PostgreSQL, migrated. No other transaction writes meanwhile. */
  readonly target: Transaction
  /** Called when a page is written. */
  readonly onPage: (table: string, rows: number) => void
}

export async function copyTables({ source, target, onPage }: CopyOptions): Promise<CopiedTable[]> {
  await requireKnownTables(source)
  await makePartitions(source, target)
  const copied: CopiedTable[] = []
  for (const table of copiedTables) {
    const rows = await copyTable(table, { source, target, onPage })
    copied.push({ table, rows })
  }
  await continueNumbers(target)
  // Only this transaction sees the rows, so the server does not look at them by itself.
  await target.query(`ANALYZE ${copiedTables.join(', ')}`)
  return copied
}

/** Compares the number of rows of each table; returns the differences. */
export async function compareCounts(
  source: Queryable,
  target: Queryable,
): Promise<readonly string[]> {
  const there = await countRows(target)
  return (await countRows(source))
    .filter(({ rows }, index) => rows !== there[index]?.rows)
    .map(
      ({ table, rows }) => `${table}: the old store has ${rows} rows, the new one another number`,
    )
}

/** Whether all tables are empty, so that a copy mixes with nothing. */
export async function isEmpty(target: Queryable): Promise<boolean> {
  const counts = await countRows(target)
  return counts.every(({ rows }) => rows === 0)
}

async function countRows(store: Queryable): Promise<readonly CopiedTable[]> {
  const counts: CopiedTable[] = []
  for (const table of copiedTables) {
    const [row] = await store.query(`SELECT COUNT(*) AS rows FROM ${table}`)
    counts.push({ table, rows: Number(row?.['rows'] ?? 0) })
  }
  return counts
}

/** Fails for a table that is in neither list, so that a new table is not forgotten. */
async function requireKnownTables(source: Queryable): Promise<void> {
  const known: readonly string[] = [...copiedTables, ...skippedTables]
  const rows = await source.query(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  for (const row of rows)
    invariant(
      known.includes(String(row['name'])),
      `store copy knows what to do with table ${String(row['name'])}`,
    )
}

async function makePartitions(source: Queryable, target: Queryable): Promise<void> {
  const [row] = await source.query(
    `SELECT MIN(started_at_ms) AS first_ms, MAX(started_at_ms) AS last_ms FROM ${partitionedTable}`,
  )
  if (row === undefined || row['first_ms'] === null) return
  await target.query('SELECT ensure_exchange_partitions($1, $2) IS NULL AS made', [
    row['first_ms'] ?? null,
    row['last_ms'] ?? null,
  ])
}

async function copyTable(table: string, { source, target, onPage }: CopyOptions): Promise<number> {
  const { columns, keys } = await readColumns(source, table)
  let after: readonly SqlValue[] | undefined
  let count = 0
  for (;;) {
    const rows = await readPage(source, { table, columns, keys, after })
    const last = rows.at(-1)
    if (last === undefined) return count
    after = keys.map((key) => last[key] ?? null)
    count += rows.length
    await insertRows(target, { table, columns, rows })
    onPage(table, count)
  }
}

interface Columns {
  readonly columns: readonly string[]
  /** Columns of the primary key, in its order. */
  readonly keys: readonly string[]
}

async function readColumns(source: Queryable, table: string): Promise<Columns> {
  const rows = await source.query('SELECT name, pk FROM pragma_table_info($1) ORDER BY cid', [
    table,
  ])
  const keys = rows
    .filter((row) => row['pk'] !== 0n)
    .sort((left, right) => Number(left['pk']) - Number(right['pk']))
  invariant(keys.length > 0, 'every table that is copied has a primary key')
  return { columns: rows.map(nameOf), keys: keys.map(nameOf) }
}

interface Page extends Columns {
  readonly table: string
  readonly after: readonly SqlValue[] | undefined
}

function readPage(source: Queryable, { table, columns, keys, after }: Page): Promise<Row[]> {
  const key = `(${keys.join(', ')})`
  const places = keys.map((_, index) => `$${index + 1}`).join(', ')
  const where = after === undefined ? '' : `WHERE ${key} > (${places})`
  return source.query(
    `SELECT ${columns.join(', ')} FROM ${table} ${where} ORDER BY ${keys.join(', ')} LIMIT ${rowsPerPage}`,
    after ?? [],
  )
}

async function insertRows(
  transaction: Transaction,
  page: {
    readonly table: string
    readonly columns: readonly string[]
    readonly rows: readonly Row[]
  },
): Promise<void> {
  const columns = page.columns.join(', ')
  await transaction.query(
    `INSERT INTO ${page.table} (${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${columns} FROM json_populate_recordset(NULL::${page.table}, $1)`,
    [toJson(page.rows)],
  )
}

/** Rows were inserted with their numbers; sets the sequences above them. */
async function continueNumbers(transaction: Transaction): Promise<void> {
  const numbered = await transaction.query(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = current_schema() AND is_identity = 'YES'`,
  )
  for (const row of numbered) {
    const table = String(row['table_name'])
    const column = String(row['column_name'])
    await transaction.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), GREATEST(1, (SELECT MAX(${column}) FROM ${table})))`,
      [table, column],
    )
  }
}

/** Writes integers as text: JSON numbers end at 2^53, and the server converts text to the column's type. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'bigint' ? String(one) : one,
  )
}

function nameOf(row: Row): string {
  return String(row['name'])
}
