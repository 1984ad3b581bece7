/** Endpoints of accounts and their credits. */
import { z } from 'zod'
import { listAccounts, showAccount } from './account-list.ts'
import { changeAccount, createAccount, creditAccount } from './accounts.ts'
import { printStatement } from '../reports/statement-text.ts'
import { accountUsage } from '../reports/usage.ts'
import { endpoint, exampleNames, type StreamEndpoint } from '../endpoint.ts'
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

const show = endpoint({
  id: 'accounts.show',
  method: 'GET',
  path: '/accounts/{account}',
  summary: 'Show one account, by id or name.',
  role: 'viewer',
  operation: showAccount,
  answer: listed,
  // Charges change the figures, and no operator overwrites them. The answer of a change has only the balance.
  version: (value) => ({
    ...(value as object),
    balance_usd: undefined,
    held_usd: undefined,
    available_usd: undefined,
    spend: undefined,
  }),
  example: { account: exampleNames.account },
})

export const accountEndpoints = {
  list: endpoint({
    id: 'accounts.list',
    method: 'GET',
    path: '/accounts',
    summary: 'List accounts with their spend of 30 days, by name, balance or spend.',
    role: 'viewer',
    operation: listAccounts,
    answer: pageOf(listed),
    example: { sort: 'balance', order: 'asc', limit: 20 },
  }),
  create: endpoint({
    id: 'accounts.create',
    method: 'POST',
    path: '/accounts',
    summary: 'Create an account.',
    role: 'operator',
    operation: createAccount,
    answer: account,
    repeats: 'money',
    status: 201,
    example: { name: 'new-customer', balance_usd: '25', rpm: 60 },
  }),
  show,
  change: endpoint({
    id: 'accounts.change',
    method: 'PATCH',
    path: '/accounts/{account}',
    summary: 'Change an account: name, profile, limits, status.',
    role: 'operator',
    operation: changeAccount,
    answer: account,
    read: show,
    example: { account: exampleNames.account, daily_usd: '5', rpm: 120 },
  }),
  usage: endpoint({
    id: 'accounts.usage',
    method: 'GET',
    path: '/accounts/{account}/usage',
    summary: 'Show the usage of an account, as its read-only token sees it.',
    role: 'viewer',
    operation: accountUsage,
    answer: usage,
    example: { account: exampleNames.account, period: 'month' },
  }),
  credit: endpoint({
    id: 'accounts.credit',
    method: 'POST',
    path: '/accounts/{account}/credits',
    summary: 'Book a credit, or take money back with a negative amount.',
    role: 'operator',
    operation: creditAccount,
    answer: credited,
    repeats: 'money',
    status: 201,
    example: { account: exampleNames.account, amount_usd: '12.50', reference: 'invoice-1042' },
  }),
}

export const accountStreams = {
  statement: {
    id: 'accounts.statement',
    method: 'GET',
    path: '/accounts/{account}/statement',
    summary: 'Read credits and charges, oldest first, with the calculation of each charge.',
    role: 'viewer',
    stream: printStatement,
    answer: statement,
    contentTypes: { json: 'application/json', csv: 'text/csv; charset=utf-8' },
    example: { account: exampleNames.account, from: '2026-01-01' },
  } satisfies StreamEndpoint,
}
