/** How an account stands: its status, whether its balance needs attention, and what follows from it. */
import { t } from '../../messages/t.ts'
import { Badge, Notice, type Tone } from '../../ui/card.tsx'
import { Time } from '../../ui/values.tsx'
import type { Account } from './queries.ts'

type Standing = Account['status'] | 'low' | 'exhausted'

const tones: Readonly<Record<Standing, Tone>> = {
  active: 'good',
  low: 'warn',
  exhausted: 'bad',
  suspended: 'warn',
  closed: 'neutral',
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
  return <Badge tone={tones[standing]}>{t(`accounts.standings.${standing}`)}</Badge>
}

/** What keeps the account from sending requests, or soon will. */
export function StandingNotice({ account }: { account: Account }) {
  const standing = standingOf(account)
  if (standing === 'active') return null
  return (
    <Notice tone={tones[standing]}>
      {t.rich(`accounts.standingNotices.${standing}`, {
        time: () => (account.closed_at === null ? null : <Time at={account.closed_at} />),
      })}
    </Notice>
  )
}
