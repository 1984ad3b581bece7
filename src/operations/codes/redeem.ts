/**
 * Redeems a top-up code: the statement that takes the code and the credit are one transaction, so a code is
 * money once, whatever crashes and on however many gateways it is tried. What is wrong with a code is said
 * only of one that exists.
 */
import { z } from 'zod'
import { hashSecret, parseSecret } from '../../access/key.ts'
import { invariant } from '../../base/errors.ts'
import { formatUsd } from '../../base/money.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { book } from '../accounts/credit.ts'
import { getAccount } from '../accounts/accounts.ts'
import { usd } from '../answer-forms.ts'
import {
  conflict,
  invalidField,
  notFound,
  operation,
  refusedAs,
  type OperationContext,
} from '../operation.ts'
import {
  findBatch,
  findCodeBySecretHash,
  takeCode,
  type CodeRow,
  type CountedBatch,
} from './code-store.ts'

const redeemedForm = z.strictObject({
  id: z.string().meta({ description: 'Of the code.' }),
  amount_usd: usd,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'This account had redeemed it before.' }),
})

export const topUpCode = z.string('must be a top-up code').max(200, 'must be a top-up code')

/** A code that the account itself has redeemed before answers as the first time. */
export const redeemCode = operation(
  { input: z.strictObject({ accountId: z.string(), code: topUpCode }), answer: redeemedForm },
  async (context, { accountId, code: text }) => {
    const { secretHash, forgive } = beginTry(context, text, accountId)
    return context.database.transact(async (transaction) => {
      await requireTaker(transaction, accountId)
      const { code, batch } = await getCode(transaction, secretHash)
      forgive()
      if (batch.amountPicos === 0n && code.accountId !== accountId)
        throw conflict('This code has no amount: it invites to sign up. It stays as it is.')
      const isTaken = await redeem(context, transaction, { accountId, secretHash })
      const { balancePicos } = await getAccount(transaction, accountId)
      return {
        id: code.id,
        amount_usd: formatUsd(batch.amountPicos),
        balance_usd: formatUsd(balancePicos),
        repeated: !isTaken,
      }
    })
  },
)

/** Counts a try of a code before it is looked up; `forgive` takes it back for one that exists. */
function beginTry(
  { codeTries, clock, address }: Omit<OperationContext, 'actor'>,
  text: string,
  accountId?: string,
) {
  const code = text.trim()
  if (parseSecret(code)?.kind !== 'code')
    throw invalidField('code', 'is incomplete or has a typing error; copy it whole, tc_ included')
  const trier = { accountId, address }
  const tooMany = codeTries?.begin(trier, clock.now())
  if (tooMany !== undefined) throw refusedAs(tooMany)
  return { secretHash: hashSecret(code), forgive: () => codeTries?.forgive(trier) }
}

async function getCode(queryable: Queryable, secretHash: string) {
  const code = await findCodeBySecretHash(queryable, secretHash)
  if (code === undefined) throw notFound('There is no such code. Check it, or ask for another one.')
  const batch = await findBatch(queryable, code.batchId)
  invariant(batch !== undefined, 'each code has a batch')
  return { code, batch }
}

/** Returns the hash of a code that a new account could redeem now. */
export async function checkCode(
  context: Omit<OperationContext, 'actor'>,
  text: string,
): Promise<string> {
  const { secretHash, forgive } = beginTry(context, text)
  const { code, batch } = await getCode(context.database, secretHash)
  forgive()
  const nowMs = context.clock.now()
  const hasEnded = code.redeemedAtMs !== undefined || code.revokedAtMs !== undefined
  if (hasEnded || (batch.expiresAtMs ?? nowMs + 1) <= nowMs) throw noLongerRedeemable(code, batch)
  return secretHash
}

async function requireTaker(transaction: Transaction, accountId: string): Promise<void> {
  const { status } = await getAccount(transaction, accountId)
  if (status !== 'active')
    throw conflict(`The account is ${status} and takes no codes. The code stays as it is.`)
}

/** Takes the code and books its amount, if it has one; false where the account has done it before. */
export async function redeem(
  context: OperationContext,
  transaction: Transaction,
  given: { readonly accountId: string; readonly secretHash: string },
): Promise<boolean> {
  const taken = await takeCode(transaction, { ...given, atMs: context.clock.now() })
  const { code, batch } = await getCode(transaction, given.secretHash)
  const { accountId } = given
  if (code.accountId !== accountId) throw noLongerRedeemable(code, batch)
  const { amountPicos } = batch
  const entry = { accountId, amountPicos, reference: `code:${code.id}` }
  if (amountPicos > 0n) await book(context, transaction, entry, { isConfirmed: true })
  return taken !== undefined
}

function noLongerRedeemable(code: CodeRow, { expiresAtMs }: CountedBatch): Error {
  if (code.redeemedAtMs !== undefined) return conflict('This code has been redeemed before.')
  if (code.revokedAtMs !== undefined) return conflict('This code has been revoked.')
  const day = new Date(expiresAtMs ?? 0).toISOString().slice(0, 16).replace('T', ' ')
  return conflict(`This code expired on ${day} UTC.`)
}
