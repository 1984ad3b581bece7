/** The limits of an account or a key: a bar for each budget, its rest, when it starts anew, and the rates. */
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Card, limitTone, Meter } from '../ui/card.tsx'
import { usdText } from '../ui/exact.ts'
import { formatAge, formatInteger, formatShare, formatTime } from '../ui/format.ts'
import { Stack } from '../ui/layout.tsx'
import { Usd, useNow } from '../ui/values.tsx'
import type { Account, Budget } from './answers.ts'

interface LimitsProps {
  readonly of: Pick<Account, 'limits' | 'rpm' | 'tpm'> & Partial<Pick<Account, 'window_minutes'>>
  /** Beside the rates; `rates` is empty where there are none. */
  readonly children: (rates: string) => ReactNode
}

export function Limits({ of, children }: LimitsProps) {
  const { limits, rpm, window_minutes: minutes = 1, tpm } = of
  const rates = [
    ...(rpm > 0 ? [t('account.rpm', { count: formatInteger(rpm) })] : []),
    ...(rpm > 0 && minutes > 1 ? [t('account.window', { minutes: String(minutes) })] : []),
    ...(tpm > 0 ? [t('account.tpm', { count: formatInteger(tpm) })] : []),
  ]
  return (
    <Card title={t('account.limits')}>
      <Stack>
        {limits.map((limit) => (
          <BudgetLine key={limit.period} budget={limit} />
        ))}
        {children(rates.join(', '))}
      </Stack>
    </Card>
  )
}

function BudgetLine({ budget }: { budget: Budget }) {
  const { period, limit_usd: limit, used_usd: used, left_usd: left, resets_at: resetsAt } = budget
  const share = limit === 0 ? 1 : Math.min(used / limit, 1)
  return (
    <div>
      <div className="row row-between">
        <span>
          {t.rich('account.left', {
            period: periodWord(period),
            left: () => <Usd value={usdText(left)} />,
            limit: () => <Usd value={usdText(limit)} />,
          })}
        </span>
        <span className="soft">{t('account.usedShare', { share: formatShare(share) })}</span>
      </div>
      <Meter share={share} className="holder-meter" tone={limitTone(share)} />
      {resetsAt !== null && <Reset at={resetsAt} />}
    </div>
  )
}

function periodWord(period: string): string {
  return period === 'day' || period === 'month' || period === 'total'
    ? t(`account.periods.${period}`)
    : period
}

/** Limits start anew at midnight in UTC, which is another hour elsewhere. */
function Reset({ at }: { at: string }) {
  const nowMs = useNow(30_000)
  const moment = new Date(at)
  const isUtc = moment.getTimezoneOffset() === 0
  return (
    <p className="soft small">
      {t.rich(isUtc ? 'account.startsAnewUtc' : 'account.startsAnew', {
        when: formatAge(nowMs - moment.getTime()),
        time: () => <time dateTime={at}>{formatTime(moment)}</time>,
        utc: `${at.slice(0, 16).replace('T', ' ')} UTC`,
      })}
    </p>
  )
}
