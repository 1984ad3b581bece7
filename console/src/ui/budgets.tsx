/** The budgets of a key that are set: how much of each is used. */
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { limitTone, Meter } from './card.tsx'
import { formatUsd, formatUsdExact } from './format.ts'

interface BudgetedKey {
  readonly daily_usd: string
  readonly monthly_usd: string
  readonly total_usd: string
  readonly used: {
    readonly day_usd: string
    readonly month_usd: string
    readonly total_usd: string
  }
}

/** Of each budget that is set: used, limit, and a bar. */
export function Budgets({ of: key, empty }: { of: BudgetedKey; empty: ReactNode }) {
  const budgets = (
    [
      ['day', key.used.day_usd, key.daily_usd],
      ['month', key.used.month_usd, key.monthly_usd],
      ['total', key.used.total_usd, key.total_usd],
    ] as const
  ).filter(([, , limit]) => /[1-9]/.test(limit))
  if (budgets.length === 0) return empty
  return (
    <ul className="stack tight budgets">
      {budgets.map(([period, used, limit]) => (
        <Budget key={period} period={period} used={used} limit={limit} />
      ))}
    </ul>
  )
}

type Period = 'day' | 'month' | 'total'

function Budget({ period, used, limit }: { period: Period; used: string; limit: string }) {
  const word = t(`figures.periods.${period}`)
  const share = Math.min(Math.max(Number(used) / Number(limit), 0), 1)
  return (
    <li
      data-tip={t('ui.budgetTip', {
        used: formatUsdExact(used),
        limit: formatUsdExact(limit),
        period: word,
      })}
    >
      <span>
        {formatUsd(used)}{' '}
        <span className="soft">{t('ui.ofLimit', { limit: formatUsd(limit) })}</span>
      </span>
      <span className="soft">{word}</span>
      <Meter share={share} tone={limitTone(share)} />
    </li>
  )
}
