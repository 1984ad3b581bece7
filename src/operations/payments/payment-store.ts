/**
 * SQL of table payment: one row per payment of a payment service, kept for ever. Invariant: a row changes
 * in the transaction of the entries that follow from it, and only after `lockPayment`.
 */
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow, updateRow } from '../../storage/rows.ts'
import type { Payment } from './payment.ts'

/** Why a payment is not booked as it was made; `suspended`: its account lies below its line since. */
export type PaymentProblem = 'unknown_account' | 'foreign_currency' | 'not_bookable' | 'suspended'

const paymentForm = rowForm({
  id: column.text,
  account: column.optional(column.text),
  currency: column.text,
  paidCents: column.number,
  refundedCents: column.number,
  takenBackCents: column.number,
  disputes: column.json<Payment['disputes']>(),
  problem: column.optional(column.word<PaymentProblem>()),
  changedAtMs: column.number,
})
export type PaymentRow = Read<typeof paymentForm>

/** Returns what is known of a payment. Until the transaction ends, no other one changes it. */
export async function lockPayment(
  transaction: Transaction,
  { id, currency, atMs }: { readonly id: string; readonly currency: string; readonly atMs: number },
): Promise<PaymentRow> {
  const unknown = {
    id,
    account: undefined,
    currency,
    paidCents: 0,
    refundedCents: 0,
    takenBackCents: 0,
    disputes: {},
    problem: undefined,
    changedAtMs: atMs,
  }
  const [row] = await insertRow(
    transaction,
    'payment',
    paymentForm.write(unknown),
    `ON CONFLICT (id) DO UPDATE SET changed_at_ms = excluded.changed_at_ms RETURNING ${paymentForm.columns}`,
  )
  return row === undefined ? unknown : paymentForm.read(row)
}

export async function savePayment(
  transaction: Transaction,
  { id, ...payment }: PaymentRow,
): Promise<void> {
  await updateRow(transaction, 'payment', id, paymentForm.write(payment))
}

/** Lists payments with a problem, changed since a moment, newest first. */
export async function listProblems(
  queryable: Queryable,
  { sinceMs, countMax }: { readonly sinceMs: number; readonly countMax: number },
): Promise<readonly PaymentRow[]> {
  const rows = await queryable.query(
    `SELECT ${paymentForm.columns} FROM payment WHERE problem IS NOT NULL AND changed_at_ms >= $1
      ORDER BY changed_at_ms DESC, id LIMIT $2`,
    [sinceMs, countMax],
  )
  return rows.map(paymentForm.read)
}

export async function findPayment(
  queryable: Queryable,
  id: string,
): Promise<PaymentRow | undefined> {
  const sql = `SELECT ${paymentForm.columns} FROM payment WHERE id = $1`
  const [row] = await queryable.query(sql, [id])
  return row === undefined ? undefined : paymentForm.read(row)
}
