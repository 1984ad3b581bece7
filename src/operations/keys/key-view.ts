/**
 * The view of a key, with the same words for all: to operators, in their log, and to the holder of
 * its account, who sees less of it (operations/holder/keys.ts). It has the head of a secret and never more.
 */
import { z } from 'zod'
import { adminRoles, keyKinds } from '../../access/key.ts'
import type { KeyRow } from '../../access/key-store.ts'
import { formatUsd } from '../../base/money.ts'
import { keyStates, type KeyState } from '../../access/key-list.ts'
import type { KeyUsage } from '../../ledger/key-usage.ts'
import { moment, usd, type Answer } from '../answer-forms.ts'
import { timeOrNull, timeText } from '../operation.ts'

export const keyForm = z.strictObject({
  id: z.string(),
  kind: z.enum(keyKinds),
  account_id: z.string().nullable().meta({ description: 'Null for admin tokens.' }),
  member_id: z
    .string()
    .nullable()
    .meta({ description: 'The member who owns it; null = the account itself.' }),
  role: z
    .enum(adminRoles)
    .nullable()
    .meta({ description: 'What an admin token may do; null for other kinds.' }),
  name: z.string(),
  head: z.string().meta({ description: 'The beginning of the secret.' }),
  state: z.enum(keyStates),
  models: z.array(z.string()).nullable().meta({ description: 'Null = every model.' }),
  ip: z.array(z.string()).nullable().meta({ description: 'Null = every address.' }),
  daily_usd: usd.meta({ description: 'Per UTC day; 0 = only the limits of the account.' }),
  monthly_usd: usd.meta({ description: 'Per UTC calendar month; 0 = no limit.' }),
  total_usd: usd.meta({ description: 'In all; 0 = no limit.' }),
  rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
  tpm: z.int().meta({ description: 'Tokens per minute; 0 = no limit.' }),
  used: z.strictObject({
    day_usd: usd.meta({ description: 'Charges less refunds of the current UTC day.' }),
    month_usd: usd.meta({ description: 'The same for the UTC calendar month.' }),
    total_usd: usd,
  }),
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable().meta({ description: 'Up to a minute old; null = not used yet.' }),
})

export type KeyView = Answer<typeof keyForm>

/** The only result that shows a secret. */
export const newKeyForm = z.strictObject({
  key: keyForm,
  secret: z.string().meta({ description: 'Shown once, in this answer.' }),
})

export type NewKey = Answer<typeof newKeyForm>

export function viewKey(key: KeyRow, used: KeyUsage, nowMs: number): KeyView {
  return {
    ...describeKey(key, nowMs),
    used: {
      day_usd: formatUsd(used.dayPicos),
      month_usd: formatUsd(used.monthPicos),
      total_usd: formatUsd(used.totalPicos),
    },
    last_used_at: timeOrNull(key.lastUsedAtMs),
  }
}

/** What does not change with each request. */
export function describeKey(key: KeyRow, nowMs: number) {
  return {
    id: key.id,
    kind: key.kind,
    account_id: key.accountId ?? null,
    member_id: key.memberId ?? null,
    role: key.role ?? null,
    head: key.head,
    state: stateOf(key, nowMs),
    ...describeSettings(key),
    created_at: timeText(key.createdAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
  }
}

/** The fields that an operator may change. */
export function describeSettings(key: KeyRow) {
  return {
    name: key.name,
    models: key.allowedModels ?? null,
    ip: key.ipRanges ?? null,
    daily_usd: formatUsd(key.limits.dailyPicos),
    monthly_usd: formatUsd(key.limits.monthlyPicos),
    total_usd: formatUsd(key.limits.totalPicos),
    rpm: key.limits.rpm,
    tpm: key.limits.tpm,
    expires_at: timeOrNull(key.expiresAtMs),
  }
}

export function stateOf({ revokedAtMs, expiresAtMs }: KeyRow, nowMs: number): KeyState {
  if (revokedAtMs !== undefined) return 'revoked'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active'
}
