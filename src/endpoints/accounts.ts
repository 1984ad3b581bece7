/** Endpoints of accounts and their credits. */
import { z } from 'zod'
import { createAccount, creditAccount, listAccounts, showAccount } from '../operations/accounts.ts'
import { endpoint } from './endpoint.ts'
import { moment, pageOf, usd } from './views.ts'

const account = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended']),
  balance_usd: usd,
  limits: z.strictObject({
    daily_usd: usd.meta({ description: '0 = no limit.' }),
    rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
    window_minutes: z.int(),
    price_multiplier: z.number().meta({ description: 'Factor on list prices.' }),
  }),
  created_at: moment,
})

const credited = z.strictObject({
  account_id: z.string(),
  reference: z.string(),
  amount_usd: usd,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'True where this credit was booked before.' }),
})

export const accountEndpoints = {
  list: endpoint({
    id: 'accounts.list',
    method: 'GET',
    path: '/accounts',
    summary: 'List accounts, by name.',
    role: 'viewer',
    operation: listAccounts,
    answer: pageOf(account),
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
  }),
  show: endpoint({
    id: 'accounts.show',
    method: 'GET',
    path: '/accounts/{account}',
    summary: 'Show one account, by id or name.',
    role: 'viewer',
    operation: showAccount,
    answer: account,
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
  }),
}
