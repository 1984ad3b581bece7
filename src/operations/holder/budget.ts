/** How a spending limit shows to the account holder: its use, its rest, and when it starts anew. */
import { nextUtcMidnight, nextUtcMonth } from '../../base/clock.ts'
import { z } from 'zod'
import { maxPicos, subtractPicos, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import { moment, usdShown, type Answer } from '../answer-forms.ts'
import { timeText } from '../operation.ts'

const periods = ['day', 'month', 'total'] as const

/** Those that are set. */
export const budgetsForm = z.array(
  z.strictObject({
    period: z.enum(periods),
    limit_usd: usdShown,
    used_usd: usdShown,
    left_usd: usdShown,
    /** Null where it never starts anew. */
    resets_at: moment.nullable(),
  }),
)

export interface Budget {
  readonly period: (typeof periods)[number]
  /** Zero = no limit. */
  readonly limitPicos: Picos
  readonly usedPicos: Picos
}

/** The rest does not count running requests. */
export function viewBudgets(budgets: readonly Budget[], nowMs: number): Answer<typeof budgetsForm> {
  return budgets
    .filter(({ limitPicos }) => limitPicos > 0n)
    .map(({ period, limitPicos, usedPicos }) => ({
      period,
      limit_usd: usdNumber(limitPicos),
      used_usd: usdNumber(usedPicos),
      left_usd: usdNumber(maxPicos(subtractPicos(limitPicos, usedPicos), zeroPicos)),
      resets_at: resetOf(period, nowMs),
    }))
}

function resetOf(period: Budget['period'], nowMs: number): string | null {
  if (period === 'total') return null
  return timeText(period === 'day' ? nextUtcMidnight(nowMs) : nextUtcMonth(nowMs))
}
