/**
 * SQL of tables code_batch and code. The invariants: a code is redeemed or revoked by one statement that
 * decides by the row as it is then, so only one of many gets it; nothing takes either back.
 */
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

const batchForm = rowForm({
  id: column.text,
  /** Of each code. */
  amountPicos: column.amount,
  codeCount: column.number,
  note: column.text,
  actor: column.text,
  createdAtMs: column.number,
  expiresAtMs: column.optional(column.number),
})
export type BatchRow = Read<typeof batchForm>

/** A batch, and how many of its codes are redeemed and revoked. */
export interface CountedBatch extends BatchRow {
  readonly redeemedCount: number
  readonly revokedCount: number
}

const codeForm = rowForm({
  id: column.text,
  batchId: column.text,
  head: column.text,
  /** That has redeemed it. */
  accountId: column.optional(column.text),
  redeemedAtMs: column.optional(column.number),
  revokedAtMs: column.optional(column.number),
})
export type CodeRow = Read<typeof codeForm>

export async function insertBatch(
  transaction: Transaction,
  batch: BatchRow,
  codes: readonly (Pick<CodeRow, 'id' | 'head'> & { readonly secretHash: string })[],
): Promise<void> {
  await insertRow(transaction, 'code_batch', batchForm.write(batch))
  for (const { secretHash, ...code } of codes) {
    const row = codeForm.write({ ...code, batchId: batch.id })
    await insertRow(transaction, 'code', { ...row, secret_hash: secretHash })
  }
}

/** Newest first; `beforeId` continues a list. */
export async function listBatches(
  queryable: Queryable,
  page: { readonly beforeId: string | undefined; readonly countMax: number },
): Promise<readonly CountedBatch[]> {
  const conditions = new Conditions()
  conditions.compare('id <', page.beforeId)
  const chosen = `SELECT * FROM code_batch WHERE ${conditions.text}
    ORDER BY id DESC LIMIT ${conditions.place(page.countMax)}`
  const rows = await queryable.query(
    `SELECT batch.*, ${counts} FROM (${chosen}) batch ORDER BY id DESC`,
    conditions.values,
  )
  return rows.map(readBatch)
}

export async function findBatch(
  queryable: Queryable,
  id: string,
): Promise<CountedBatch | undefined> {
  const [row] = await queryable.query(
    `SELECT batch.*, ${counts} FROM code_batch batch WHERE id = $1`,
    [id],
  )
  return row === undefined ? undefined : readBatch(row)
}

const counts = ['redeemed', 'revoked']
  .map(
    (state) =>
      `(SELECT COUNT(${state}_at_ms) FROM code WHERE batch_id = batch.id) AS ${state}_count`,
  )
  .join(', ')

function readBatch(row: Row): CountedBatch {
  return {
    ...batchForm.read(row),
    redeemedCount: Number(row['redeemed_count']),
    revokedCount: Number(row['revoked_count']),
  }
}

/** Lists the codes of a batch. */
export async function listCodes(
  queryable: Queryable,
  batchId: string,
  page: { readonly afterId: string; readonly countMax: number },
): Promise<readonly CodeRow[]> {
  const rows = await queryable.query(
    `SELECT ${codeForm.columns} FROM code WHERE batch_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    [batchId, page.afterId, page.countMax],
  )
  return rows.map(codeForm.read)
}

export async function findCode(queryable: Queryable, id: string): Promise<CodeRow | undefined> {
  const [row] = await queryable.query(`SELECT ${codeForm.columns} FROM code WHERE id = $1`, [id])
  return row === undefined ? undefined : codeForm.read(row)
}

export async function findCodeBySecretHash(
  queryable: Queryable,
  secretHash: string,
): Promise<CodeRow | undefined> {
  const sql = `SELECT ${codeForm.columns} FROM code WHERE secret_hash = $1`
  const [row] = await queryable.query(sql, [secretHash])
  return row === undefined ? undefined : codeForm.read(row)
}

/** Gives the code with this secret to the account; undefined where it cannot be redeemed any more. */
export async function takeCode(
  transaction: Transaction,
  {
    secretHash,
    accountId,
    atMs,
  }: { readonly secretHash: string; readonly accountId: string; readonly atMs: number },
): Promise<CodeRow | undefined> {
  const [row] = await transaction.query(
    `UPDATE code SET account_id = $2, redeemed_at_ms = $3
      WHERE secret_hash = $1 AND redeemed_at_ms IS NULL AND revoked_at_ms IS NULL
        AND batch_id IN (SELECT id FROM code_batch WHERE expires_at_ms IS NULL OR expires_at_ms > $3)
      RETURNING ${codeForm.columns}`,
    [secretHash, accountId, atMs],
  )
  return row === undefined ? undefined : codeForm.read(row)
}

/** Revokes the codes of a batch, or one code, that are not redeemed yet; returns how many. */
export async function revokeCodes(
  transaction: Transaction,
  which: Partial<Pick<CodeRow, 'id' | 'batchId'>>,
  atMs: number,
): Promise<number> {
  const conditions = new Conditions([atMs])
  conditions.compare('id =', which.id)
  conditions.compare('batch_id =', which.batchId)
  const revoked = await transaction.query(
    `UPDATE code SET revoked_at_ms = $1
      WHERE ${conditions.text} AND redeemed_at_ms IS NULL AND revoked_at_ms IS NULL RETURNING id`,
    conditions.values,
  )
  return revoked.length
}
