/**
 * The keys of an account: what each may use, has used and has left. The rest does not count requests
 * that are running: their money is held, and charged when they end.
 */
import { z } from 'zod'
import { listKeys, type KeyRow } from '../../access/key-store.ts'
import { usdNumber } from '../../base/money.ts'
import { keyBudgets, noKeyUsage, readKeyUsage, type KeyUsage } from '../../ledger/key-usage.ts'
import { pageForm, usdShown, type Answer } from '../answer-forms.ts'
import { keyForm, viewKey } from '../keys/key-view.ts'
import { pageFields, pageOf } from '../paging.ts'
import { budgetsForm, viewBudgets } from './budget.ts'
import { holderRead } from './holder-read.ts'

/** The fields of an operator's view that a holder sees: parsing leaves out every other one. */
const shownForm = z.object(keyForm.shape).pick({
  id: true,
  member_id: true,
  name: true,
  head: true,
  state: true,
  models: true,
  ip: true,
  expires_at: true,
  rpm: true,
  tpm: true,
})

/** Amounts are numbers, limits show what they leave. */
const holderKeyForm = z.strictObject({
  ...shownForm.shape,
  used: z.strictObject({ day_usd: usdShown, month_usd: usdShown, total_usd: usdShown }),
  limits: budgetsForm,
})

export const holderKeys = holderRead(
  { input: z.strictObject(pageFields), answer: pageForm(holderKeyForm) },
  async ({ snapshot, account, nowMs, input: { cursor, limit }, ownerOfKeys }) => {
    const page = { afterId: cursor ?? '', countMax: limit + 1 }
    const owner = { kind: 'client', accountId: account.id, memberId: ownerOfKeys } as const
    const keys = await listKeys(snapshot, owner, page)
    const used = await readKeyUsage(snapshot, { keys, atMs: nowMs })
    return pageOf(keys, {
      limit,
      cursorOf: (key) => key.id,
      view: (key) => viewForHolder(key, used.get(key.id) ?? noKeyUsage, nowMs),
    })
  },
)

function viewForHolder(key: KeyRow, usage: KeyUsage, nowMs: number): Answer<typeof holderKeyForm> {
  return {
    ...shownForm.parse(viewKey(key, usage, nowMs)),
    used: {
      day_usd: usdNumber(usage.dayPicos),
      month_usd: usdNumber(usage.monthPicos),
      total_usd: usdNumber(usage.totalPicos),
    },
    limits: viewBudgets(keyBudgets(key.limits, usage), nowMs),
  }
}
