/**
 * SQL of the credentials that channels had before their present ones, table former_credential: for a day an
 * operator can take one back. The invariant: a row holds what a channel's own row may hold, `env:NAME`,
 * `file:/path` or `sealed:…`, never a plain secret.
 */
import { dayMs } from '../base/clock.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { upsertRows } from '../storage/rows.ts'

const form = rowForm({
  channel: column.text,
  credential: column.text,
  /** Where the channel presented it. */
  url: column.text,
  replacedAtMs: column.number,
})
export type FormerCredential = Read<typeof form>

/** How long a credential can be taken back. */
export const keptMs = dayMs

/** One for each channel: the one that was in force before the present one. */
export async function saveFormerCredential(
  transaction: Transaction,
  former: FormerCredential,
): Promise<void> {
  await upsertRows(transaction, { table: 'former_credential', key: ['channel'] }, [
    form.write(former),
  ])
}

/** Undefined where there is none, or its time is over. */
export async function findFormerCredential(
  queryable: Queryable,
  { channel, nowMs }: { readonly channel: string; readonly nowMs: number },
): Promise<FormerCredential | undefined> {
  const [row] = await queryable.query(
    'SELECT * FROM former_credential WHERE channel = $1 AND replaced_at_ms > $2',
    [channel, nowMs - keptMs],
  )
  return row === undefined ? undefined : form.read(row)
}

export async function deleteFormerCredential(
  transaction: Transaction,
  channel: string,
): Promise<void> {
  await transaction.query('DELETE FROM former_credential WHERE channel = $1', [channel])
}

/** Deletes those whose time is over. */
export async function removeOldCredentials(transaction: Transaction, nowMs: number): Promise<void> {
  await transaction.query('DELETE FROM former_credential WHERE replaced_at_ms <= $1', [
    nowMs - keptMs,
  ])
}
