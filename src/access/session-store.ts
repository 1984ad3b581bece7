/**
 * SQL of sessions and sign-in codes. This file sees hashes and never the secret of a cookie or a link. One
 * statement decides whether a code is used, so that it works once, on any gateway.
 */
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow } from '../storage/rows.ts'

const sessionForm = rowForm({
  idHash: column.text,
  /** The admin token whose rights it has. */
  tokenId: column.text,
  createdAtMs: column.number,
  /** By a person, up to a minute late. */
  lastUsedAtMs: column.number,
  expiresAtMs: column.number,
})
export type SessionRow = Read<typeof sessionForm>

const codeForm = rowForm({
  codeHash: column.text,
  tokenId: column.text,
  expiresAtMs: column.number,
})

/** Which sessions are over. */
interface Ages {
  readonly nowMs: number
  /** A session that was last used before is over. */
  readonly usedSinceMs: number
}

export async function insertSession(transaction: Transaction, session: SessionRow): Promise<void> {
  await insertRow(transaction, 'session', sessionForm.write(session))
}

export async function findSessionRow(
  queryable: Queryable,
  idHash: string,
): Promise<SessionRow | undefined> {
  const [row] = await queryable.query('SELECT * FROM session WHERE id_hash = $1', [idHash])
  return row === undefined ? undefined : sessionForm.read(row)
}

/** Notes a use. An older time changes nothing. */
export async function noteSessionUse(
  transaction: Transaction,
  { idHash, atMs }: { readonly idHash: string; readonly atMs: number },
): Promise<void> {
  await transaction.query(
    'UPDATE session SET last_used_at_ms = $2 WHERE id_hash = $1 AND last_used_at_ms < $2',
    [idHash, atMs],
  )
}

/** Lists the sessions of a token that are not over, newest first. */
export async function listSessionRows(
  queryable: Queryable,
  tokenId: string,
  { nowMs, usedSinceMs }: Ages,
): Promise<readonly SessionRow[]> {
  const rows = await queryable.query(
    `SELECT * FROM session WHERE token_id = $1 AND expires_at_ms > $2 AND last_used_at_ms > $3
     ORDER BY created_at_ms DESC, id_hash`,
    [tokenId, nowMs, usedSinceMs],
  )
  return rows.map(sessionForm.read)
}

export async function deleteSession(transaction: Transaction, idHash: string): Promise<void> {
  await transaction.query('DELETE FROM session WHERE id_hash = $1', [idHash])
}

export async function deleteSessionsOf(transaction: Transaction, tokenId: string): Promise<void> {
  await transaction.query('DELETE FROM session WHERE token_id = $1', [tokenId])
}

/** Deletes sessions of all tokens that are over. */
export async function deleteEndedSessions(
  transaction: Transaction,
  { nowMs, usedSinceMs }: Ages,
): Promise<void> {
  await transaction.query(
    'DELETE FROM session WHERE expires_at_ms <= $1 OR last_used_at_ms <= $2',
    [nowMs, usedSinceMs],
  )
}

/** Deletes the oldest sessions of a token beyond `countMax`. */
export async function deleteOldestSessions(
  transaction: Transaction,
  { tokenId, countMax }: { readonly tokenId: string; readonly countMax: number },
): Promise<void> {
  await transaction.query(
    `DELETE FROM session WHERE token_id = $1 AND id_hash NOT IN (
       SELECT id_hash FROM session WHERE token_id = $1
       ORDER BY created_at_ms DESC, id_hash LIMIT $2)`,
    [tokenId, countMax],
  )
}

/** Adds a code, and deletes those that have expired. */
export async function insertSignInCode(
  transaction: Transaction,
  code: Read<typeof codeForm>,
  nowMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM sign_in_code WHERE expires_at_ms <= $1', [nowMs])
  await insertRow(transaction, 'sign_in_code', codeForm.write(code))
}

/** Uses a code up and returns its token; undefined where it is unknown, used or expired. */
export async function takeSignInCode(
  transaction: Transaction,
  { codeHash, nowMs }: { readonly codeHash: string; readonly nowMs: number },
): Promise<string | undefined> {
  const [row] = await transaction.query(
    'DELETE FROM sign_in_code WHERE code_hash = $1 AND expires_at_ms > $2 RETURNING token_id',
    [codeHash, nowMs],
  )
  return row === undefined ? undefined : String(row['token_id'])
}
