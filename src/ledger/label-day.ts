/**
 * SQL of table label_day: which labels of an account count for themselves on a day. All others count as
 * `other`, so sums stay few, whatever clients invent. Places are taken in the transaction that books the
 * sums. Invariant: a label counts in one way all day, so what was booked can be recomputed.
 */
import type { Queryable } from '../storage/database.ts'
import type { SqliteConnection, Statement } from '../storage/sqlite/connection.ts'

/** Labels of an account that count for themselves on a day. PostgreSQL has it in count_labels. */
export const labelsPerDay = 200
/** A client that gives this label itself counts there too. */
export const otherLabel = 'other'

export interface LabelPlace {
  readonly accountId: string
  /** UTC. */
  readonly day: string
  /** As the request has given it, not empty. */
  readonly label: string
}

/** Takes places on SQLite, whose only writer is this connection. */
export class LabelPlaces {
  readonly #find: Statement
  readonly #take: Statement

  constructor(connection: SqliteConnection) {
    this.#find = connection.prepare(
      'SELECT 1 AS found FROM label_day WHERE account_id = $1 AND day = $2 AND label = $3',
    )
    this.#take = connection.prepare(
      `INSERT INTO label_day (account_id, day, label)
       SELECT $1, $2, $3
        WHERE (SELECT COUNT(*) FROM label_day WHERE account_id = $1 AND day = $2) < ${labelsPerDay}`,
    )
  }

  /** Returns the label under which it counts. */
  counted({ accountId, day, label }: LabelPlace): string {
    if (label === otherLabel || this.#find.first(accountId, day, label) !== undefined) return label
    return this.#take.run(accountId, day, label) > 0 ? label : otherLabel
  }
}

/** Returns the label under which a booked exchange was counted. */
export async function findCountedLabel(
  queryable: Queryable,
  { accountId, day, label }: LabelPlace,
): Promise<string> {
  if (label === '') return ''
  const rows = await queryable.query(
    'SELECT 1 AS found FROM label_day WHERE account_id = $1 AND day = $2 AND label = $3',
    [accountId, day, label],
  )
  return rows.length > 0 ? label : otherLabel
}

/** Says under which label an exchange of an account was counted. */
export type CountedLabels = (day: string, label: string) => string

/** Reads the places of an account from a day on. */
export async function readCountedLabels(
  queryable: Queryable,
  { accountId, fromDay }: { readonly accountId: string; readonly fromDay: string },
): Promise<CountedLabels> {
  const rows = await queryable.query(
    'SELECT day, label FROM label_day WHERE account_id = $1 AND day >= $2',
    [accountId, fromDay],
  )
  const places = new Set(rows.map((row) => `${String(row['day'])} ${String(row['label'])}`))
  return (day, label) => (label === '' || places.has(`${day} ${label}`) ? label : otherLabel)
}

/** Removes the places of an account before a day, whose exchanges are no longer kept. */
export async function removeLabelPlaces(
  database: Queryable,
  { accountId, beforeDay }: { readonly accountId: string; readonly beforeDay: string },
): Promise<void> {
  await database.query('DELETE FROM label_day WHERE account_id = $1 AND day < $2', [
    accountId,
    beforeDay,
  ])
}
