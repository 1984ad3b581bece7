/** What a channel has done in the last thirty days: money, requests, errors, times. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReportRow } from '../../api/reports.ts'
import { t } from '../../messages/t.ts'
import { Card, Figure, Figures } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatDuration, formatShare } from '../../ui/format.ts'
import { Columns } from '../../ui/layout.tsx'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { moneyTerms, noMoney } from '../../ui/money-terms.ts'
import { periodOf } from '../../ui/range.ts'
import { Shown } from '../../ui/states.tsx'
import { Count, Duration, Missing, Usd } from '../../ui/values.tsx'
import { errorShare } from './board.ts'
import { channelFiguresQuery, type ChannelDetail, type DayFigures } from './queries.ts'

export function ChannelFigures({ detail }: { detail: ChannelDetail }) {
  const period = periodOf(
    { range: '30d' },
    { unit: 'day', nowMs: Date.parse(detail.at), usual: '30d' },
  )
  return (
    <Shown query={useQuery(channelFiguresQuery(detail.name, period))}>
      {({ total, days }) => (
        <>
          <Totals total={total} checks={detail.check_cost} />
          <MoneyEquation hint={t('channels.last30')} figures={total ?? noMoney} />
          <Charts channel={detail.name} days={days} />
        </>
      )}
    </Shown>
  )
}

interface TotalsProps {
  readonly total: ReportRow | undefined
  readonly checks: ChannelDetail['check_cost']
}

function Totals({ total, checks }: TotalsProps) {
  const none = <Missing why={t('channels.noRequest30')} />
  const share = errorShare(total)
  const p95 = total?.first_event_p95_ms ?? null
  return (
    <Figures>
      <Figure
        label={t('channels.of30', { name: moneyTerms.revenue_usd.name })}
        value={total === undefined ? none : <Usd value={total.revenue_usd} />}
        note={t('channels.paidFor')}
      />
      <Figure
        label={t('channels.of30', { name: t('channels.requests') })}
        value={total === undefined ? none : <Count value={total.requests} />}
        note={
          share === null
            ? t('channels.none')
            : t('channels.errorsNote', {
                errors: formatCount(total?.errors ?? 0),
                share: formatShare(share),
              })
        }
      />
      <Figure
        label={t('channels.firstMedian')}
        value={<Duration ms={total?.first_event_p50_ms ?? null} />}
        note={
          p95 === null
            ? t('channels.unmeasured')
            : t('channels.p95Of', { time: formatDuration(p95) })
        }
      />
      <Figure
        label={t('channels.checksIn', { month: checks.month })}
        value={<Usd value={checks.usd} />}
        note={t('channels.checksNote', { count: checks.count })}
      />
    </Figures>
  )
}

interface ChartsProps {
  readonly channel: string
  readonly days: readonly DayFigures[]
}

/** A day leads to its requests on this channel, a drag to the report of these days. */
function Charts({ channel, days }: ChartsProps) {
  const navigate = useNavigate()
  const common = {
    times: days.map(({ day }) => Date.parse(day ?? '') / 1_000),
    unit: 'day',
  } as const
  return (
    <Columns>
      <Card title={t('channels.requests')} hint={t('channels.byDay')}>
        <Chart
          {...common}
          label={t('channels.requestChart')}
          isStacked
          figure="count"
          series={[
            {
              name: t('channels.succeeded'),
              kind: 'bars',
              values: days.map(({ requests, errors }) => requests - errors),
            },
            {
              name: t('channels.errors'),
              kind: 'bars',
              isBad: true,
              values: days.map(({ errors }) => errors),
            },
          ]}
          onPeriod={(period) => void navigate({ to: '/reports', search: { channel, ...period } })}
          onOpen={(day) => void navigate({ to: '/requests', search: { channel, ...day } })}
        />
      </Card>
      <Card title={t('channels.timeToFirst')} hint={t('channels.timesByDay')}>
        <Chart
          {...common}
          label={t('channels.timeChart')}
          figure="ms"
          series={[
            {
              name: t('channels.median'),
              kind: 'line',
              values: days.map(({ first_event_p50_ms: ms }) => ms),
            },
            {
              name: t('channels.p95'),
              kind: 'line',
              isFaint: true,
              values: days.map(({ first_event_p95_ms: ms }) => ms),
            },
          ]}
        />
      </Card>
    </Columns>
  )
}
