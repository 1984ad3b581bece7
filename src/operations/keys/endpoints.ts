/** Endpoints of keys, read-only tokens and admin tokens. */
import { z } from 'zod'
import {
  createAdminToken,
  createClientKey,
  createReaderToken,
  editKey,
  listAccountKeys,
  listAdminTokens,
  revokeKey,
  showClientKey,
} from './keys.ts'
import { endpoints, exampleNames } from '../endpoint.ts'
import { moment, pageOf, usd } from '../answer-forms.ts'

const key = z.strictObject({
  id: z.string(),
  kind: z.enum(['client', 'reader', 'admin']),
  account_id: z.string().nullable().meta({ description: 'Null for admin tokens.' }),
  role: z
    .enum(['viewer', 'operator', 'owner'])
    .nullable()
    .meta({ description: 'What an admin token may do; null for other kinds.' }),
  name: z.string(),
  head: z.string().meta({ description: 'The beginning of the secret.' }),
  status: z.enum(['active', 'expired', 'revoked']),
  models: z.array(z.string()).nullable().meta({ description: 'Null = every model.' }),
  ip: z.array(z.string()).nullable().meta({ description: 'Null = every address.' }),
  daily_usd: usd.meta({ description: 'Per UTC day; 0 = only the limits of the account.' }),
  monthly_usd: usd.meta({ description: 'Per UTC calendar month; 0 = no limit.' }),
  total_usd: usd.meta({ description: 'In all; 0 = no limit.' }),
  rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
  tpm: z.int().meta({ description: 'Tokens per minute; 0 = no limit.' }),
  used_day_usd: usd.meta({ description: 'Charges less refunds of the current UTC day.' }),
  used_month_usd: usd.meta({ description: 'The same for the UTC calendar month.' }),
  used_total_usd: usd,
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable().meta({ description: 'Up to a minute old.' }),
})

const newKey = z.strictObject({
  key,
  secret: z.string().meta({ description: 'Shown once, in this answer.' }),
})

export const keyEndpoints = endpoints('keys', {
  listKeys: {
    id: 'keys.list',
    route: 'GET /accounts/{account}/keys',
    summary: 'List the keys of an account, oldest first.',
    operation: listAccountKeys,
    fixed: { kind: 'client' },
    answer: pageOf(key),
  },
  createKey: {
    id: 'keys.create',
    route: 'POST /accounts/{account}/keys',
    summary: 'Create a key for model requests.',
    operation: createClientKey,
    answer: newKey,
    repeats: 'secret',
    status: 201,
    example: { name: 'ci', daily_usd: '2.50' },
  },
  showKey: {
    id: 'keys.show',
    route: 'GET /keys/{id}',
    summary: 'Show one key, with what it has used of its limits.',
    operation: showClientKey,
    answer: key,
    // Requests change what a key has used, and time its status; no operator overwrites them.
    untagged: ['status', 'used_day_usd', 'used_month_usd', 'used_total_usd', 'last_used_at'],
    example: { id: exampleNames.key },
  },
  editKey: {
    id: 'keys.edit',
    route: 'PATCH /keys/{id}',
    summary: 'Change a key; absent fields stay, null removes a restriction, 0 a limit.',
    operation: editKey,
    answer: key,
    read: 'showKey',
    example: { id: exampleNames.key, monthly_usd: '50', rpm: 60, expires: null },
  },
  revokeKey: {
    id: 'keys.revoke',
    route: 'DELETE /keys/{id}',
    summary: 'Revoke a key; its next request is refused.',
    operation: revokeKey,
    fixed: { kind: 'client' },
    answer: key,
    read: 'showKey',
    example: { id: exampleNames.key },
  },
  listTokens: {
    id: 'tokens.list',
    route: 'GET /accounts/{account}/tokens',
    summary: 'List the read-only tokens of an account, oldest first.',
    operation: listAccountKeys,
    fixed: { kind: 'reader' },
    answer: pageOf(key),
  },
  createToken: {
    id: 'tokens.create',
    route: 'POST /accounts/{account}/tokens',
    summary: 'Create a read-only token.',
    operation: createReaderToken,
    answer: newKey,
    repeats: 'secret',
    status: 201,
    example: { name: 'accounting' },
  },
  revokeToken: {
    id: 'tokens.revoke',
    route: 'DELETE /tokens/{id}',
    summary: 'Revoke a read-only token; its next request is refused.',
    operation: revokeKey,
    fixed: { kind: 'reader' },
    answer: key,
    example: { id: exampleNames.token },
  },
  listAdminTokens: {
    id: 'admin-tokens.list',
    route: 'GET /admin-tokens',
    summary: 'List the admin tokens, oldest first.',
    operation: listAdminTokens,
    answer: pageOf(key),
  },
  createAdminToken: {
    id: 'admin-tokens.create',
    route: 'POST /admin-tokens',
    summary: 'Create an admin token.',
    role: 'owner',
    operation: createAdminToken,
    answer: newKey,
    repeats: 'secret',
    status: 201,
    example: { name: 'monitoring', role: 'viewer', expires: '2099-12-31' },
  },
  revokeAdminToken: {
    id: 'admin-tokens.revoke',
    route: 'DELETE /admin-tokens/{id}',
    summary: 'Revoke an admin token; its next request is refused.',
    role: 'owner',
    operation: revokeKey,
    fixed: { kind: 'admin' },
    answer: key,
    example: { id: exampleNames.adminToken },
  },
})
