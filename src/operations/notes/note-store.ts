/** SQL of table note: what operators note about an account, a key or a channel. Nothing changes a note. */
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

export const noteKinds = ['account', 'key', 'channel'] as const
type NoteKind = (typeof noteKinds)[number]

const noteForm = rowForm({
  id: column.text,
  kind: column.word<NoteKind>(),
  /** The id of the account or key, the name of the channel. */
  subject: column.text,
  text: column.text,
  actor: column.text,
  createdAtMs: column.number,
})
export type Note = Read<typeof noteForm>

export async function insertNote(transaction: Transaction, note: Note): Promise<void> {
  await insertRow(transaction, 'note', noteForm.write(note))
}

/** Lists the notes about one thing, newest first; `beforeId` continues a list. */
export async function listNotes(
  queryable: Queryable,
  question: Pick<Note, 'kind' | 'subject'> & {
    readonly beforeId: string | undefined
    readonly countMax: number
  },
): Promise<Note[]> {
  const conditions = new Conditions()
  conditions.compare('kind =', question.kind)
  conditions.compare('subject =', question.subject)
  conditions.compare('id <', question.beforeId)
  const rows = await queryable.query(
    `SELECT * FROM note WHERE ${conditions.text}
      ORDER BY id DESC LIMIT ${conditions.place(question.countMax)}`,
    conditions.values,
  )
  return rows.map(noteForm.read)
}

export async function countNotes(
  queryable: Queryable,
  { kind, subject }: Pick<Note, 'kind' | 'subject'>,
): Promise<number> {
  const [row] = await queryable.query(
    'SELECT COUNT(*) AS notes FROM note WHERE kind = $1 AND subject = $2',
    [kind, subject],
  )
  return Number(row?.['notes'] ?? 0)
}

/** Returns the note that it has deleted. */
export async function deleteNote(transaction: Transaction, id: string): Promise<Note | undefined> {
  const [row] = await transaction.query('DELETE FROM note WHERE id = $1 RETURNING *', [id])
  return row === undefined ? undefined : noteForm.read(row)
}
