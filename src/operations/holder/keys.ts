/**
 * The keys of an account: what each may use, has used and has left. What is left does not count requests
 * that are running: their money is held, and charged when they end.
 */
import { z } from 'zod'
import { listKeys, type KeyRow } from '../../access/key-store.ts'
import { usdNumber } from '../../base/money.ts'
import { noKeyUsage, readKeyUsage, type KeyUsage } from '../../ledger/key-usage.ts'
import { timeOrNull } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { viewBudgets, type Budget } from './budget.ts'
import { holderRead } from './holder-read.ts'

export const holderKeys = holderRead(
  z.strictObject(pageFields),
  async ({ snapshot, account, nowMs, input: { cursor, limit } }) => {
    const page = { afterId: cursor ?? '', countMax: limit + 1 }
    const keys = await listKeys(snapshot, { kind: 'client', accountId: account.id }, page)
    const used = await readKeyUsage(snapshot, { keys, atMs: nowMs })
    return pageOf(keys, {
      limit,
      cursorOf: ({ id }) => id,
      view: (key) => viewKey(key, used.get(key.id) ?? noKeyUsage, nowMs),
    })
  },
)

function viewKey(key: KeyRow, cost: KeyUsage, nowMs: number) {
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
    limits: viewBudgets(budgetsOf(key, cost), nowMs),
    /** Zero = no limit. */
    rpm: key.limits.rpm,
    tokens_per_minute: key.limits.tpm,
  }
}

function budgetsOf({ limits }: KeyRow, cost: KeyUsage): readonly Budget[] {
  return [
    { period: 'day', limitPicos: limits.dailyPicos, usedPicos: cost.dayPicos },
    { period: 'month', limitPicos: limits.monthlyPicos, usedPicos: cost.monthPicos },
    { period: 'total', limitPicos: limits.totalPicos, usedPicos: cost.totalPicos },
  ]
}

function stateOf({ revokedAtMs, expiresAtMs }: KeyRow, nowMs: number): string {
  if (revokedAtMs !== undefined) return 'revoked'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active'
}
