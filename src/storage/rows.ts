/** Writes rows of a table: what one statement inserts, overwrites or changes. Knows no table. */
import type { Queryable, Row, Transaction } from './database.ts'
import type { NewRow } from './row-form.ts'

/** Inserts a row. `rest` ends the statement: what to do where the key is taken, what to return. */
export function insertRow(
  queryable: Queryable,
  table: string,
  row: NewRow,
  rest = '',
): Promise<Row[]> {
  const places = Object.keys(row).map((_, index) => `$${index + 1}`)
  return queryable.query(
    `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')}) ${rest}`,
    Object.values(row),
  )
}

/** Sets these columns of the row with this id; none where `changes` has none. */
export async function updateRow(
  transaction: Transaction,
  table: string,
  id: string,
  changes: NewRow,
): Promise<void> {
  const columns = Object.keys(changes)
  if (columns.length === 0) return
  await transaction.query(
    `UPDATE ${table} SET ${columns.map((column, index) => `${column} = $${index + 2}`).join(', ')}
      WHERE id = $1`,
    [id, ...Object.values(changes)],
  )
}

export interface UpsertTable {
  readonly table: string
  readonly key: readonly string[]
  /** Columns that keep their value where the row is there already. */
  readonly kept?: readonly string[]
}

/** Inserts rows, or overwrites those with the same key. All have the same columns, and each another key. */
export async function upsertRows(
  transaction: Transaction,
  { table, key, kept = [] }: UpsertTable,
  rows: readonly NewRow[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const changed = columns.filter((column) => !key.includes(column) && !kept.includes(column))
  const places = rows.map(
    (_, row) =>
      `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
  )
  await transaction.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')}
     ON CONFLICT (${key.join(', ')})
     DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    rows.flatMap((row) => columns.map((column) => row[column] ?? null)),
  )
}
