/** The shape of a statement as one JSON document. */
import { z } from 'zod'
import { moment, usd } from '../answer-forms.ts'

const count = z.int().min(0)
const shown = z.number().meta({ description: 'For display; the exact amount is beside it.' })

const part = z.strictObject({
  model: z.string(),
  long_context: z.boolean(),
  factors: z.array(z.strictObject({ kind: z.string(), name: z.string(), factor: z.string() })),
  lines: z.array(
    z.strictObject({
      class: z.string(),
      count,
      price: usd.meta({ description: 'Of one token or one use.' }),
      amount: usd,
    }),
  ),
})

const exchange = z.strictObject({
  key_id: z.string(),
  key: z.string().meta({ description: 'Its name, or the beginning of its secret.' }),
  vendor: z.string(),
  model: z.string(),
  operation: z.string(),
  stream: z.boolean(),
  channel: z.string().nullable(),
  started_at: moment,
  outcome: z.string(),
  status: z.int(),
  attempts: count,
  input_tokens: count,
  output_tokens: count,
  cache_tokens: count,
  estimated: z.boolean(),
  marks: z.array(z.string()),
  calculation: z.string(),
  parts: z.array(part),
  fee: usd,
  multiplier: z.string(),
  at_most: usd.nullable(),
})

const entry = z.strictObject({
  sequence: z.int(),
  at: moment,
  kind: z.enum(['charge', 'credit', 'adjustment', 'refund']),
  amount_usd: shown,
  amount: usd.meta({ description: 'A charge is negative.' }),
  balance: usd.meta({ description: 'After this line.' }),
  reference: z.string(),
  request: z.string().nullable().meta({ description: 'That was charged or refunded.' }),
  note: z.string().nullable(),
  exchange: exchange.nullable().meta({
    description: 'Null for what operators booked, and where the request is no longer kept.',
  }),
})

export const statement = z.strictObject({
  account_id: z.string(),
  name: z.string(),
  from: moment.nullable().meta({ description: 'Null = from the beginning.' }),
  to: moment.nullable().meta({ description: 'Null = up to now.' }),
  explained_from: moment.nullable().meta({
    description: 'Charges before it have no details any more; null = all have.',
  }),
  opening_balance: usd,
  entries: z.array(entry),
  sum: usd.meta({ description: 'Of the lines.' }),
  closing_balance: usd,
  balance_usd: shown,
  totals: z.strictObject({
    requests: count,
    input_tokens: count,
    output_tokens: count,
    cache_tokens: count,
    unexplained: count.meta({ description: 'Charges whose tokens are not in the totals.' }),
    charged: usd.meta({ description: 'A positive amount.' }),
    booked_by_operators: usd,
    refunded: usd.meta({ description: 'The part of it that gives charges back.' }),
  }),
})
