/** How an account stands: its status, and whether its balance needs attention. */
import { Badge, type Tone } from '../../ui/card.tsx'
import type { Account } from './queries.ts'

export type Standing = Account['status'] | 'low' | 'exhausted'

const tones: Readonly<Record<Standing, Tone>> = {
  active: 'good',
  low: 'warn',
  exhausted: 'bad',
  suspended: 'warn',
  closed: 'neutral',
}

const texts: Readonly<Record<Standing, string>> = {
  active: 'active',
  low: 'low balance',
  exhausted: 'no balance',
  suspended: 'suspended',
  closed: 'closed',
}

/** `low` and `exhausted` together are the accounts that the API lists with `low=true`. */
export function standingOf(account: Account): Standing {
  const { status, balance_usd: balance, alert_below_usd: threshold, spend } = account
  if (status !== 'active') return status
  const left = Number(balance)
  const yesterday = Number(spend.by_day_usd.at(-2) ?? 0)
  const twoDays = yesterday + Number(spend.today_usd)
  if (left <= 0) return 'exhausted'
  return left < Number(threshold) || left < twoDays ? 'low' : 'active'
}

export function StatusBadge({ account }: { account: Account }) {
  const standing = standingOf(account)
  return <Badge tone={tones[standing]}>{texts[standing]}</Badge>
}
