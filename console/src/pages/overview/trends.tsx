/** The last thirty days: spend with the part that is margin, and requests with errors. */
import { useQuery } from '@tanstack/react-query'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Failure, Loading } from '../../ui/states.tsx'
import { lastDaysQuery } from './queries.ts'

const daysShown = 30

export function LastThirtyDays() {
  const { data, error, refetch } = useQuery(lastDaysQuery(daysShown))
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  return (
    <div className="columns">
      <Card title="Spend and margin" hint="By day (UTC), the last 30 days">
        {data === undefined ? <Loading rows={6} /> : <SpendChart days={data} />}
      </Card>
      <Card title="Requests" hint="By day (UTC), the last 30 days">
        {data === undefined ? <Loading rows={6} /> : <RequestChart days={data} />}
      </Card>
    </div>
  )
}

type Days = Awaited<ReturnType<NonNullable<ReturnType<typeof lastDaysQuery>['queryFn']>>>

function SpendChart({ days }: { days: Days }) {
  return (
    <Chart
      label="Spend and margin by day"
      times={days.map(({ day }) => Date.parse(day) / 1000)}
      format={(value) => formatUsd(value.toFixed(6))}
      unit="day"
      series={[
        {
          name: 'Spend',
          kind: 'bars',
          values: days.map(({ row }) => Number(row?.revenue_usd ?? 0)),
        },
        {
          name: 'Margin',
          kind: 'line',
          values: days.map(({ row }) => Number(row?.known_margin_usd ?? 0)),
        },
      ]}
    />
  )
}

function RequestChart({ days }: { days: Days }) {
  const good = days.map(({ row }) => (row?.requests ?? 0) - (row?.errors ?? 0))
  return (
    <Chart
      label="Requests by day"
      isStacked
      times={days.map(({ day }) => Date.parse(day) / 1000)}
      format={(value) => formatCount(Math.round(value))}
      unit="day"
      series={[
        { name: 'Succeeded', kind: 'bars', values: good },
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
