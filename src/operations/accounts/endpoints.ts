/** Endpoints of accounts and their credits. */
import { z } from 'zod'
import { listAccounts, showAccount } from './account-list.ts'
import { changeAccount, createAccount, creditAccount } from './accounts.ts'
import { printStatement } from '../reports/statement-text.ts'
import { accountUsage } from '../reports/usage.ts'
import { endpoints, rowOf, type StreamEndpoint } from '../endpoint.ts'
import { statement } from '../reports/statement-answer.ts'
import { moment, pageOf, usd } from '../answer-forms.ts'

const account = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended', 'closed']),
  balance_usd: usd,
  limits: z.strictObject({
    daily_usd: usd.meta({ description: '0 = no limit.' }),
    rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
    window_minutes: z.int(),
    tpm: z.int().meta({ description: 'Tokens per minute; 0 = no limit.' }),
    price_multiplier: z.number().meta({ description: 'Factor on list prices.' }),
  }),
  note: z.string(),
  contact: z.string().meta({ description: 'E-mail address for alerts; empty = none.' }),
  alert_below_usd: usd.meta({ description: 'A lower balance raises an alert; 0 = none does.' }),
  external_id: z.string().nullable().meta({ description: "The operator's own id; unique." }),
  metadata: z.record(z.string(), z.string()),
  created_at: moment,
  closed_at: moment.nullable(),
})

const day = z.iso.date()

const listed = account.extend({
  held_usd: usd.nullable().meta({
    description: 'What running requests reserve; null where no gateway answers.',
  }),
  available_usd: usd.nullable().meta({ description: 'Balance less holds.' }),
  spend: z
    .strictObject({
      from: day,
      to: day,
      today_usd: usd,
      total_usd: usd.meta({ description: 'Of all days from `from` to `to`.' }),
      by_day_usd: z.array(usd).readonly().meta({
        description: 'One amount for each day, oldest first.',
      }),
    })
    .meta({ description: 'Charges less refunds of the last 30 days (UTC), by day of the charge.' }),
})

const credited = z.strictObject({
  account_id: z.string(),
  reference: z.string(),
  amount_usd: usd,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'True where this credit was booked before.' }),
})

const modelUsage = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: usd,
}

const usage = z.strictObject({
  balance_usd: usd,
  currency: z.literal('USD'),
  period: z.enum(['day', 'month', 'total']),
  limits: z.strictObject({
    daily_usd: usd,
    daily_used_usd: usd,
    window_minutes: z.int(),
    rpm: z.int(),
  }),
  usage: z.strictObject({ ...modelUsage, cache_tokens: z.int() }),
  by_model: z.array(z.strictObject({ model: z.string(), ...modelUsage })),
})

export const accountEndpoints = endpoints('accounts', {
  list: {
    route: 'GET /accounts',
    summary: 'List accounts with their spend of the last 30 days.',
    operation: listAccounts,
    answer: pageOf(listed),
    example: { sort: 'balance', order: 'asc', limit: 20 },
  },
  create: {
    route: 'POST /accounts',
    summary: 'Create an account.',
    operation: createAccount,
    answer: account,
    repeats: 'money',
    status: 201,
    example: { name: 'new-customer', balance_usd: '25', rpm: 60 },
  },
  show: {
    route: 'GET /accounts/{account}',
    summary: 'Show one account, by id or name.',
    operation: showAccount,
    answer: listed,
    // Charges change the figures. The answer of a change has only the balance.
    untagged: ['balance_usd', 'held_usd', 'available_usd', 'spend'],
  },
  change: {
    route: 'PATCH /accounts/{account}',
    summary: 'Change an account: name, profile, limits, status; what you leave out stays.',
    operation: changeAccount,
    answer: account,
    read: 'show',
    example: { daily_usd: '5', rpm: 120 },
  },
  usage: {
    route: 'GET /accounts/{account}/usage',
    summary: 'Show the usage of an account, as its read-only token sees it.',
    operation: accountUsage,
    answer: usage,
    example: { period: 'month' },
  },
  credit: {
    route: 'POST /accounts/{account}/credits',
    summary: 'Book a credit; a negative amount takes money back.',
    operation: creditAccount,
    answer: credited,
    repeats: 'money',
    status: 201,
    example: { amount_usd: '12.50', reference: 'invoice-1042' },
  },
})

export const accountStreams = {
  statement: rowOf('accounts.statement', {
    route: 'GET /accounts/{account}/statement',
    summary: 'Read credits and charges, oldest first, with the calculation of each charge.',
    stream: printStatement,
    answer: statement,
    contentTypes: { json: 'application/json', csv: 'text/csv; charset=utf-8' },
    example: { from: '2026-01-01' },
  }) satisfies StreamEndpoint,
}
