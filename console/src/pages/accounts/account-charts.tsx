/** Where the money of an account went: by day, by model, by key. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { BarList } from '../../ui/small-charts.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Usd } from '../../ui/values.tsx'
import { reportQuery, type Account } from './queries.ts'

const shownMax = 6

export function SpendCharts({ account }: { account: Account }) {
  return (
    <div className="account-charts">
      <Card title="Net spend by day" hint="Spend less refunds, UTC days">
        <DayChart account={account} />
      </Card>
      <Parts account={account} by="model" title="By model" />
      <Parts account={account} by="key" title="By key" />
    </div>
  )
}

const dayMs = 86_400_000

function DayChart({ account: { spend } }: { account: Account }) {
  const startMs = Date.parse(spend.from)
  return (
    <Chart
      label="Net spend by day"
      times={spend.by_day_usd.map((_, index) => (startMs + index * dayMs) / 1000)}
      figure="usd"
      unit="day"
      height={190}
      series={[{ name: 'Net spend', kind: 'bars', values: spend.by_day_usd.map(Number) }]}
    />
  )
}

interface PartsProps {
  readonly account: Account
  readonly by: 'model' | 'key'
  readonly title: string
}

function Parts({ account: { id, spend }, by, title }: PartsProps) {
  const period = { by, from: spend.from, to: spend.to }
  const { data, error, refetch } = useQuery(reportQuery(id, period))
  return (
    <Card title={title} hint="Spend of 30 days, before refunds">
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Bars rows={data} by={by} title={title} account={id} />}
    </Card>
  )
}

type Rows = Awaited<ReturnType<NonNullable<ReturnType<typeof reportQuery>['queryFn']>>>

interface BarsProps {
  readonly rows: Rows
  readonly by: 'model' | 'key'
  readonly title: string
  readonly account: string
}

function Bars({ rows, by, title, account }: BarsProps) {
  if (rows.length === 0)
    return <Empty title="No charge yet.">The first request appears here within seconds.</Empty>
  const largest = rows
    .toSorted((one, other) => Number(other.revenue_usd) - Number(one.revenue_usd))
    .slice(0, shownMax)
  return (
    <>
      <BarList
        label={title}
        bars={largest.map((row) => ({
          id: (by === 'model' ? row.model : row.key_id) ?? '',
          name: nameOf(row, by, account),
          value: Number(row.revenue_usd),
          text: <Usd value={row.revenue_usd} />,
        }))}
      />
      {rows.length > shownMax && (
        <p className="soft account-more-parts">and {rows.length - shownMax} more with less</p>
      )}
    </>
  )
}

/** Leads to the requests behind the bar. */
function nameOf(row: Rows[number], by: 'model' | 'key', account: string): ReactNode {
  const { model, key_id: key } = row
  if (by === 'model') {
    const search = { account, ...(model !== null && { model }) }
    return (
      <Link to="/requests" search={search}>
        {model}
      </Link>
    )
  }
  const search = { account, ...(key !== null && { key }) }
  return (
    <Link to="/requests" search={search}>
      {row.key === null || row.key === '' ? key : row.key}
    </Link>
  )
}
