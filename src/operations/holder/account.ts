/** The account itself: its money, the part that running requests hold, and the rest of its limits. */
import { z } from 'zod'
import { addPicos, formatUsd, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import { availablePicos, type Account } from '../../ledger/account-store.ts'
import type { UsageSummary } from '../../ledger/ledger.ts'
import { readUsage } from '../../ledger/usage.ts'
import { accountStatuses } from '../accounts/account-form.ts'
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
  /** How far below zero the balance may go. */
  credit_line: usd,
  /** What running requests hold; null where no gateway answers. */
  held: usd.nullable(),
  /** Balance and credit line less that. */
  available: usd.nullable(),
  used: z.strictObject({ day_usd: usdShown, month_usd: usdShown }),
  limits: budgetsForm,
  /** Zero = no limit. */
  rpm: z.int(),
  window_minutes: z.int(),
  tpm: z.int(),
  /** Lines for receipts and statements. */
  bill_to: z.string(),
})

export const holderAccount = operation(
  { input: noInput, answer: accountForm },
  async ({ database, clock, readHeld }: OperationContext, _input, accountId: string) => {
    const nowMs = clock.now()
    const { account, usage } = await database.snapshot(async (snapshot) => ({
      account: await getHolder(snapshot, accountId),
      usage: await readUsage(snapshot, { accountId, period: 'month', atMs: nowMs }),
    }))
    if (usage === undefined) throw notFound('This account no longer exists.')
    const held = await readHeld?.([accountId])
    const monthPicos = costOf(usage)
    const budgets = [
      { period: 'day', limitPicos: account.dailyLimitPicos, usedPicos: usage.dailyUsedPicos },
      { period: 'month', limitPicos: account.monthlyLimitPicos, usedPicos: monthPicos },
    ] as const
    return {
      name: account.name,
      status: account.status,
      currency: 'USD' as const,
      at: timeText(nowMs),
      ...viewMoney(account, held && (held.get(accountId) ?? zeroPicos)),
      used: { day_usd: usdNumber(usage.dailyUsedPicos), month_usd: usdNumber(monthPicos) },
      limits: viewBudgets(budgets, nowMs),
      rpm: account.rpm,
      window_minutes: account.windowMinutes,
      tpm: account.tpm,
      bill_to: account.billTo,
    }
  },
)

/** Exact. */
function viewMoney(account: Account, heldPicos: Picos | undefined) {
  return {
    balance: formatUsd(account.balancePicos),
    credit_line: formatUsd(account.creditLinePicos),
    held: heldPicos === undefined ? null : formatUsd(heldPicos),
    available: heldPicos === undefined ? null : formatUsd(availablePicos(account, heldPicos)),
  }
}

function costOf({ byModel }: UsageSummary): Picos {
  return byModel.reduce((sum, { costPicos }) => addPicos(sum, costPicos), zeroPicos)
}
