/**
 * The keys of an account: what each may use, has used and has left. What is left does not count requests
 * that are running: their money is held, and charged when they end.
 */
import { z } from 'zod'
import { listKeys, type KeyRow } from '../../access/key-store.ts'
import { usdNumber } from '../../base/money.ts'
import { keyBudgets, noKeyUsage, readKeyUsage, type KeyUsage } from '../../ledger/key-usage.ts'
import { viewKey } from '../keys/key-view.ts'
import { pageFields, pageOf } from '../paging.ts'
import { viewBudgets } from './budget.ts'
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
      view: (key) => viewForHolder(key, used.get(key.id) ?? noKeyUsage, nowMs),
    })
  },
)

/** A key as operators see it, less what is theirs. Amounts are numbers, limits show what they leave. */
function viewForHolder(key: KeyRow, usage: KeyUsage, nowMs: number) {
  const { id, name, head, state, models, expires_at, rpm, tpm } = viewKey(key, usage, nowMs)
  return {
    id,
    name,
    head,
    state,
    models,
    expires_at,
    used: {
      day_usd: usdNumber(usage.dayPicos),
      month_usd: usdNumber(usage.monthPicos),
      total_usd: usdNumber(usage.totalPicos),
    },
    /** Those that are set. */
    limits: viewBudgets(keyBudgets(key.limits, usage), nowMs),
    rpm,
    tpm,
  }
}
