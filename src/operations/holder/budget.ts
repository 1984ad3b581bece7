/** How a spending limit shows to the account holder: its use, its rest, and when it starts anew. */
import { nextUtcMidnight, nextUtcMonth } from '../../base/clock.ts'
import { maxPicos, subtractPicos, usdNumber, zeroPicos, type Picos } from '../../base/money.ts'
import type { UsagePeriod } from '../../ledger/ledger.ts'
import { timeText } from '../operation.ts'

export interface Budget {
  readonly period: UsagePeriod
  /** Zero = no limit. */
  readonly limitPicos: Picos
  readonly usedPicos: Picos
}

/** Views those that are set. The rest does not count running requests. */
export function viewBudgets(budgets: readonly Budget[], nowMs: number) {
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

/** Null where it never starts anew. */
function resetOf(period: Budget['period'], nowMs: number): string | null {
  if (period === 'total') return null
  return timeText(period === 'day' ? nextUtcMidnight(nowMs) : nextUtcMonth(nowMs))
}
