/**
 * The form of a statement as one JSON document. Amounts are exact decimal text in USD; fields that end in
 * `_usd` are numbers for display.
 */
import { z } from 'zod'
import { count, moment, usd, type Answer } from '../answer-forms.ts'
import { billForm } from './bill.ts'
import { lineProofForm, statementProofForm } from './proof-form.ts'

const shown = z.number().meta({ description: 'For display; the exact amount is beside it.' })

const exchange = z.strictObject({
  key_id: z.string(),
  key: z.string().meta({ description: 'Its name, or the beginning of its secret.' }),
  vendor: z.string(),
  model: z.string(),
  operation: z.string(),
  stream: z.boolean(),
  /** For operators only; account holders do not see it. */
  channel: z.string().nullable(),
  started_at: moment,
  /** How it ended. */
  outcome: z.string(),
  status: z.int(),
  attempts: count,
  /** As the vendor reports them, and as `/v1/usage` adds them up. */
  input_tokens: count,
  output_tokens: count,
  cache_tokens: count,
  estimated: z.boolean(),
  marks: z.array(z.string()),
  ...billForm.shape,
})

const entry = z.strictObject({
  sequence: z.int(),
  at: moment,
  kind: z.enum(['charge', 'credit', 'adjustment', 'refund']),
  amount_usd: shown,
  amount: usd.meta({ description: 'A charge is negative.' }),
  balance: usd.meta({ description: 'After this line.' }),
  /** For a charge: the id of its exchange. */
  reference: z.string(),
  request: z.string().nullable().meta({ description: 'That was charged or refunded.' }),
  note: z.string().nullable(),
  proof: lineProofForm.nullable().meta({ description: 'Null until its hour is sealed.' }),
  exchange: exchange.nullable().meta({
    description: 'Null for what operators booked, and where the request is no longer kept.',
  }),
})

export const statementForm = z.strictObject({
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
  /** The balance now. */
  balance_usd: shown,
  totals: z.strictObject({
    /** Charged ones. */
    requests: count,
    input_tokens: count,
    output_tokens: count,
    cache_tokens: count,
    unexplained: count.meta({ description: 'Charges whose tokens are not in the totals.' }),
    charged: usd.meta({ description: 'A positive amount.' }),
    booked_by_operators: usd,
    refunded: usd.meta({ description: 'The part of it that gives charges back.' }),
  }),
  proof: statementProofForm.nullable().meta({
    description: 'Null where only the last charges were asked for.',
  }),
})

type Statement = Answer<typeof statementForm>

export type StatementEnd = Pick<
  Statement,
  'sum' | 'closing_balance' | 'balance_usd' | 'totals' | 'proof'
>
export type StatementHead = Omit<Statement, 'entries' | keyof StatementEnd>
export type StatementLine = Statement['entries'][number]
export type StatedExchange = NonNullable<StatementLine['exchange']>
