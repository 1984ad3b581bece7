/**
 * Papers of an account for its holder: a receipt for each credit, and a credit note for what a payment
 * service took back. A paper keeps the lines of the payer and the tax of the moment of its credit; what was
 * not known then is that of now. The operator's own details are public and in `/account/operator.json`.
 */
import { z } from 'zod'
import { formatUsd, picos, picosPerUsd, subtractPicos, type Picos } from '../../base/money.ts'
import { findPaidIn, listPaidIn, type PaidIn } from '../../ledger/entry-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { currency, moment, pageForm, usd } from '../answer-forms.ts'
import { timeText } from '../operation.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'
import { paymentReference } from '../payments/payment.ts'
import { holderRead } from './holder-read.ts'

const receiptForm = z.strictObject({
  /** Unique, grows with time, and leaves gaps; a credit note's begins with `C`. */
  number: z.string(),
  /** Of a credit note: the number of the receipt whose money it takes back. */
  reverses: z.string().nullable(),
  at: moment,
  currency,
  /** Below zero on a credit note. */
  amount: usd,
  /** The amount without the tax. */
  net: usd,
  /** In whole cents. */
  tax: usd,
  tax_percent: z.number(),
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
    const { id, name, contact, billTo } = account
    const beforeSequence = readSequence(cursor)
    const page = { accountId: id, beforeSequence, countMax: limit + 1 }
    const papers: Paper[] = []
    for (const entry of await listPaidIn(snapshot, page))
      papers.push({ entry, payment: await findPayment(snapshot, entry) })
    return pageOf(papers, {
      limit,
      cursorOf: ({ entry }) => String(entry.sequence),
      view({ entry, payment }) {
        const { amountPicos } = entry
        const kept = payment ?? entry
        const thousandths = kept.taxThousandths ?? taxThousandths
        const tax = includedTax(amountPicos, thousandths)
        return {
          number: numberOf(entry),
          reverses: payment !== undefined && amountPicos < 0n ? numberOf(payment) : null,
          at: timeText(entry.createdAtMs),
          currency: 'USD' as const,
          amount: formatUsd(amountPicos),
          net: formatUsd(subtractPicos(amountPicos, tax)),
          tax: formatUsd(tax),
          tax_percent: thousandths / 1_000,
          reference: entry.reference,
          account: { id, name, contact, bill_to: kept.billTo ?? billTo },
        }
      },
    })
  },
)

interface Paper {
  readonly entry: PaidIn
  /** The payment that it moves again. */
  readonly payment: PaidIn | undefined
}

async function findPayment(snapshot: Queryable, entry: PaidIn): Promise<PaidIn | undefined> {
  const reference = paymentReference(entry.reference)
  if (reference === undefined) return undefined
  return findPaidIn(snapshot, { accountId: entry.accountId, reference })
}

function numberOf({ sequence, amountPicos }: PaidIn): string {
  return `${amountPicos < 0n ? 'C' : 'R'}${sequence}`
}

const centPicos = picosPerUsd / 100n

/** Returns the tax in an amount that includes it, rounded to whole cents, half of one away from zero. */
function includedTax(amountPicos: Picos, taxThousandths: number): Picos {
  const rate = BigInt(taxThousandths)
  const divisor = (100_000n + rate) * centPicos
  const half = amountPicos < 0n ? -divisor : divisor
  return picos(((2n * amountPicos * rate + half) / (2n * divisor)) * centPicos)
}
