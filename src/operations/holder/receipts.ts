/**
 * Receipts of the credits of an account, for its holder: what was paid, and the tax that is in it by the
 * operator's setting. The operator's own details are public and in `/account/operator.json`.
 */
import { z } from 'zod'
import { formatUsd, picos, picosPerUsd, subtractPicos, type Picos } from '../../base/money.ts'
import { listCredits } from '../../ledger/entry-store.ts'
import { currency, moment, pageForm, usd } from '../answer-forms.ts'
import { timeText } from '../operation.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'
import { holderRead } from './holder-read.ts'

const receiptForm = z.strictObject({
  /** Unique, grows with time, and leaves gaps. */
  number: z.string(),
  at: moment,
  currency,
  amount: usd,
  /** The amount without the tax. */
  net: usd,
  /** In whole cents. */
  tax: usd,
  reference: z.string(),
  account: z.strictObject({
    id: z.string(),
    name: z.string(),
    contact: z.string(),
    bill_to: z.string(),
  }),
})

/** Newest first. */
export const holderReceipts = holderRead(
  { input: z.strictObject(pageFields), answer: pageForm(receiptForm) },
  async ({ snapshot, account, taxThousandths, input: { cursor, limit } }) => {
    const { id, name, contact, billTo: bill_to } = account
    const beforeSequence = readSequence(cursor)
    const credits = await listCredits(snapshot, {
      accountId: id,
      beforeSequence,
      countMax: limit + 1,
    })
    return pageOf(credits, {
      limit,
      cursorOf: ({ sequence }) => String(sequence),
      view({ sequence, createdAtMs, amountPicos, reference }) {
        const tax = includedTax(amountPicos, taxThousandths)
        return {
          number: `R${sequence}`,
          at: timeText(createdAtMs),
          currency: 'USD' as const,
          amount: formatUsd(amountPicos),
          net: formatUsd(subtractPicos(amountPicos, tax)),
          tax: formatUsd(tax),
          reference,
          account: { id, name, contact, bill_to },
        }
      },
    })
  },
)

const centPicos = picosPerUsd / 100n

/** Returns the tax in an amount that includes it, rounded to whole cents, half of one up. */
function includedTax(amountPicos: Picos, taxThousandths: number): Picos {
  const rate = BigInt(taxThousandths)
  const divisor = (100_000n + rate) * centPicos
  return picos(((2n * amountPicos * rate + divisor) / (2n * divisor)) * centPicos)
}
