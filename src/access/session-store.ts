/**
 * SQL of sessions and sign-in codes. This file sees hashes and never the secret of a cookie or a link. One
 * statement decides whether a code is used, so that it works once, on any gateway.
 */
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow } from '../storage/rows.ts'

const sessionForm = rowForm({
  idHash: column.text,
  /** The admin token, or the member, whose rights it has. */
  ownerId: column.text,
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

/** The sessions of one kind of owner, which have a table of their own. */
export class SessionStore {
  readonly #table: string
  readonly #columns: string
  readonly #owner: string

  constructor(table: 'session' | 'member_session', owner: 'token_id' | 'member_id') {
    this.#table = table
    this.#owner = owner
    this.#columns = `id_hash, ${owner} AS owner_id, created_at_ms, last_used_at_ms, expires_at_ms`
  }

  async insert(transaction: Transaction, session: SessionRow): Promise<void> {
    const { owner_id: ownerId = null, ...row } = sessionForm.write(session)
    await insertRow(transaction, this.#table, { ...row, [this.#owner]: ownerId })
  }

  async find(queryable: Queryable, idHash: string): Promise<SessionRow | undefined> {
    const sql = `SELECT ${this.#columns} FROM ${this.#table} WHERE id_hash = $1`
    const [row] = await queryable.query(sql, [idHash])
    return row === undefined ? undefined : sessionForm.read(row)
  }

  /** Notes a use. An older time changes nothing. */
  async noteUse(
    transaction: Transaction,
    { idHash, atMs }: { readonly idHash: string; readonly atMs: number },
  ): Promise<void> {
    await transaction.query(
      `UPDATE ${this.#table} SET last_used_at_ms = $2 WHERE id_hash = $1 AND last_used_at_ms < $2`,
      [idHash, atMs],
    )
  }

  /** Lists the sessions of an owner that are not over, newest first. */
  async list(
    queryable: Queryable,
    ownerId: string,
    { nowMs, usedSinceMs }: Ages,
  ): Promise<readonly SessionRow[]> {
    const rows = await queryable.query(
      `SELECT ${this.#columns} FROM ${this.#table}
        WHERE ${this.#owner} = $1 AND expires_at_ms > $2 AND last_used_at_ms > $3
        ORDER BY created_at_ms DESC, id_hash`,
      [ownerId, nowMs, usedSinceMs],
    )
    return rows.map(sessionForm.read)
  }

  async delete(transaction: Transaction, idHash: string): Promise<void> {
    await transaction.query(`DELETE FROM ${this.#table} WHERE id_hash = $1`, [idHash])
  }

  async deleteOf(transaction: Transaction, ownerId: string): Promise<void> {
    await transaction.query(`DELETE FROM ${this.#table} WHERE ${this.#owner} = $1`, [ownerId])
  }

  /** Deletes sessions of all owners that are over. */
  async deleteEnded(transaction: Transaction, { nowMs, usedSinceMs }: Ages): Promise<void> {
    await transaction.query(
      `DELETE FROM ${this.#table} WHERE expires_at_ms <= $1 OR last_used_at_ms <= $2`,
      [nowMs, usedSinceMs],
    )
  }

  /** Deletes the oldest sessions of an owner beyond `countMax`. */
  async deleteOldest(
    transaction: Transaction,
    { ownerId, countMax }: { readonly ownerId: string; readonly countMax: number },
  ): Promise<void> {
    await transaction.query(
      `DELETE FROM ${this.#table} WHERE ${this.#owner} = $1 AND id_hash NOT IN (
         SELECT id_hash FROM ${this.#table} WHERE ${this.#owner} = $1
         ORDER BY created_at_ms DESC, id_hash LIMIT $2)`,
      [ownerId, countMax],
    )
  }
}

/** Of operators in the console. */
export const operatorSessions = new SessionStore('session', 'token_id')

/** Of members on the account page. */
export const memberSessions = new SessionStore('member_session', 'member_id')

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
