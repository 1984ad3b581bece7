/**
 * SQL of table reconciliation: comparisons with files of a vendor, and who accepted their results. The newest
 * ones are kept.
 */
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

/** Of each file its name, empty where it has none, and its SHA-256. */
type RunFile = Readonly<Record<'name' | 'sha256', string>>

const runForm = rowForm({
  id: column.text,
  atMs: column.number,
  actor: column.text,
  /** A channel's name, or `all`. */
  channel: column.text,
  fromMs: column.number,
  /** Exclusive. */
  toMs: column.number,
  files: column.json<readonly RunFile[]>(),
  /** Undefined where no file names a cost. */
  vendorPicos: column.optional(column.amount),
  expectedPicos: column.amount,
  note: column.text,
  acceptedBy: column.optional(column.text),
  acceptedAtMs: column.optional(column.number),
})
export type KeptRun = Read<typeof runForm>

const keptMax = 1_000

/** Removes the oldest ones beyond those that are kept. */
export async function insertRun(transaction: Transaction, run: KeptRun): Promise<void> {
  await insertRow(transaction, 'reconciliation', runForm.write(run))
  await transaction.query(
    `DELETE FROM reconciliation WHERE id <=
       (SELECT id FROM reconciliation ORDER BY id DESC LIMIT 1 OFFSET $1)`,
    [keptMax],
  )
}

/** Returns undefined where no such run is kept. */
export async function saveAcceptance(
  transaction: Transaction,
  id: string,
  accepted: { readonly by: string; readonly atMs: number; readonly note: string | undefined },
): Promise<KeptRun | undefined> {
  const [row] = await transaction.query(
    `UPDATE reconciliation SET accepted_by = $2, accepted_at_ms = $3, note = COALESCE($4, note)
      WHERE id = $1 RETURNING *`,
    [id, accepted.by, accepted.atMs, accepted.note ?? null],
  )
  return row === undefined ? undefined : readRun(row)
}

/** Lists the runs, newest first; `beforeId` continues a list. */
export async function listRuns(
  queryable: Queryable,
  question: {
    readonly channel: string | undefined
    readonly beforeId: string | undefined
    readonly countMax: number
  },
): Promise<KeptRun[]> {
  const conditions = new Conditions()
  conditions.compare('channel =', question.channel)
  conditions.compare('id <', question.beforeId)
  const rows = await queryable.query(
    `SELECT * FROM reconciliation WHERE ${conditions.text}
      ORDER BY id DESC LIMIT ${conditions.place(question.countMax)}`,
    conditions.values,
  )
  return rows.map(readRun)
}

function readRun(row: Row): KeptRun {
  return runForm.read(row)
}
