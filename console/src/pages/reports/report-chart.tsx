/** A figure by day, stacked by the first other key: its seven largest parts, and all others as one. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { Card } from '../../ui/card.tsx'
import { Chart, type Series } from '../../ui/chart.tsx'
import { SelectField } from '../../ui/field.tsx'
import { metrics } from '../../ui/metrics.ts'
import { listDays, periodBefore, type Period } from '../../ui/range.ts'
import { Shown } from '../../ui/states.tsx'
import { chartFigures, type ChartFigure } from './address.ts'
import {
  dayPartsQuery,
  type DayParts,
  type PartKey,
  type Question,
  type ReportRow,
} from './queries.ts'

interface ReportChartProps {
  readonly question: Question
  readonly isListRead: boolean
  readonly part: PartKey | undefined
  readonly figure: ChartFigure
  readonly compare: 'before' | undefined
  readonly onFigure: (figure: ChartFigure) => void
  readonly onPeriod: (period: Period) => void
}

export function ReportChart(props: ReportChartProps) {
  const { question, isListRead, part, figure, compare, onFigure, onPeriod } = props
  const navigate = useNavigate()
  const { name, figure: form } = metrics[figure]
  const query = useQuery({
    ...dayPartsQuery({ question, part, figure, compare }),
    enabled: isListRead,
  })
  const label = t('reports.byDay', { figure: name })
  const days = listDays(question)
  return (
    <Card
      title={label}
      hint={
        part === undefined
          ? t('reports.utc')
          : t('reports.utcBy', { key: t(`reports.keys.${part}`).toLowerCase() })
      }
      actions={
        <SelectField
          label={t('reports.figure')}
          value={figure}
          options={chartFigures.map((each) => [each, metrics[each].name] as const)}
          onChange={onFigure}
        />
      }
    >
      <Shown query={query}>
        {(data) => (
          <Chart
            label={label}
            unit="day"
            // A loss is no part of a pile.
            isStacked={figure !== 'margin' || part === undefined}
            height={240}
            figure={form}
            times={days.map((day) => Date.parse(day) / 1_000)}
            series={seriesOf(data, question, metrics[figure])}
            onPeriod={onPeriod}
            onOpen={(period) => {
              const { from: _, to: __, ...filter } = question
              void navigate({ to: '/requests', search: { ...filter, ...period } })
            }}
          />
        )}
      </Shown>
    </Card>
  )
}

function seriesOf(
  { parts, others, before }: DayParts,
  question: Question,
  { name: title, of: valueOf }: (typeof metrics)[ChartFigure],
): readonly Series[] {
  const values = (rows: readonly ReportRow[], period: Period): readonly number[] => {
    const byDay = new Map(rows.map((row) => [row.day, valueOf(row)]))
    return listDays(period).map((day) => byDay.get(day) ?? 0)
  }
  const sumOf = (rows: readonly ReportRow[]): number =>
    rows.reduce((sum, row) => sum + valueOf(row), 0)
  const series = parts
    .filter(({ rows }) => rows.some((row) => valueOf(row) !== 0))
    .toSorted((one, other) => sumOf(other.rows) - sumOf(one.rows))
    .map(({ name, rows }): Series => ({ name, values: values(rows, question), kind: 'bars' }))
  const rest = values(others, question)
  if (series.length === 0 || rest.some((value) => value !== 0))
    series.push({
      name: series.length === 0 ? title : t('reports.others'),
      kind: 'bars',
      values: rest,
    })
  if (before !== undefined)
    series.push({
      name: t('reports.before'),
      kind: 'line',
      isFaint: true,
      values: values(before, periodBefore(question)),
    })
  return series
}
