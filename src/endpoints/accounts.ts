/** Endpoints of accounts and their credits. */
import { z } from 'zod'
import {
  changeAccount,
  createAccount,
  creditAccount,
  listAccounts,
  showAccount,
} from '../operations/accounts.ts'
import { endpoint } from './endpoint.ts'
import { moment, pageOf, usd } from './views.ts'

const account = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'suspended', 'closed']),
  balance_usd: usd,
  limits: z.strictObject({
    daily_usd: usd.meta({ description: '0 = no limit.' }),
    rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
    window_minutes: z.int(),
    price_multiplier: z.number().meta({ description: 'Factor on list prices.' }),
  }),
  note: z.string(),
  contact: z.string().meta({ description: 'E-mail address for alerts; empty = none.' }),
  external_id: z.string().nullable().meta({ description: "The operator's own id; unique." }),
  metadata: z.record(z.string(), z.string()),
  created_at: moment,
  closed_at: moment.nullable(),
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
  change: endpoint({
    id: 'accounts.change',
    method: 'PATCH',
    path: '/accounts/{account}',
    summary: 'Change an account: name, profile, limits, status.',
    role: 'operator',
    operation: changeAccount,
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
