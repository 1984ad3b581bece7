/** A spending limit: a bar of its use, the rest, and when it starts anew in both zones. */
import { formatAge, formatShare } from '../ui/format.ts'
import { Usd, useNow } from '../ui/values.tsx'
import type { Budget } from './forms.ts'
import { usdText } from './usd.ts'

const periodNames: Readonly<Record<string, string>> = {
  day: 'Today',
  month: 'This month',
  total: 'Total',
}

export function BudgetLine({ budget }: { budget: Budget }) {
  const { period, limit_usd: limit, used_usd: used, left_usd: left, resets_at: resetsAt } = budget
  const share = limit === 0 ? 1 : Math.min(used / limit, 1)
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'good'
  return (
    <div className="budget">
      <div className="budget-head">
        <span>
          {periodNames[period] ?? period}: <Usd value={usdText(left)} /> of{' '}
          <Usd value={usdText(limit)} /> left
        </span>
        <span className="soft">{formatShare(share)} used</span>
      </div>
      <div className="budget-track">
        <div className={`budget-bar budget-${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
      {resetsAt !== null && (
        <p className="soft budget-reset">
          <Reset at={resetsAt} />
        </p>
      )}
    </div>
  )
}

const local = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** Limits start anew at midnight in UTC, which is another hour elsewhere. */
function Reset({ at }: { at: string }) {
  const nowMs = useNow(30_000)
  const moment = new Date(at)
  const here = local.format(moment)
  const utc = `${at.slice(0, 16).replace('T', ' ')} UTC`
  return (
    <>
      starts anew {formatAge(nowMs - moment.getTime())}, at <time dateTime={at}>{here}</time>
      {here.endsWith('UTC') ? '' : ` (${utc})`}
    </>
  )
}
