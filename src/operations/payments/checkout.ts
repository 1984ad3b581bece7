/**
 * Begins a payment: Stripe makes a page for the amount, and the browser goes there. Nothing is booked until
 * Stripe tells that it was paid (book-payment.ts), whatever the browser does.
 */
import { z } from 'zod'
import { refuse } from '../../base/errors.ts'
import { picosPerUsd } from '../../base/money.ts'
import { getAccount } from '../accounts/accounts.ts'
import { codeUsd as amountUsd } from '../input.ts'
import { conflict, invalidField, operation, refusedAs } from '../operation.ts'

const unavailable = refuse(
  'payments.unavailable',
  'The payment service does not answer. Nothing was paid. Try again shortly.',
  { 'retry-after': '10' },
)

const centPicos = picosPerUsd / 100n

export const beginCheckout = operation(
  {
    input: z.strictObject({
      accountId: z.string(),
      amount_usd: amountUsd.describe('The amount, in whole cents.'),
    }),
    answer: z.strictObject({
      url: z.string().meta({ description: 'The page of Stripe where the amount is paid.' }),
    }),
  },
  async ({ checkout, database }, { accountId, amount_usd: amountPicos }) => {
    if (checkout === undefined)
      throw conflict('This gateway takes no payments. Ask the operator for a top-up.')
    const { leastUsd, mostUsd, returnUrl } = checkout
    const amountCents = Number(amountPicos / centPicos)
    const isWhole = amountPicos % centPicos === 0n
    if (!isWhole || amountCents < leastUsd * 100 || amountCents > mostUsd * 100)
      throw invalidField('amount_usd', `must be whole cents from ${leastUsd} to ${mostUsd} USD`)
    const { status } = await getAccount(database, accountId)
    if (status === 'closed') throw conflict('The account is closed and takes no payments.')
    try {
      return { url: await checkout.create({ accountId, amountCents, returnUrl }) }
    } catch (error) {
      checkout.onError(error)
      throw refusedAs(unavailable)
    }
  },
)
