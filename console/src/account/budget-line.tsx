/** A spending limit: a bar of its use, the rest, and when it starts anew in both zones. */
import { t } from '../messages/t.ts'
import { limitTone, Meter } from '../ui/card.tsx'
import { usdText } from '../ui/exact.ts'
import { formatAge, formatShare, formatTime } from '../ui/format.ts'
import { Usd, useNow } from '../ui/values.tsx'
import type { Budget } from './answers.ts'

export function BudgetLine({ budget }: { budget: Budget }) {
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
