/** The spend of an account in a period, by day, model and key, and its margin. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { subtractUsd } from '../../ui/exact.ts'
import { Columns } from '../../ui/layout.tsx'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { noMoney } from '../../ui/money-terms.ts'
import { listDays, type Period, type RangeChange } from '../../ui/range.ts'
import { BarList } from '../../ui/small-charts.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Usd } from '../../ui/values.tsx'
import { reportQuery, type ReportRow } from './queries.ts'

interface ChartsProps {
  /** Id of the account. */
  readonly account: string
  readonly period: Period
  /** The period in words. */
  readonly hint: string
  readonly onPeriod: (range: RangeChange) => void
}

export function SpendCharts(props: ChartsProps) {
  const { account, period, hint } = props
  const { data } = useQuery(reportQuery(account, { by: 'total', ...period }))
  return (
    <>
      <MoneyEquation hint={hint} figures={data?.[0] ?? noMoney} />
      <Card title={t('accounts.netByDay')} hint={t('accounts.netByDayHint')}>
        <Read {...props} by="day">
          {(rows) => <DayChart {...props} rows={rows} />}
        </Read>
      </Card>
      <Columns>
        {(['model', 'key'] as const).map((by) => (
          <Card key={by} title={t(`accounts.parts.${by}`)} hint={t('accounts.beforeRefunds')}>
            <Read {...props} by={by}>
              {(rows) => <Bars rows={rows} by={by} account={account} period={period} />}
            </Read>
          </Card>
        ))}
      </Columns>
    </>
  )
}

interface ReadProps extends ChartsProps {
  readonly by: 'day' | 'model' | 'key'
  readonly children: (rows: readonly ReportRow[]) => ReactNode
}

function Read({ account, period, by, children }: ReadProps) {
  return <Shown query={useQuery(reportQuery(account, { by, ...period }))}>{children}</Shown>
}

function DayChart(props: ChartsProps & { readonly rows: readonly ReportRow[] }) {
  const { account, period, rows, onPeriod } = props
  const navigate = useNavigate()
  const net = new Map(
    rows.map(({ day, revenue_usd: spend, refunded_usd: refunds }) => [
      day,
      Number(subtractUsd(spend, refunds)),
    ]),
  )
  const days = listDays(period)
  return (
    <Chart
      label={t('accounts.netByDay')}
      times={days.map((day) => Date.parse(day) / 1_000)}
      figure="usd"
      unit="day"
      height={190}
      series={[
        {
          name: t('accounts.netSpend'),
          kind: 'bars',
          values: days.map((day) => net.get(day) ?? 0),
        },
      ]}
      onPeriod={(chosen) => onPeriod({ range: undefined, ...chosen })}
      onOpen={(day) => void navigate({ to: '/requests', search: { account, ...day } })}
    />
  )
}

const shownMax = 6

interface BarsProps {
  readonly rows: readonly ReportRow[]
  readonly by: 'model' | 'key'
  readonly account: string
  readonly period: Period
}

/** Each leads to the requests behind it. */
function Bars({ rows, by, account, period }: BarsProps) {
  if (rows.length === 0)
    return <Empty title={t('accounts.noChargeTitle')}>{t('accounts.noCharge')}</Empty>
  const largest = rows
    .toSorted((one, other) => Number(other.revenue_usd) - Number(one.revenue_usd))
    .slice(0, shownMax)
  return (
    <>
      <BarList
        label={t(`accounts.parts.${by}`)}
        bars={largest.map(({ model, key_id: key, key: keyName, revenue_usd: spend }) => {
          const id = (by === 'model' ? model : key) ?? ''
          return {
            id,
            name: (
              <Link to="/requests" search={{ account, [by]: id, ...period }}>
                {by === 'model' || keyName === null || keyName === '' ? id : keyName}
              </Link>
            ),
            value: Number(spend),
            text: <Usd value={spend} places={2} />,
          }
        })}
      />
      {rows.length > shownMax && (
        <p className="soft small">
          {t('accounts.moreParts', { count: String(rows.length - shownMax) })}
        </p>
      )}
    </>
  )
}
