/**
 * SQL of table sign_in_link: links that sign in, or make an account. This file sees hashes and never the code
 * of a link or what a browser keeps. One statement decides whether a link is used, so that it works once, on
 * any gateway.
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
  /** It makes an account where the address is not that of a member. */
  isSignUp: column.flag,
  /** Of the top-up code that the new account redeems. */
  invitationHash: column.optional(column.text),
})
export type SignInLink = Read<typeof linkForm>

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

/**
 * Counts the links that were made within the life of one: for this address, for its domain, and of all who
 * sign up. Links that sign up count apart for a domain: strangers then keep no member from signing in.
 */
export async function countSignInLinks(
  queryable: Queryable,
  link: Pick<SignInLink, 'email' | 'domain' | 'isSignUp'> & { readonly nowMs: number },
): Promise<{ readonly ofEmail: number; readonly ofDomain: number; readonly ofSignUps: number }> {
  const sum = (condition: string): string =>
    `COALESCE(SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`
  const [row] = await queryable.query(
    `SELECT ${sum('email = $2')} AS of_email, ${sum('domain = $1 AND is_sign_up = $4')} AS of_domain,
            ${sum('is_sign_up = 1')} AS of_sign_ups
       FROM sign_in_link WHERE (domain = $1 OR is_sign_up = 1) AND expires_at_ms > $3`,
    [link.domain, link.email, link.nowMs, link.isSignUp ? 1 : 0],
  )
  const read = (name: string): number => Number(row?.[name] ?? 0)
  return { ofEmail: read('of_email'), ofDomain: read('of_domain'), ofSignUps: read('of_sign_ups') }
}

type Presented = Pick<SignInLink, 'codeHash' | 'browserHash'> & { readonly nowMs: number }

/** Returns a link that still works for this browser. */
export async function findSignInLink(
  queryable: Queryable,
  { codeHash, browserHash, nowMs }: Presented,
): Promise<SignInLink | undefined> {
  const [row] = await queryable.query(
    `SELECT * FROM sign_in_link WHERE code_hash = $1 AND browser_hash = $2
       AND expires_at_ms > $3 AND ended_at_ms IS NULL`,
    [codeHash, browserHash, nowMs],
  )
  return row === undefined ? undefined : linkForm.read(row)
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
