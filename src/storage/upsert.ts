/** Writes several rows of a table with one statement. Knows no table. */
import type { SqlValue, Transaction } from './database.ts'

export type NewRow = Readonly<Record<string, SqlValue>>

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
