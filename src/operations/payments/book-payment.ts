/**
 * Books what a payment service tells, in one transaction with what is known of the payment. It never refuses
 * a fact for its content: what cannot be booked is recorded with its problem, which raises an alert.
 */
import { formatUsd } from '../../base/money.ts'
import { findAccount, type Account } from '../../ledger/account-store.ts'
import { credit } from '../../ledger/entry-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { changeAccountStatus } from '../accounts/accounts.ts'
import { recordAction } from '../actions.ts'
import type { OperationContext } from '../operation.ts'
import { entriesOf, learn, type DueEntry, type PaymentFact } from './payment.ts'
import { lockPayment, savePayment, type PaymentProblem, type PaymentRow } from './payment-store.ts'

/** Returns the payment as it is known now. The same fact again changes nothing. */
export function bookPayment(context: OperationContext, fact: PaymentFact): Promise<PaymentRow> {
  const atMs = context.clock.now()
  return context.database.transact(async (transaction) => {
    const { payment: id, currency } = fact
    const before = await lockPayment(transaction, { id, currency, atMs })
    const known = { ...before, ...learn(before, fact), changedAtMs: atMs }
    const booked = await bookEntries(context, transaction, known)
    await savePayment(transaction, booked)
    return booked
  })
}

async function bookEntries(
  context: OperationContext,
  transaction: Transaction,
  payment: PaymentRow,
): Promise<PaymentRow> {
  const entries = entriesOf(payment)
  if (entries.length === 0) return payment
  if (payment.currency !== 'usd') return { ...payment, problem: 'foreign_currency' }
  const account =
    payment.account === undefined ? undefined : await findAccount(transaction, payment.account)
  if (account === undefined) return { ...payment, problem: 'unknown_account' }
  let problem: PaymentProblem | undefined
  for (const entry of entries)
    if (!(await bookEntry(context, transaction, { account, entry }))) problem = 'not_bookable'
  if (problem !== undefined) return { ...payment, problem }
  const isSuspended = await suspendBelowLine(context, transaction, payment)
  return {
    ...payment,
    takenBackCents: payment.refundedCents,
    problem: isSuspended ? 'suspended' : undefined,
  }
}

/** Returns false where the ledger refuses it: its reference is in use, or the sum is too large. */
async function bookEntry(
  context: OperationContext,
  transaction: Transaction,
  { account, entry }: { readonly account: Account; readonly entry: DueEntry },
): Promise<boolean> {
  const { clock, taxThousandths } = context
  const request = { ...entry, accountId: account.id, atMs: clock.now(), taxThousandths }
  const result = await credit(transaction, request)
  if (result.kind === 'booked')
    await recordAction(transaction, context, {
      action: 'account.credit',
      subject: account.id,
      detail: { amount_usd: formatUsd(entry.amountPicos), reference: entry.reference },
    })
  return result.kind === 'booked' || result.kind === 'repeated'
}

/** Whether the account is suspended because money was taken back; one that has money again stays so. */
async function suspendBelowLine(
  context: OperationContext,
  transaction: Transaction,
  { id, account: accountId = '', problem, ...payment }: PaymentRow,
): Promise<boolean> {
  const wasTaken = entriesOf({ id, account: accountId, ...payment }).length > 1
  const account = await findAccount(transaction, accountId)
  if (!wasTaken || account === undefined) return false
  const isBelow = account.balancePicos + account.creditLinePicos < 0n
  if (isBelow && account.status === 'active')
    await changeAccountStatus(context, transaction, { account, status: 'suspended' })
  return isBelow || problem === 'suspended'
}
