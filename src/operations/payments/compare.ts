/**
 * Puts an export of Stripe beside the ledger: each payment with what moved at Stripe and what the ledger has
 * of it. It reads the itemized balance report as CSV, and changes nothing.
 */
import { parse } from 'csv-parse/sync'
import { z } from 'zod'
import {
  addPicos,
  formatUsd,
  parseUsd,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../../base/money.ts'
import { listPaymentEntries } from '../../ledger/entry-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { count, usd } from '../answer-forms.ts'
import { invalidField, operation } from '../operation.ts'
import { findPayment, type PaymentRow } from './payment-store.ts'

const columns = ['payment_intent_id', 'reporting_category', 'currency', 'gross'] as const

/** What moves the money of a payment; fees and payouts do not. */
const categories = new Set([
  'charge',
  'charge_failure',
  'refund',
  'refund_failure',
  'partial_capture_reversal',
  'dispute',
  'dispute_reversal',
])

const comparedForm = z.strictObject({
  payments: count.meta({ description: 'In the file.' }),
  equal: count,
  stripe_usd: usd,
  ledger_usd: usd,
  /** Those that are not equal, at most a thousand. */
  differences: z.array(
    z.strictObject({
      payment: z.string(),
      account: z.string().nullable().meta({ description: 'That the payment names.' }),
      finding: z.enum(['missing', 'differs', 'foreign_currency']),
      stripe_usd: usd.nullable().meta({ description: 'Null in another currency.' }),
      ledger_usd: usd,
    }),
  ),
})

const differencesMax = 1_000

export const comparePayments = operation(
  {
    input: z.strictObject({
      text: z
        .string('must be the text of a file')
        .describe('The itemized balance report of Stripe, as CSV.'),
    }),
    answer: comparedForm,
  },
  ({ database }, { text }) => {
    const moved = readMoved(text)
    return database.snapshot(async (snapshot) => {
      const known = await findPayments(snapshot, [...moved.keys()])
      const booked = await sumBooked(snapshot)
      const lines = [...moved].map(([payment, atStripe]) => ({
        payment,
        account: known.get(payment)?.account ?? null,
        atStripe,
        inLedger: booked.get(payment),
      }))
      return viewLines(lines)
    })
  },
)

type Known = ReadonlyMap<string, PaymentRow>

async function findPayments(snapshot: Queryable, ids: readonly string[]): Promise<Known> {
  const known = new Map<string, PaymentRow>()
  for (const id of ids) {
    const payment = await findPayment(snapshot, id)
    if (payment !== undefined) known.set(id, payment)
  }
  return known
}

/** Sums the entries of each payment, those that an operator has booked under its reference too. */
async function sumBooked(snapshot: Queryable): Promise<ReadonlyMap<string, Picos>> {
  const sums = new Map<string, Picos>()
  for (const { reference, amountPicos } of await listPaymentEntries(snapshot)) {
    const [, payment = ''] = reference.split(':')
    sums.set(payment, addPicos(sums.get(payment) ?? zeroPicos, amountPicos))
  }
  return sums
}

interface Line {
  readonly payment: string
  readonly account: string | null
  /** Undefined in another currency. */
  readonly atStripe: Picos | undefined
  readonly inLedger: Picos | undefined
}

function viewLines(lines: readonly Line[]): z.output<typeof comparedForm> {
  const sum = (amounts: readonly (Picos | undefined)[]): string =>
    formatUsd(amounts.reduce<Picos>((all, one) => addPicos(all, one ?? zeroPicos), zeroPicos))
  const others = lines.filter(
    ({ atStripe, inLedger }) => findingOf({ atStripe, inLedger }) !== 'equal',
  )
  return {
    payments: lines.length,
    equal: lines.length - others.length,
    stripe_usd: sum(lines.map(({ atStripe }) => atStripe)),
    ledger_usd: sum(lines.map(({ inLedger }) => inLedger)),
    differences: others.slice(0, differencesMax).flatMap((line) => {
      const finding = findingOf(line)
      if (finding === 'equal') return []
      const { payment, account, atStripe, inLedger = zeroPicos } = line
      return [
        {
          payment,
          account,
          finding,
          stripe_usd: atStripe === undefined ? null : formatUsd(atStripe),
          ledger_usd: formatUsd(inLedger),
        },
      ]
    }),
  }
}

function findingOf({ atStripe, inLedger }: Pick<Line, 'atStripe' | 'inLedger'>) {
  if (atStripe === undefined) return 'foreign_currency'
  if (subtractPicos(atStripe, inLedger ?? zeroPicos) === 0n) return 'equal'
  return inLedger === undefined ? 'missing' : 'differs'
}

/** Returns what moved of each payment; undefined where a line is in another currency. */
function readMoved(text: string): ReadonlyMap<string, Picos | undefined> {
  const moved = new Map<string, Picos | undefined>()
  for (const [index, row] of readRows(text).entries()) {
    const { payment_intent_id: payment = '', reporting_category: category = '' } = row
    if (payment === '' || !categories.has(category)) continue
    const gross = parseUsd((row['gross'] ?? '').trim())
    if (gross === undefined) throw invalidField('text', `row ${index + 1} has no amount in gross`)
    const before = moved.has(payment) ? moved.get(payment) : zeroPicos
    const isUsd = row['currency']?.toLowerCase() === 'usd' && before !== undefined
    moved.set(payment, isUsd ? addPicos(before, gross) : undefined)
  }
  return moved
}

function readRows(text: string): readonly Readonly<Partial<Record<string, string>>>[] {
  let rows: readonly Record<string, string>[]
  try {
    rows = parse<Record<string, string>>(text, { bom: true, columns: true, skip_empty_lines: true })
  } catch {
    // The library names bytes and lines of a file that may be anything.
    throw invalidField('text', 'is not a CSV file with a heading')
  }
  const missing = columns.filter((name) => rows[0] !== undefined && !(name in rows[0]))
  if (rows.length === 0 || missing.length > 0)
    throw invalidField(
      'text',
      `must be the itemized balance report, with the columns ${columns.join(', ')}`,
    )
  return rows
}
