/** The figures that charts show over time, declared once: their name, their form, and how to read them. */
import { t } from '../messages/t.ts'
import type { ChartProps } from './chart.tsx'
import { moneyTerms } from './money-terms.ts'

/** What reports, and the days and hours of the overview, have of a time. */
interface Sums {
  readonly revenue_usd: string
  readonly known_margin_usd: string
  readonly requests: number
  readonly errors: number
  readonly first_event_p50_ms: number | null
  readonly tokens?: number
  readonly total_tokens?: number
}

interface MetricForm {
  readonly name: string
  readonly figure: ChartProps['figure']
  readonly of: (sums: Sums) => number | null
}

export const metrics = {
  spend: {
    name: moneyTerms.revenue_usd.name,
    figure: 'usd',
    of: (sums) => Number(sums.revenue_usd),
  },
  margin: {
    name: moneyTerms.known_margin_usd.name,
    figure: 'usd',
    of: (sums) => Number(sums.known_margin_usd),
  },
  requests: { name: t('time.metrics.requests'), figure: 'count', of: ({ requests }) => requests },
  errors: { name: t('time.metrics.errors'), figure: 'count', of: ({ errors }) => errors },
  'first-event': {
    name: t('time.metrics.firstEvent'),
    figure: 'ms',
    of: (sums) => sums.first_event_p50_ms,
  },
  tokens: {
    name: t('time.metrics.tokens'),
    figure: 'count',
    of: ({ tokens, total_tokens: total }) => total ?? tokens ?? 0,
  },
} as const satisfies Readonly<Record<string, MetricForm>>
