/** The last thirty days: spend with the part that is margin, and requests with errors. */
import { useQuery } from '@tanstack/react-query'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Failure, Loading } from '../../ui/states.tsx'
import { daysBeforeQuery, viewDay, type DayFigures, type Overview } from './queries.ts'

const daysShown = 30

export function LastThirtyDays({ today }: { today: Overview['today'] }) {
  const { data, error, refetch } = useQuery(daysBeforeQuery(today.day, daysShown - 1))
  if (data === undefined && error !== null)
    return <Failure error={error} onRetry={() => void refetch()} />
  const days = data === undefined ? undefined : [...data, viewDay(today.day, today)]
  return (
    <div className="columns">
      <Card title="Spend and margin" hint="By day (UTC), the last 30 days">
        {days === undefined ? <Loading rows={6} /> : <SpendChart days={days} />}
      </Card>
      <Card title="Requests" hint="By day (UTC), the last 30 days">
        {days === undefined ? <Loading rows={6} /> : <RequestChart days={days} />}
      </Card>
    </div>
  )
}

type Days = readonly DayFigures[]

function SpendChart({ days }: { days: Days }) {
  return (
    <Chart
      label="Spend and margin by day"
      times={days.map(({ day }) => Date.parse(day) / 1000)}
      format={(value) => formatUsd(value.toFixed(6))}
      unit="day"
      series={[
        { name: 'Spend', kind: 'bars', values: days.map(({ spend }) => spend) },
        { name: 'Margin', kind: 'line', values: days.map(({ margin }) => margin) },
      ]}
    />
  )
}

function RequestChart({ days }: { days: Days }) {
  return (
    <Chart
      label="Requests by day"
      isStacked
      times={days.map(({ day }) => Date.parse(day) / 1000)}
      format={(value) => formatCount(Math.round(value))}
      unit="day"
      series={[
        {
          name: 'Succeeded',
          kind: 'bars',
          values: days.map(({ requests, errors }) => requests - errors),
        },
        { name: 'Errors', kind: 'bars', isBad: true, values: days.map(({ errors }) => errors) },
      ]}
    />
  )
}
