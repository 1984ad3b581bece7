/**
 * The results of each gateway for a check that an operator requested (table channel_check_answer). A gateway
 * writes its answer again after each model, so that a slow model does not hide the others.
 */
import type { Queryable, Transaction } from '../../storage/database.ts'
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

export async function saveCheckAnswer(
  transaction: Transaction,
  checkId: string,
  { node, isComplete, atMs, ...detail }: CheckAnswer & { readonly atMs: number },
): Promise<void> {
  await transaction.query(
    `INSERT INTO channel_check_answer (check_id, node, at_ms, is_complete, detail)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (check_id, node) DO UPDATE
       SET at_ms = excluded.at_ms, is_complete = excluded.is_complete, detail = excluded.detail`,
    [checkId, node, atMs, isComplete ? 1 : 0, JSON.stringify(detail)],
  )
}

export async function listCheckAnswers(
  queryable: Queryable,
  checkId: string,
): Promise<readonly CheckAnswer[]> {
  const rows = await queryable.query(
    'SELECT node, is_complete, detail FROM channel_check_answer WHERE check_id = $1',
    [checkId],
  )
  return rows.map((row) => {
    // Written by `saveCheckAnswer` of this version or a neighbouring one.
    const detail = JSON.parse(String(row['detail'])) as Pick<CheckAnswer, 'models'> & {
      readonly reason?: string
    }
    return {
      node: String(row['node']),
      isComplete: Number(row['is_complete']) === 1,
      reason: detail.reason,
      models: detail.models,
    }
  })
}

export async function removeCheckAnswers(
  transaction: Transaction,
  beforeMs: number,
): Promise<void> {
  await transaction.query('DELETE FROM channel_check_answer WHERE at_ms < $1', [beforeMs])
}
