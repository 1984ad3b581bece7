/**
 * The results of each gateway for a check that an operator requested (table channel_check_answer). A gateway
 * writes its answer again after each model, so that a slow model does not hide the others.
 */
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm } from '../../storage/row-form.ts'
import { upsertRows } from '../../storage/rows.ts'
import type { Outcome } from '../health/health-event.ts'

export interface CheckedModel {
  readonly model: string
  readonly outcome: Outcome
  /** HTTP status; null without an answer. */
  readonly status: number | null
  readonly durationMs: number
}

export interface CheckAnswer {
  readonly node: string
  /** No further model follows. */
  readonly isComplete: boolean
  /** Why this gateway cannot use the channel. */
  readonly reason: string | undefined
  readonly models: readonly CheckedModel[]
}

const answerForm = rowForm({
  node: column.text,
  isComplete: column.flag,
  /** Written by this version or a neighbouring one. */
  detail: column.json<{
    readonly reason?: string | undefined
    readonly models: readonly CheckedModel[]
  }>(),
})
const table = { table: 'channel_check_answer', key: ['check_id', 'node'] }

export async function saveCheckAnswer(
  transaction: Transaction,
  checkId: string,
  { node, isComplete, atMs, ...detail }: CheckAnswer & { readonly atMs: number },
): Promise<void> {
  const row = answerForm.write({ node, isComplete, detail })
  await upsertRows(transaction, table, [{ check_id: checkId, at_ms: atMs, ...row }])
}

export async function listCheckAnswers(
  queryable: Queryable,
  checkId: string,
): Promise<readonly CheckAnswer[]> {
  const rows = await queryable.query(
    `SELECT ${answerForm.columns} FROM channel_check_answer WHERE check_id = $1`,
    [checkId],
  )
  return rows.map((row) => {
    const { detail, ...answer } = answerForm.read(row)
    return { ...answer, reason: detail.reason, models: detail.models }
  })
}

export async function removeCheckAnswers(
  transaction: Transaction,
  beforeMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM channel_check_answer WHERE at_ms < $1', [beforeMs])
}
