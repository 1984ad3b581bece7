/**
 * Books credits and corrections of operators: once per reference, with a question before an amount that
 * is probably a mistake. Only functions of the ledger move money.
 */
import { InvariantError } from '../../base/errors.ts'
import { formatUsd } from '../../base/money.ts'
import {
  credit,
  largestCreditBefore,
  type CreditRequest,
  type CreditResult,
  type Entry,
} from '../../ledger/entry-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { amountUsdMax } from '../input.ts'
import {
  confirmationRequired,
  conflict,
  invalidField,
  timeText,
  type OperationContext,
} from '../operation.ts'

type Booked = Extract<CreditResult, { kind: 'booked' | 'repeated' }>

/**
 * Books a credit, or takes money back with a negative amount, once per reference. Throws
 * `operations.confirmation_required` for an amount that is probably a mistake and is not confirmed: it
 * makes the balance negative, or is more than a hundred times the account's largest earlier credit.
 */
export async function book(
  context: OperationContext,
  transaction: Transaction,
  entry: Omit<CreditRequest, 'kind' | 'atMs' | 'taxThousandths'>,
  { isConfirmed }: { readonly isConfirmed: boolean },
): Promise<Booked> {
  const kind = entry.amountPicos > 0n ? 'credit' : 'adjustment'
  const { clock, taxThousandths } = context
  const request: CreditRequest = { ...entry, kind, atMs: clock.now(), taxThousandths }
  const result = await credit(transaction, request)
  switch (result.kind) {
    case 'repeated':
      return result
    case 'booked':
      if (!isConfirmed) await requireUsual(transaction, result)
      await recordAction(transaction, context, {
        action: 'account.credit',
        subject: entry.accountId,
        detail: { amount_usd: formatUsd(entry.amountPicos), reference: entry.reference },
      })
      return result
    case 'conflict':
      throw conflict(
        `The reference ${entry.reference} is in use for ${describeOther(result.entry, request)} ` +
          'Nothing was booked. Use a new reference.',
      )
    case 'invalid':
      throw invalidCredit(result.reason)
    case 'unknown_account':
      throw new InvariantError('account not found while it was credited')
  }
}

const usualFactorMax = 100n

/** The transaction rolls back the entry. */
async function requireUsual(
  transaction: Transaction,
  { entry, balancePicos }: Booked,
): Promise<void> {
  if (entry.amountPicos < 0n) {
    if (balancePicos >= 0n) return
    throw confirmationRequired(`This would make the balance ${formatUsd(balancePicos)} USD.`)
  }
  const largest = await largestCreditBefore(transaction, entry)
  if (largest === undefined || entry.amountPicos <= usualFactorMax * largest) return
  throw confirmationRequired(
    `This is more than ${usualFactorMax} times the largest credit of the account so far, ` +
      `${formatUsd(largest)} USD.`,
  )
}

/** Describes the entry that has the reference, by its difference to the request. */
function describeOther(entry: Entry, request: CreditRequest): string {
  const at = timeText(entry.createdAtMs)
  if (entry.amountPicos !== request.amountPicos)
    return `another entry of this account: ${formatUsd(entry.amountPicos)} USD on ${at}.`
  const before = entry.note === undefined ? 'without a note' : `with the note "${entry.note}"`
  const now = request.note === undefined ? 'no note' : `the note "${request.note}"`
  return `the same amount ${before}, booked on ${at}; this request has ${now}.`
}

function invalidCredit(reason: Extract<CreditResult, { kind: 'invalid' }>['reason']): Error {
  switch (reason) {
    case 'amount_sign':
      return invalidField('amount_usd', 'must not be 0')
    case 'balance_out_of_range':
      return invalidField(
        'amount_usd',
        `the balance must stay between -${amountUsdMax} and ${amountUsdMax} USD`,
      )
    case 'reference':
      return invalidField(
        'reference',
        'must not begin with ex_ or refund:ex_, the prefixes of charges and refunds',
      )
  }
}
