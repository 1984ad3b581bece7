/** The conditions of payments: those that could not be booked, and accounts that owe what was taken back. */
import { dayMs } from '../../base/clock.ts'
import { formatUsd } from '../../base/money.ts'
import { findAccount } from '../../ledger/account-store.ts'
import { listProblems, type PaymentProblem, type PaymentRow } from '../payments/payment-store.ts'
import type { Finding } from './alert-kind.ts'
import { applyObservation, type RaiseOptions } from './raise.ts'

/** Later a payment is no news any more; the comparison with Stripe's export still finds it. */
const newMs = 14 * dayMs
const paymentsMax = 200

export async function watchPayments(options: RaiseOptions, nowMs: number): Promise<void> {
  const { database } = options
  const rows = await listProblems(database, { sinceMs: nowMs - newMs, countMax: paymentsMax })
  const findings: Finding[] = []
  for (const row of rows) {
    if (row.problem === undefined) continue
    if (row.problem !== 'suspended') {
      findings.push(notBooked(row, row.problem))
      continue
    }
    const account = await findAccount(database, row.account ?? '')
    if (account?.status !== 'suspended') continue
    const balance = formatUsd(account.balancePicos)
    findings.push({
      kind: 'account.money_taken_back',
      subject: account.id,
      accountId: account.id,
      title: `${account.name} is suspended: a payment was taken back`,
      text:
        `A refund or a dispute of the payment ${row.id} has left ${account.name} with ${balance} USD, which is ` +
        'below its line. Settle it with the customer, then resume the account.',
      command: `turnpike account resume ${account.name}`,
      facts: { account: account.name, payment: row.id, balance_usd: balance },
    })
  }
  const kinds = ['payment.not_booked', 'account.money_taken_back'] as const
  await applyObservation(options, { kinds, findings: [...onePerSubject(findings)] }, nowMs)
}

/** An account may have several payments that were taken back. */
function onePerSubject(findings: readonly Finding[]): Iterable<Finding> {
  return new Map(findings.map((finding) => [finding.subject, finding])).values()
}

const reasons: Readonly<Record<Exclude<PaymentProblem, 'suspended'>, string>> = {
  unknown_account: 'It names no account of this gateway.',
  foreign_currency: 'It is not in USD.',
  not_bookable:
    'The ledger refuses it: its reference is in use, or the balance would be too large.',
}

function notBooked(
  { id, paidCents, currency }: PaymentRow,
  problem: keyof typeof reasons,
): Finding {
  const amount = `${(paidCents / 100).toFixed(2)} ${currency.toUpperCase()}`
  return {
    kind: 'payment.not_booked',
    subject: id,
    title: `The payment ${id} is not booked`,
    text:
      `Stripe has received ${amount}. ${reasons[problem]} Book it by hand for the right account, with the ` +
      `reference stripe:${id}, or give it back at Stripe.`,
    command: `turnpike account credit NAME USD --reference stripe:${id}`,
    facts: { payment: id, amount, reason: problem },
  }
}
