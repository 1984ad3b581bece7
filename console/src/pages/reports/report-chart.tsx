/** A figure by day, stacked by the first other key: its seven largest parts, and all others as one. */
import { useQuery } from '@tanstack/react-query'
import { Card } from '../../ui/card.tsx'
import { Chart, type Series } from '../../ui/chart.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Failure, Loading } from '../../ui/states.tsx'
import { chartFigures, listDays, type ChartFigure } from './address.ts'
import {
  dayPartsQuery,
  type DayParts,
  type PartKey,
  type Question,
  type ReportRow,
} from './queries.ts'

interface FigureForm {
  readonly title: string
  readonly valueOf: (row: ReportRow) => number
  readonly format: (value: number) => string
}

const count = (value: number): string => formatCount(Math.round(value))

const figures: Readonly<Record<ChartFigure, FigureForm>> = {
  spend: {
    title: 'Spend',
    valueOf: (row) => Number(row.revenue_usd),
    format: (value) => formatUsd(value.toFixed(6)),
  },
  requests: { title: 'Requests', valueOf: (row) => row.requests, format: count },
  tokens: {
    title: 'Tokens',
    valueOf: (row) => row.total_tokens,
    format: count,
  },
}

interface ReportChartProps {
  readonly question: Question
  readonly isListRead: boolean
  readonly part: PartKey | undefined
  readonly figure: ChartFigure
  readonly onFigure: (figure: ChartFigure) => void
}

export function ReportChart({ question, isListRead, part, figure, onFigure }: ReportChartProps) {
  const { title, valueOf, format } = figures[figure]
  const { data, error, refetch } = useQuery({
    ...dayPartsQuery(question, part, { figure, valueOf }),
    enabled: isListRead,
  })
  const label = `${title} by day`
  return (
    <Card
      title={label}
      hint={part === undefined ? 'UTC' : `UTC, by ${part}`}
      actions={
        <SelectField
          label="Figure"
          value={figure}
          options={chartFigures.map((each) => [each, figures[each].title] as const)}
          onChange={onFigure}
        />
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={6} />}
      {error === null && data !== undefined && (
        <Chart
          label={label}
          unit="day"
          isStacked
          height={240}
          format={format}
          times={listDays(question).map((day) => Date.parse(day) / 1_000)}
          series={seriesOf(data, listDays(question), { title, valueOf })}
        />
      )}
    </Card>
  )
}

function seriesOf(
  { parts, others }: DayParts,
  days: readonly string[],
  { title, valueOf }: Pick<FigureForm, 'title' | 'valueOf'>,
): readonly Series[] {
  const byDay = (rows: readonly ReportRow[]): readonly number[] => {
    const values = new Map(rows.map((row) => [row.day, valueOf(row)]))
    return days.map((day) => values.get(day) ?? 0)
  }
  const series = parts.map(({ name, rows }): Series => ({
    name,
    values: byDay(rows),
    kind: 'bars',
  }))
  const rest = byDay(others)
  if (series.length > 0 && rest.every((value) => value === 0)) return series
  return [...series, { name: series.length === 0 ? title : 'Others', kind: 'bars', values: rest }]
}
