/** One figure of today by hour, against the same hours of yesterday. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import type { Metric } from './address.ts'
import type { Overview } from './queries.ts'

type Hour = Overview['hours'][number]

interface MetricForm {
  readonly name: string
  readonly valueOf: (hour: Hour) => number | null
  readonly format: (value: number) => string
}

const formatAmount = (value: number): string => formatUsd(value.toFixed(9))

const forms: Readonly<Record<Metric, MetricForm>> = {
  spend: { name: 'Spend', valueOf: (hour) => Number(hour.revenue_usd), format: formatAmount },
  margin: {
    name: 'Margin',
    valueOf: (hour) => Number(hour.known_margin_usd),
    format: formatAmount,
  },
  requests: { name: 'Requests', valueOf: (hour) => hour.requests, format: formatCount },
  errors: { name: 'Errors', valueOf: (hour) => hour.errors, format: formatCount },
  'first-event': {
    name: 'First event, median',
    valueOf: (hour) => hour.first_event_p50_ms,
    format: formatDuration,
  },
  tokens: { name: 'Tokens', valueOf: (hour) => hour.tokens, format: formatCount },
}
const choices = (['spend', 'margin', 'requests', 'errors', 'first-event', 'tokens'] as const).map(
  (metric) => [metric, forms[metric].name] as const,
)

const dayMs = 86_400_000
const hourMs = 3_600_000
const hoursOfDay = 24
/** One hour alone draws no line. */
const hoursDrawnMin = 2

export function Hours({ data }: { data: Overview }) {
  const { metric = 'spend' } = useSearch({ from: '/shell/' })
  const navigate = useNavigate({ from: '/' })
  const { name, valueOf, format } = forms[metric]
  const midnightMs = Date.parse(data.today.day)
  const valuesFrom = (beginMs: number): (number | null)[] => {
    const known = new Map(data.hours.map((hour) => [Date.parse(hour.from), hour]))
    return Array.from({ length: hoursOfDay }, (_, index) => {
      const hour = known.get(beginMs + index * hourMs)
      return hour !== undefined && isFull(hour) ? valueOf(hour) : null
    })
  }
  return (
    <Card
      title="By hour"
      hint="Full hours of today and yesterday, from 00:00 UTC"
      actions={
        <SelectField
          label="Figure"
          value={metric}
          options={choices}
          onChange={(chosen) => void navigate({ search: { metric: chosen }, replace: true })}
        />
      }
    >
      {data.hours.filter(isFull).length < hoursDrawnMin ? (
        <Empty title="No figures by hour yet.">
          They begin in the second hour after the first start of the gateway.
        </Empty>
      ) : (
        <Chart
          label={`${name} by hour`}
          unit="moment"
          height={220}
          format={format}
          times={Array.from(
            { length: hoursOfDay },
            (_, index) => midnightMs / 1000 + index * 3_600,
          )}
          series={[
            { name: 'Today', kind: 'area', values: valuesFrom(midnightMs) },
            {
              name: 'Yesterday',
              kind: 'line',
              isFaint: true,
              values: valuesFrom(midnightMs - dayMs),
            },
          ]}
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
