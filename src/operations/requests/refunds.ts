/**
 * Refunds: gives back a charge, whole or in part, once. A change and its line in the operators' log are one
 * transaction. Only functions of the ledger move money.
 */
import { z } from 'zod'
import { InvariantError } from '../../base/errors.ts'
import { formatUsd } from '../../base/money.ts'
import { findAccount } from '../../ledger/account-store.ts'
import type { CreditResult, Entry } from '../../ledger/entry-store.ts'
import { findBilledExchanges, refund, type BilledExchange } from '../../ledger/refund-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { moment, usd, type Answer } from '../answer-forms.ts'
import { amountUsdMax, note, refundUsd, requestReference } from '../input.ts'
import {
  conflict,
  invalidField,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from '../operation.ts'

const refundInput = z.strictObject({
  request: requestReference,
  amount_usd: refundUsd
    .optional()
    .describe('A part of the charge, in USD; the whole charge by default.'),
  reason: note.optional().describe('A text that the statement shows.'),
})

const refundForm = z.strictObject({
  request_id: z.string(),
  account_id: z.string(),
  account: z.string().meta({ description: 'Name of the account.' }),
  charge_usd: usd,
  amount_usd: usd,
  reason: z.string().nullable(),
  refunded_at: moment,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'True where this refund was booked before.' }),
})

export type Refunded = Answer<typeof refundForm>

/** Gives back the whole charge where no amount is given. Suspended and closed accounts get it, too. */
export const refundRequest = operation(
  { input: refundInput, answer: refundForm },
  (context, { request, amount_usd: given, reason }) =>
    context.database.transact(async (transaction) => {
      const exchange = await getBilled(transaction, request)
      const { exchangeId, accountId, chargePicos } = exchange
      if (chargePicos === 0n)
        throw conflict(`The request ${exchangeId} was not charged. There is nothing to refund.`)
      const amountPicos = given ?? chargePicos
      if (amountPicos > chargePicos)
        throw invalidField(
          'amount_usd',
          `must be at most the charge of the request, ${formatUsd(chargePicos)} USD`,
        )
      const atMs = context.clock.now()
      const result = await refund(transaction, { exchange, amountPicos, reason, atMs })
      const { entry, balancePicos } = requireDone(result, exchange)
      const account = await findAccount(transaction, accountId)
      if (account === undefined) throw new InvariantError('account not found after its refund')
      const refunded = {
        request_id: exchangeId,
        account_id: accountId,
        account: account.name,
        charge_usd: formatUsd(chargePicos),
        amount_usd: formatUsd(amountPicos),
        reason: entry.note ?? null,
        refunded_at: timeText(entry.createdAtMs),
        balance_usd: formatUsd(balancePicos),
        repeated: result.kind === 'repeated',
      }
      if (!refunded.repeated) await recordRefund(context, transaction, refunded)
      return refunded
    }),
)

async function getBilled(transaction: Transaction, id: string): Promise<BilledExchange> {
  const [exchange, ...others] = await findBilledExchanges(transaction, id)
  if (exchange === undefined)
    throw notFound(
      `There is no record of a charged request ${id}. Records are kept for request_retention. To give back ` +
        'an older charge, use: turnpike account credit NAME USD --reference REF',
    )
  if (others.length === 0) return exchange
  const ids = [exchange, ...others].map(({ exchangeId }) => exchangeId)
  throw conflict(
    `Several requests have the vendor's id ${id}: ${ids.join(', ')}. Name one of them by this id.`,
  )
}

type Booked = Extract<CreditResult, { kind: 'booked' | 'repeated' }>

function requireDone(result: CreditResult, { exchangeId }: BilledExchange): Booked {
  switch (result.kind) {
    case 'booked':
    case 'repeated':
      return result
    case 'conflict':
      throw conflict(
        `${describeRefund(result.entry)} of the request ${exchangeId}. A request is refunded once; ` +
          'nothing was booked.',
      )
    case 'invalid':
      throw conflict(
        `With this refund the balance would be above ${amountUsdMax} USD. Nothing was booked.`,
      )
    case 'unknown_account':
      throw new InvariantError('account not found while a request was refunded')
  }
}

function describeRefund({ amountPicos, createdAtMs, note: reason }: Entry): string {
  const because = reason === undefined ? 'without a reason' : `with the reason "${reason}"`
  const amount = `${formatUsd(amountPicos)} USD`
  return `An operator gave back ${amount} on ${timeText(createdAtMs)}, ${because},`
}

async function recordRefund(
  context: OperationContext,
  transaction: Transaction,
  { account_id: subject, request_id, charge_usd, amount_usd, reason }: Refunded,
): Promise<void> {
  const detail = { request_id, charge_usd, amount_usd, reason }
  await recordAction(transaction, context, { action: 'account.refund', subject, detail })
}
