/**
 * SQL of table limit_step: the highest share of a limit that its period has seen. Invariant: it never falls
 * within a period while the limit stays as it is, so of several nodes one writes each step.
 */
import type { Queryable, Transaction } from '../../storage/database.ts'
import { Conditions } from '../../storage/conditions.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'

const stepForm = rowForm({
  accountId: column.text,
  limitOf: column.word<'day' | 'month'>(),
  /** A UTC day or month. */
  period: column.text,
  limitPicos: column.amount,
  /** Per cent. */
  step: column.number,
})
export type LimitStep = Read<typeof stepForm>

/** The limit is reached. */
export const limitReachedStep = 100

/** Returns false where this step or a higher one is known already. */
export async function saveStep(transaction: Transaction, step: LimitStep): Promise<boolean> {
  const rest = `ON CONFLICT (account_id, limit_of) DO UPDATE SET
      period = excluded.period, limit_picos = excluded.limit_picos, step = excluded.step
    WHERE excluded.period > limit_step.period OR (excluded.period = limit_step.period
      AND (excluded.limit_picos <> limit_step.limit_picos OR excluded.step > limit_step.step))
    RETURNING step`
  const saved = await insertRow(transaction, 'limit_step', stepForm.write(step), rest)
  return saved.length > 0
}

/** Returns those of the steps that are not known. */
export async function withoutKnown<Step extends LimitStep>(
  queryable: Queryable,
  steps: readonly Step[],
): Promise<readonly Step[]> {
  if (steps.length === 0) return []
  const conditions = new Conditions()
  conditions.add(`account_id IN (${conditions.placesOf(steps.map(({ accountId }) => accountId))})`)
  const rows = await queryable.query(
    `SELECT * FROM limit_step WHERE ${conditions.text}`,
    conditions.values,
  )
  const known = rows.map(stepForm.read)
  return steps.filter(
    (step) =>
      !known.some(
        (one) =>
          one.accountId === step.accountId &&
          one.limitOf === step.limitOf &&
          one.period === step.period &&
          one.limitPicos === step.limitPicos &&
          one.step >= step.step,
      ),
  )
}
