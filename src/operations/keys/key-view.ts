/**
 * A key as operators see it: in results, and in the operators' log. Pure. It has the head of a secret and
 * never more.
 */
import type { KeyRow } from '../../access/key-store.ts'
import { formatUsd } from '../../base/money.ts'
import type { KeyUsage } from '../../ledger/key-usage.ts'
import { timeOrNull, timeText } from '../operation.ts'

export type KeyView = Readonly<ReturnType<typeof viewKey>>

export function viewKey(key: KeyRow, used: KeyUsage, nowMs: number) {
  return {
    ...describeKey(key, nowMs),
    /** Charges less refunds of the current UTC day. */
    used_day_usd: formatUsd(used.dayPicos),
    /** The same for the UTC calendar month. */
    used_month_usd: formatUsd(used.monthPicos),
    used_total_usd: formatUsd(used.totalPicos),
    /** Up to a minute old; null = not used yet. */
    last_used_at: timeOrNull(key.lastUsedAtMs),
  }
}

/** What does not change with each request. */
export function describeKey(key: KeyRow, nowMs: number) {
  return {
    id: key.id,
    kind: key.kind,
    /** Null for admin tokens. */
    account_id: key.accountId ?? null,
    /** What an admin token may do; null for other kinds. */
    role: key.role ?? null,
    head: key.head,
    status: statusOf(key, nowMs),
    ...describeSettings(key),
    created_at: timeText(key.createdAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
  }
}

/** What an operator may change. */
export function describeSettings(key: KeyRow) {
  return {
    name: key.name,
    /** Null = every model. */
    models: key.allowedModels ?? null,
    /** Null = every address. */
    ip: key.ipRanges ?? null,
    /** 0 = only the limits of the account, here and below. */
    daily_usd: formatUsd(key.limits.dailyPicos),
    monthly_usd: formatUsd(key.limits.monthlyPicos),
    total_usd: formatUsd(key.limits.totalPicos),
    rpm: key.limits.rpm,
    tpm: key.limits.tpm,
    expires_at: timeOrNull(key.expiresAtMs),
  }
}

function statusOf(key: KeyRow, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (key.revokedAtMs !== undefined) return 'revoked'
  return key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs ? 'expired' : 'active'
}
