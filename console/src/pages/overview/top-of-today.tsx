/** Where today's spend comes from: the largest models and accounts. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { BarList } from '../../ui/small-charts.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Usd } from '../../ui/values.tsx'
import { largestTodayQuery } from './queries.ts'

const shownMax = 6

export function TopOfToday({ day }: { day: string }) {
  return (
    <div className="columns">
      <Top by="model" title="Models today" day={day} />
      <Top by="account" title="Accounts today" day={day} />
    </div>
  )
}

interface TopProps {
  readonly by: 'model' | 'account'
  readonly title: string
  readonly day: string
}

function Top({ by, title, day }: TopProps) {
  const { data, error, refetch } = useQuery(largestTodayQuery(by, day, shownMax))
  return (
    <Card
      title={title}
      hint="By spend, since 00:00 UTC"
      actions={
        <Link to="/reports" search={{ by, period: 'today' }}>
          Report
        </Link>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Bars by={by} rows={data} title={title} />}
    </Card>
  )
}

type Rows = Awaited<ReturnType<NonNullable<ReturnType<typeof largestTodayQuery>['queryFn']>>>

function Bars({ by, rows, title }: { by: 'model' | 'account'; rows: Rows; title: string }) {
  const spending = rows.filter(({ revenue_usd: spend }) => Number(spend) > 0)
  if (spending.length === 0)
    return (
      <Empty title="No spend today.">The first charged request appears here within seconds.</Empty>
    )
  const largest = spending.toSorted(
    (one, other) => Number(other.revenue_usd) - Number(one.revenue_usd),
  )
  return (
    <BarList
      label={title}
      bars={largest.map((row) => ({
        id: row.account_id ?? row.model ?? '',
        name: nameOf(by, row),
        value: Number(row.revenue_usd),
        text: <Usd value={row.revenue_usd} />,
      }))}
    />
  )
}

function nameOf(by: 'model' | 'account', row: Rows[number]): ReactNode {
  if (by === 'model') return row.model
  if (row.account_id === null) return row.account
  return (
    <Link to="/accounts/$account" params={{ account: row.account_id }}>
      {row.account}
    </Link>
  )
}
