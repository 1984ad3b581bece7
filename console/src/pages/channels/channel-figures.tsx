/** What a channel has done in the last thirty days: money, requests, errors, times. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { Card, Figure, Figures } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatDuration, formatShare } from '../../ui/format.ts'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { moneyTerms, noMoney } from '../../ui/money-terms.ts'
import { Failure, Loading } from '../../ui/states.tsx'
import { Count, Duration, Missing, Usd } from '../../ui/values.tsx'
import { channelFiguresQuery, type ChannelDetail, type ReportRow } from './queries.ts'

const daysShown = 30

type Days = readonly {
  readonly day: string
  readonly row: ReportRow | undefined
}[]

export function ChannelFigures({ detail }: { detail: ChannelDetail }) {
  const { data, error, refetch } = useQuery(channelFiguresQuery(detail.name, daysShown))
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  return (
    <>
      <Totals total={data?.total} checks={detail.check_cost} />
      <MoneyEquation hint={t('channels.last30')} figures={data?.total ?? noMoney} />
      <div className="columns">
        <Card title={t('channels.requests')} hint={t('channels.byDay')}>
          {data === undefined ? (
            <Loading rows={6} />
          ) : (
            <RequestChart channel={detail.name} days={data.days} />
          )}
        </Card>
        <Card title={t('channels.timeToFirst')} hint={t('channels.timesByDay')}>
          {data === undefined ? <Loading rows={6} /> : <TimeChart days={data.days} />}
        </Card>
      </div>
    </>
  )
}

function Totals({
  total,
  checks,
}: {
  readonly total: ReportRow | undefined
  readonly checks: ChannelDetail['check_cost']
}) {
  const loading = <Missing why={t('channels.noRequest30')} />
  const p95 = total?.first_event_p95_ms ?? null
  const errorShare =
    total === undefined || total.requests === 0 ? undefined : total.errors / total.requests
  return (
    <Figures>
      <Figure
        label={t('channels.of30', { name: moneyTerms.revenue_usd.name })}
        value={total === undefined ? loading : <Usd value={total.revenue_usd} />}
        note={t('channels.paidFor')}
      />
      <Figure
        label={t('channels.of30', { name: t('channels.requests') })}
        value={total === undefined ? loading : <Count value={total.requests} />}
        note={
          errorShare === undefined
            ? t('channels.none')
            : t('channels.errorsNote', {
                errors: formatCount(total?.errors ?? 0),
                share: formatShare(errorShare),
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

/** A day leads to its requests on this channel, a drag to the report of these days. */
function RequestChart({ channel, days }: { channel: string; days: Days }) {
  const navigate = useNavigate()
  return (
    <Chart
      label={t('channels.requestChart')}
      isStacked
      times={timesOf(days)}
      figure="count"
      unit="day"
      series={[
        {
          name: t('channels.succeeded'),
          kind: 'bars',
          values: days.map(({ row }) => (row?.requests ?? 0) - (row?.errors ?? 0)),
        },
        {
          name: t('channels.errors'),
          kind: 'bars',
          isBad: true,
          values: days.map(({ row }) => row?.errors ?? 0),
        },
      ]}
      onPeriod={(period) => void navigate({ to: '/reports', search: { channel, ...period } })}
      onOpen={(day) => void navigate({ to: '/requests', search: { channel, ...day } })}
    />
  )
}

function TimeChart({ days }: { days: Days }) {
  return (
    <Chart
      label={t('channels.timeChart')}
      times={timesOf(days)}
      figure="ms"
      unit="day"
      series={[
        {
          name: t('channels.median'),
          kind: 'line',
          values: days.map(({ row }) => row?.first_event_p50_ms ?? null),
        },
        {
          name: t('channels.p95'),
          kind: 'line',
          isFaint: true,
          values: days.map(({ row }) => row?.first_event_p95_ms ?? null),
        },
      ]}
    />
  )
}

function timesOf(days: Days): readonly number[] {
  return days.map(({ day }) => Date.parse(day) / 1_000)
}
