/** Today by hour, the last thirty days, and where today's spend comes from; each leads to its requests. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { SelectField } from '../../ui/field.tsx'
import { metrics } from '../../ui/metrics.ts'
import type { Period } from '../../ui/range.ts'
import { BarList } from '../../ui/small-charts.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Usd } from '../../ui/values.tsx'
import { metricWords } from './address.ts'
import {
  daysBeforeQuery,
  largestTodayQuery,
  type DayFigures,
  type LargestRow,
  type Overview,
} from './queries.ts'
import { AccountLink } from '../links.tsx'

type Hour = Overview['hours'][number]

const dayMs = 86_400_000
const hourMs = 3_600_000
const hoursOfDay = 24
/** One hour alone draws no line. */
const hoursDrawnMin = 2

function useOpenRequests(): (period: Period) => void {
  const navigate = useNavigate()
  return (period) => void navigate({ to: '/requests', search: period })
}

/** One figure of today by hour, against the same hours of yesterday. */
export function Hours({ data }: { data: Overview }) {
  const { metric = 'spend' } = useSearch({ from: '/shell/' })
  const navigate = useNavigate({ from: '/' })
  const openRequests = useOpenRequests()
  const { name, figure, of } = metrics[metric]
  const midnightMs = Date.parse(data.today.day)
  const hours = new Map(data.hours.filter(isFull).map((hour) => [Date.parse(hour.from), hour]))
  const valuesFrom = (beginMs: number): (number | null)[] =>
    Array.from({ length: hoursOfDay }, (_, index) => {
      const hour = hours.get(beginMs + index * hourMs)
      return hour === undefined ? null : of(hour)
    })
  return (
    <Card
      title={t('overview.byHour')}
      hint={t('overview.byHourHint')}
      actions={
        <SelectField
          label={t('overview.figure')}
          value={metric}
          options={metricWords.map((word) => [word, metrics[word].name] as const)}
          onChange={(chosen) => void navigate({ search: { metric: chosen }, replace: true })}
        />
      }
    >
      {hours.size < hoursDrawnMin ? (
        <Empty title={t('overview.noHours')}>{t('overview.noHoursAdvice')}</Empty>
      ) : (
        <Chart
          label={t('overview.figureByHour', { figure: name })}
          unit="moment"
          height={220}
          figure={figure}
          times={Array.from({ length: hoursOfDay }, (_, hour) => midnightMs / 1000 + hour * 3_600)}
          series={[
            { name: t('overview.thisDay'), kind: 'area', values: valuesFrom(midnightMs) },
            {
              name: t('overview.dayBefore'),
              kind: 'line',
              isFaint: true,
              values: valuesFrom(midnightMs - dayMs),
            },
          ]}
          onPeriod={openRequests}
          onOpen={openRequests}
        />
      )}
    </Card>
  )
}

/**
 * The running hour would look like a fall. After a gap in the records, one hour would have the figures of
 * several.
 */
function isFull({ is_exact: isExact, from, until }: Hour): boolean {
  return isExact && Date.parse(until) - Date.parse(from) === hourMs
}

const daysShown = 30

/** Spend with the part that is margin, and requests with errors. A drag leads to the report of these days. */
export function LastThirtyDays({ today }: { today: Overview['today'] }) {
  return (
    <Shown query={useQuery(daysBeforeQuery(today.day, daysShown - 1))}>
      {(before) => <DayCharts days={[...before, today]} />}
    </Shown>
  )
}

function DayCharts({ days }: { days: readonly DayFigures[] }) {
  const navigate = useNavigate()
  const openRequests = useOpenRequests()
  const values = (of: (day: DayFigures) => number): readonly number[] => days.map(of)
  const common = {
    unit: 'day',
    times: days.map(({ day }) => Date.parse(day ?? '') / 1000),
    onPeriod: (period: Period) => void navigate({ to: '/reports', search: period }),
    onOpen: openRequests,
  } as const
  return (
    <div className="columns">
      <Card title={t('overview.spendAndMargin')} hint={t('overview.thirtyDays')}>
        <Chart
          {...common}
          label={t('overview.spendByDay')}
          figure="usd"
          series={[
            { name: metrics.spend.name, kind: 'bars', values: values(metrics.spend.of) },
            { name: metrics.margin.name, kind: 'line', values: values(metrics.margin.of) },
          ]}
        />
      </Card>
      <Card title={metrics.requests.name} hint={t('overview.thirtyDays')}>
        <Chart
          {...common}
          label={t('overview.requestsByDay')}
          isStacked
          figure="count"
          series={[
            {
              name: t('overview.succeeded'),
              kind: 'bars',
              values: values(({ requests, errors }) => requests - errors),
            },
            {
              name: metrics.errors.name,
              kind: 'bars',
              isBad: true,
              values: values(metrics.errors.of),
            },
          ]}
        />
      </Card>
    </div>
  )
}

const largestShown = 6

interface TopProps {
  readonly by: 'model' | 'account'
  readonly title: string
  readonly day: string
}

export function TopOfToday({ day }: { day: string }) {
  return (
    <div className="columns">
      <Top by="model" title={t('overview.modelsToday')} day={day} />
      <Top by="account" title={t('overview.accountsToday')} day={day} />
    </div>
  )
}

function Top({ by, title, day }: TopProps) {
  const query = useQuery(largestTodayQuery(by, day, largestShown))
  return (
    <Card
      title={title}
      hint={t('overview.bySpend')}
      actions={
        <Link to="/reports" search={{ by, range: 'today' }}>
          {t('overview.report')}
        </Link>
      }
    >
      <Shown query={query} rows={4}>
        {(rows) => <Bars title={title} day={day} rows={rows} />}
      </Shown>
    </Card>
  )
}

interface BarsProps extends Pick<TopProps, 'title' | 'day'> {
  readonly rows: readonly LargestRow[]
}

function Bars({ title, day, rows }: BarsProps) {
  const spending = rows.filter(({ revenue_usd: spend }) => Number(spend) > 0)
  if (spending.length === 0)
    return <Empty title={t('overview.noSpend')}>{t('overview.noSpendAdvice')}</Empty>
  return (
    <BarList
      label={title}
      bars={spending.map((row) => ({
        id: row.account_id ?? row.model ?? '',
        name: topName(row, day),
        value: Number(row.revenue_usd),
        text: <Usd value={row.revenue_usd} />,
      }))}
    />
  )
}

function topName({ account, account_id: id, model }: LargestRow, day: string): ReactNode {
  if (id !== null) return <AccountLink id={id}>{account}</AccountLink>
  return (
    <Link to="/requests" search={{ from: day, to: day, ...(model !== null && { model }) }}>
      {model}
    </Link>
  )
}
