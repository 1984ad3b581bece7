/** What a channel has done in the last thirty days: money, requests, errors, times. */
import { useQuery } from '@tanstack/react-query'
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
      <MoneyEquation hint="The last 30 days" figures={data?.total ?? noMoney} />
      <div className="columns">
        <Card title="Requests" hint="By day (UTC), the last 30 days">
          {data === undefined ? <Loading rows={6} /> : <RequestChart days={data.days} />}
        </Card>
        <Card title="Time to first event" hint="Median and 95th percentile by day (UTC)">
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
  const loading = <Missing why="No request in the last 30 days" />
  const p95 = total?.first_event_p95_ms ?? null
  const errorShare =
    total === undefined || total.requests === 0 ? undefined : total.errors / total.requests
  return (
    <Figures>
      <Figure
        label={`${moneyTerms.revenue_usd.name}, 30 days`}
        value={total === undefined ? loading : <Usd value={total.revenue_usd} />}
        note="paid for requests that it answered"
      />
      <Figure
        label="Requests, 30 days"
        value={total === undefined ? loading : <Count value={total.requests} />}
        note={
          errorShare === undefined
            ? 'none'
            : `${formatCount(total?.errors ?? 0)} errors (${formatShare(errorShare)})`
        }
      />
      <Figure
        label="First event, median"
        value={<Duration ms={total?.first_event_p50_ms ?? null} />}
        note={p95 === null ? 'not measured' : `95th percentile ${formatDuration(p95)}`}
      />
      <Figure
        label={`Checks in ${checks.month}`}
        value={<Usd value={checks.usd} />}
        note={`${formatCount(checks.count)} ${checks.count === 1 ? 'check' : 'checks'}, at list price`}
      />
    </Figures>
  )
}

function RequestChart({ days }: { days: Days }) {
  return (
    <Chart
      label="Requests of this channel by day"
      isStacked
      times={timesOf(days)}
      figure="count"
      unit="day"
      series={[
        {
          name: 'Succeeded',
          kind: 'bars',
          values: days.map(({ row }) => (row?.requests ?? 0) - (row?.errors ?? 0)),
        },
        {
          name: 'Errors',
          kind: 'bars',
          isBad: true,
          values: days.map(({ row }) => row?.errors ?? 0),
        },
      ]}
    />
  )
}

function TimeChart({ days }: { days: Days }) {
  return (
    <Chart
      label="Time to the first event of this channel by day"
      times={timesOf(days)}
      figure="ms"
      unit="day"
      series={[
        {
          name: 'Median',
          kind: 'line',
          values: days.map(({ row }) => row?.first_event_p50_ms ?? null),
        },
        {
          name: '95th percentile',
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
