/**
 * The keys of an account: what each may use, has used and has left. What is left does not count requests
 * that are running: their money is held, and charged when they end.
 */
import { z } from 'zod'
import { listKeys, type KeyRow } from '../../access/key-store.ts'
import { utcDay, utcMonth } from '../../base/clock.ts'
import { maxPicos, subtractPicos, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import { noKeyCost, readKeyCosts, type KeyCost } from '../../ledger/usage.ts'
import { timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { holderRead } from './holder-read.ts'

export const holderKeys = holderRead(
  z.strictObject(pageFields),
  async ({ snapshot, account, nowMs, input: { cursor, limit } }) => {
    const page = { afterId: cursor ?? '', countMax: limit + 1 }
    const keys = await listKeys(snapshot, { kind: 'client', accountId: account.id }, page)
    const moment = { day: utcDay(nowMs), month: utcMonth(nowMs) }
    const costs = await readKeyCosts(snapshot, { accountId: account.id, ...moment })
    return pageOf(keys, {
      limit,
      cursorOf: ({ id }) => id,
      view: (key) => viewKey(key, costs.get(key.id) ?? noKeyCost, nowMs),
    })
  },
)

function viewKey(key: KeyRow, cost: KeyCost, nowMs: number) {
  return {
    key_id: key.id,
    name: key.name,
    head: key.head,
    state: stateOf(key, nowMs),
    /** Null = every model. */
    models: key.allowedModels ?? null,
    expires_at: timeOrNull(key.expiresAtMs),
    used: {
      day_usd: usdNumber(cost.dayPicos),
      month_usd: usdNumber(cost.monthPicos),
      total_usd: usdNumber(cost.totalPicos),
    },
    /** Those that are set. */
    limits: budgetsOf(key, cost, nowMs)
      .filter(({ limitPicos }) => limitPicos > 0n)
      .map(viewBudget),
    /** Zero = no limit. */
    rpm: key.limits.rpm,
    tokens_per_minute: key.limits.tpm,
  }
}

interface Budget {
  readonly period: 'day' | 'month' | 'total'
  /** Zero = no limit. */
  readonly limitPicos: Picos
  readonly usedPicos: Picos
  /** Undefined where it never starts anew. */
  readonly resetsAtMs: number | undefined
}

const dayMs = 86_400_000

function budgetsOf({ limits }: KeyRow, cost: KeyCost, nowMs: number): readonly Budget[] {
  const now = new Date(nowMs)
  return [
    {
      period: 'day',
      limitPicos: limits.dailyPicos,
      usedPicos: cost.dayPicos,
      resetsAtMs: (Math.floor(nowMs / dayMs) + 1) * dayMs,
    },
    {
      period: 'month',
      limitPicos: limits.monthlyPicos,
      usedPicos: cost.monthPicos,
      resetsAtMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1),
    },
    {
      period: 'total',
      limitPicos: limits.totalPicos,
      usedPicos: cost.totalPicos,
      resetsAtMs: undefined,
    },
  ]
}

function viewBudget({ period, limitPicos, usedPicos, resetsAtMs }: Budget) {
  return {
    period,
    limit_usd: usdNumber(limitPicos),
    used_usd: usdNumber(usedPicos),
    left_usd: usdNumber(maxPicos(subtractPicos(limitPicos, usedPicos), zeroPicos)),
    resets_at: resetsAtMs === undefined ? null : timeText(resetsAtMs),
  }
}

function stateOf({ revokedAtMs, expiresAtMs }: KeyRow, nowMs: number): string {
  if (revokedAtMs !== undefined) return 'revoked'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active'
}
