/**
 * SQL of table member: the people who sign in for an account. Every read leaves out those who are removed,
 * but for their addresses in the log of actions.
 */
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow, updateRow } from '../storage/rows.ts'

/** Each may do what the one before may. */
export const memberRoles = ['member', 'owner'] as const
export type MemberRole = (typeof memberRoles)[number]

const memberForm = rowForm({
  id: column.text,
  accountId: column.text,
  /** In lower case. */
  email: column.text,
  role: column.word<MemberRole>(),
  createdAtMs: column.number,
  /** When the last invitation was mailed. */
  invitedAtMs: column.number,
  /** The last time; undefined = not yet. */
  signedInAtMs: column.optional(column.number),
  removedAtMs: column.optional(column.number),
})
export type Member = Read<typeof memberForm>

export async function insertMember(transaction: Transaction, member: Member): Promise<void> {
  await insertRow(transaction, 'member', memberForm.write(member))
}

export async function updateMember(
  transaction: Transaction,
  id: string,
  changes: Partial<Omit<Member, 'id' | 'accountId' | 'email'>>,
): Promise<void> {
  await updateRow(transaction, 'member', id, memberForm.write(changes))
}

export async function findMember(queryable: Queryable, id: string): Promise<Member | undefined> {
  const [row] = await queryable.query(
    'SELECT * FROM member WHERE id = $1 AND removed_at_ms IS NULL',
    [id],
  )
  return row === undefined ? undefined : memberForm.read(row)
}

/** Lists the members of an account, oldest first. There are few. */
export async function listMembers(
  queryable: Queryable,
  accountId: string,
): Promise<readonly Member[]> {
  const rows = await queryable.query(
    'SELECT * FROM member WHERE account_id = $1 AND removed_at_ms IS NULL ORDER BY id',
    [accountId],
  )
  return rows.map(memberForm.read)
}

/** Lists the members of all accounts with this address, oldest first. */
export async function listMembersByEmail(
  queryable: Queryable,
  email: string,
): Promise<readonly Member[]> {
  const rows = await queryable.query(
    'SELECT * FROM member WHERE email = $1 AND removed_at_ms IS NULL ORDER BY id',
    [email],
  )
  return rows.map(memberForm.read)
}

/** Lists the ids of all who are or were members of an account. */
export async function listMemberIds(
  queryable: Queryable,
  accountId: string,
): Promise<readonly string[]> {
  const rows = await queryable.query('SELECT id FROM member WHERE account_id = $1', [accountId])
  return rows.map((row) => String(row['id']))
}

/** Counts those who were invited to the account since, the removed ones too. */
export async function countInvited(
  queryable: Queryable,
  { accountId, sinceMs }: { readonly accountId: string; readonly sinceMs: number },
): Promise<number> {
  const [row] = await queryable.query(
    'SELECT COUNT(*) AS members FROM member WHERE account_id = $1 AND invited_at_ms > $2',
    [accountId, sinceMs],
  )
  return Number(row?.['members'] ?? 0)
}

/** Reads the addresses of these members by id, of the removed ones too. */
export async function findMemberEmails(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const places = wanted.map((_, index) => `$${index + 1}`).join(', ')
  const rows = await queryable.query(`SELECT id, email FROM member WHERE id IN (${places})`, wanted)
  return new Map(rows.map((row) => [String(row['id']), String(row['email'])]))
}
