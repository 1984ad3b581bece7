/** The account itself: its money, the part that running requests hold, and the rest of its limits. */
import { z } from 'zod'
import {
  addPicos,
  formatUsd,
  subtractPicos,
  usdNumber,
  zeroPicos,
  type Picos,
} from '../../base/money.ts'
import type { UsageFigures } from '../../ledger/ledger.ts'
import { readUsage } from '../../ledger/usage.ts'
import { notFound, operation, timeText, type OperationContext } from '../operation.ts'
import { viewBudgets } from './budget.ts'
import { getHolder } from './holder-read.ts'

export const holderAccount = operation(
  z.strictObject({}),
  async ({ database, clock, readHeld }: OperationContext, _input, accountId: string) => {
    const nowMs = clock.now()
    const { account, figures } = await database.snapshot(async (snapshot) => ({
      account: await getHolder(snapshot, accountId),
      figures: await readUsage(snapshot, { accountId, period: 'month', atMs: nowMs }),
    }))
    if (figures === undefined) throw notFound('This account no longer exists.')
    const held = await readHeld?.([accountId])
    return {
      name: account.name,
      status: account.status,
      currency: 'USD' as const,
      at: timeText(nowMs),
      ...viewMoney(account.balancePicos, held && (held.get(accountId) ?? zeroPicos)),
      used: { day_usd: usdNumber(figures.dailyUsedPicos), month_usd: usdNumber(costOf(figures)) },
      /** Those that are set. */
      limits: viewBudgets(
        [
          {
            period: 'day',
            limitPicos: account.dailyLimitPicos,
            usedPicos: figures.dailyUsedPicos,
          },
        ],
        nowMs,
      ),
      /** Zero = no limit. */
      rpm: account.rpm,
      window_minutes: account.windowMinutes,
      tpm: account.tpm,
    }
  },
)

/** Exact. */
function viewMoney(balancePicos: Picos, heldPicos: Picos | undefined) {
  return {
    balance: formatUsd(balancePicos),
    /** What running requests hold; null where no gateway answers. */
    held: heldPicos === undefined ? null : formatUsd(heldPicos),
    /** The balance less that. */
    available: heldPicos === undefined ? null : formatUsd(subtractPicos(balancePicos, heldPicos)),
  }
}

function costOf({ byModel }: UsageFigures): Picos {
  return byModel.reduce((sum, { costPicos }) => addPicos(sum, costPicos), zeroPicos)
}
