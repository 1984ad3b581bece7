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
import { accountStatuses } from '../accounts/accounts.ts'
import { currency, moment, usd, usdShown } from '../answer-forms.ts'
import { noInput, notFound, operation, timeText, type OperationContext } from '../operation.ts'
import { budgetsForm, viewBudgets } from './budget.ts'
import { getHolder } from './holder-read.ts'

const accountForm = z.strictObject({
  name: z.string(),
  status: z.enum(accountStatuses),
  currency,
  at: moment,
  balance: usd,
  /** What running requests hold; null where no gateway answers. */
  held: usd.nullable(),
  /** The balance less that. */
  available: usd.nullable(),
  used: z.strictObject({ day_usd: usdShown, month_usd: usdShown }),
  limits: budgetsForm,
  /** Zero = no limit. */
  rpm: z.int(),
  window_minutes: z.int(),
  tpm: z.int(),
})

export const holderAccount = operation(
  { input: noInput, answer: accountForm },
  async ({ database, clock, readHeld }: OperationContext, _input, accountId: string) => {
    const nowMs = clock.now()
    const { account, figures } = await database.snapshot(async (snapshot) => ({
      account: await getHolder(snapshot, accountId),
      figures: await readUsage(snapshot, { accountId, period: 'month', atMs: nowMs }),
    }))
    if (figures === undefined) throw notFound('This account no longer exists.')
    const held = await readHeld?.([accountId])
    const { dailyLimitPicos: limitPicos } = account
    const budget = { period: 'day', limitPicos, usedPicos: figures.dailyUsedPicos } as const
    return {
      name: account.name,
      status: account.status,
      currency: 'USD' as const,
      at: timeText(nowMs),
      ...viewMoney(account.balancePicos, held && (held.get(accountId) ?? zeroPicos)),
      used: { day_usd: usdNumber(figures.dailyUsedPicos), month_usd: usdNumber(costOf(figures)) },
      limits: viewBudgets([budget], nowMs),
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
    held: heldPicos === undefined ? null : formatUsd(heldPicos),
    available: heldPicos === undefined ? null : formatUsd(subtractPicos(balancePicos, heldPicos)),
  }
}

function costOf({ byModel }: UsageFigures): Picos {
  return byModel.reduce((sum, { costPicos }) => addPicos(sum, costPicos), zeroPicos)
}
