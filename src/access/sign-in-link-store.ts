/**
 * SQL of table sign_in_link. This file sees hashes and never the code of a link or what a browser keeps. One
 * statement decides whether a link is used, so that it works once, on any gateway.
 */
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow } from '../storage/rows.ts'

const linkForm = rowForm({
  codeHash: column.text,
  /** Of the value that the asking browser keeps. */
  browserHash: column.text,
  email: column.text,
  /** Of the address. */
  domain: column.text,
  expiresAtMs: column.number,
  /** Used, or replaced by a newer one. */
  endedAtMs: column.optional(column.number),
})
type SignInLink = Read<typeof linkForm>

/** Adds a link and ends the older ones of its address. Those that have expired go. */
export async function insertSignInLink(
  transaction: Transaction,
  link: Omit<SignInLink, 'endedAtMs'>,
  nowMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM sign_in_link WHERE expires_at_ms <= $1', [nowMs])
  await transaction.query(
    'UPDATE sign_in_link SET ended_at_ms = $2 WHERE email = $1 AND ended_at_ms IS NULL',
    [link.email, nowMs],
  )
  await insertRow(transaction, 'sign_in_link', linkForm.write(link))
}

/** Counts the links that were made within the life of one: for this address, and for its domain. */
export async function countSignInLinks(
  queryable: Queryable,
  { email, domain, nowMs }: Pick<SignInLink, 'email' | 'domain'> & { readonly nowMs: number },
): Promise<{ readonly ofEmail: number; readonly ofDomain: number }> {
  const [row] = await queryable.query(
    `SELECT COUNT(*) AS of_domain, COALESCE(SUM(CASE WHEN email = $2 THEN 1 ELSE 0 END), 0) AS of_email
       FROM sign_in_link WHERE domain = $1 AND expires_at_ms > $3`,
    [domain, email, nowMs],
  )
  return { ofEmail: Number(row?.['of_email'] ?? 0), ofDomain: Number(row?.['of_domain'] ?? 0) }
}

type Presented = Pick<SignInLink, 'codeHash' | 'browserHash'> & { readonly nowMs: number }

/** Returns the address of a link that still works for this browser. */
export async function findSignInLink(
  queryable: Queryable,
  { codeHash, browserHash, nowMs }: Presented,
): Promise<string | undefined> {
  const [row] = await queryable.query(
    `SELECT email FROM sign_in_link WHERE code_hash = $1 AND browser_hash = $2
       AND expires_at_ms > $3 AND ended_at_ms IS NULL`,
    [codeHash, browserHash, nowMs],
  )
  return row === undefined ? undefined : String(row['email'])
}

/** Uses a link up; false where it does not work any more. */
export async function takeSignInLink(
  transaction: Transaction,
  { codeHash, browserHash, nowMs }: Presented,
): Promise<boolean> {
  const taken = await transaction.query(
    `UPDATE sign_in_link SET ended_at_ms = $3 WHERE code_hash = $1 AND browser_hash = $2
       AND expires_at_ms > $3 AND ended_at_ms IS NULL RETURNING code_hash`,
    [codeHash, browserHash, nowMs],
  )
  return taken.length === 1
}
