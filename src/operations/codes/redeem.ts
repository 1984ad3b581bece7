/**
 * Redeems a top-up code: the statement that takes the code and the credit are one transaction, so a code is
 * money once, whatever crashes and on however many gateways it is tried. What is wrong with a code is said
 * only of one that exists.
 */
import { z } from 'zod'
import { hashSecret, parseSecret } from '../../access/key.ts'
import { invariant } from '../../base/errors.ts'
import { formatUsd } from '../../base/money.ts'
import type { Transaction } from '../../storage/database.ts'
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

interface Given {
  readonly accountId: string
  readonly secretHash: string
}

/** A code that the account itself has redeemed before answers as the first time. */
export const redeemCode = operation(
  {
    input: z.strictObject({
      accountId: z.string(),
      code: z.string('must be a top-up code').max(200, 'must be a top-up code'),
    }),
    answer: redeemedForm,
  },
  async (context, { accountId, code: text }) => {
    const code = text.trim()
    if (parseSecret(code)?.kind !== 'code')
      throw invalidField('code', 'is incomplete or has a typing error; copy it whole, tc_ included')
    const trier = { accountId, address: context.address }
    const tooMany = context.codeTries?.begin(trier, context.clock.now())
    if (tooMany !== undefined) throw refusedAs(tooMany)
    const given = { accountId, secretHash: hashSecret(code) }
    return context.database.transact(async (transaction) => {
      await requireTaker(transaction, accountId)
      const taken = await takeCode(transaction, { ...given, atMs: context.clock.now() })
      const found = taken ?? (await findCodeBySecretHash(transaction, given.secretHash))
      if (found === undefined)
        throw notFound('There is no such code. Check it, or ask for another one.')
      context.codeTries?.forgive(trier)
      return redeem(context, transaction, { found, isTaken: taken !== undefined, accountId })
    })
  },
)

async function requireTaker(transaction: Transaction, accountId: string): Promise<void> {
  const { status } = await getAccount(transaction, accountId)
  if (status !== 'active')
    throw conflict(`The account is ${status} and takes no codes. The code stays as it is.`)
}

interface Taking extends Pick<Given, 'accountId'> {
  readonly found: CodeRow
  readonly isTaken: boolean
}

async function redeem(
  context: OperationContext,
  transaction: Transaction,
  { found, isTaken, accountId }: Taking,
) {
  const batch = await findBatch(transaction, found.batchId)
  invariant(batch !== undefined, 'each code has a batch')
  if (!isTaken && found.accountId !== accountId) throw noLongerRedeemable(found, batch)
  const { amountPicos } = batch
  const reference = `code:${found.id}`
  const entry = { accountId, amountPicos, reference }
  const { balancePicos } = await book(context, transaction, entry, { isConfirmed: true })
  return {
    id: found.id,
    amount_usd: formatUsd(amountPicos),
    balance_usd: formatUsd(balancePicos),
    repeated: !isTaken,
  }
}

function noLongerRedeemable(code: CodeRow, { expiresAtMs }: CountedBatch): Error {
  if (code.redeemedAtMs !== undefined) return conflict('This code has been redeemed before.')
  if (code.revokedAtMs !== undefined) return conflict('This code has been revoked.')
  const day = new Date(expiresAtMs ?? 0).toISOString().slice(0, 16).replace('T', ' ')
  return conflict(`This code expired on ${day} UTC.`)
}
