/** The figures of a report: their columns, and which of them are shown. */
import { t } from '../../messages/t.ts'
import { Change, changeOf } from '../../ui/change.tsx'
import { formatDuration, formatInteger, formatShare, formatUsdExact } from '../../ui/format.ts'
import { moneyTerms } from '../../ui/money-terms.ts'
import { FigureValue } from '../../ui/values.tsx'
import type { ReportRow } from './queries.ts'

type Sums = NonNullable<ReportRow['before']>
export type Word = keyof Sums

export interface FigureColumn {
  readonly word: Word
  readonly name: string
  readonly kind: 'count' | 'usd' | 'ms' | 'share'
  /** Shown where the address names no columns. */
  readonly isUsual?: true
  readonly isGrowthBad?: true
}

/** All of them, so that the columns of each row add up. */
function moneyColumns(): readonly FigureColumn[] {
  const costs: readonly string[] = ['refunded_usd', 'own_cost_usd', 'estimated_cost_usd']
  return Object.entries(moneyTerms).map(([word, { name }]) => ({
    word: word as keyof typeof moneyTerms,
    name,
    kind: 'usd',
    isUsual: true,
    ...(costs.includes(word) && { isGrowthBad: true }),
  }))
}

export const figureColumns: readonly FigureColumn[] = [
  { word: 'requests', name: t('reports.figures.requests'), kind: 'count', isUsual: true },
  { word: 'charged_requests', name: t('reports.figures.chargedRequests'), kind: 'count' },
  {
    word: 'errors',
    name: t('reports.figures.errors'),
    kind: 'count',
    isUsual: true,
    isGrowthBad: true,
  },
  { word: 'failovers', name: t('reports.figures.failovers'), kind: 'count', isGrowthBad: true },
  { word: 'checks', name: t('reports.figures.checks'), kind: 'count' },
  ...moneyColumns(),
  { word: 'margin_rate', name: t('reports.figures.marginRate'), kind: 'share', isUsual: true },
  { word: 'input_tokens', name: t('reports.figures.inputTokens'), kind: 'count', isUsual: true },
  { word: 'output_tokens', name: t('reports.figures.outputTokens'), kind: 'count', isUsual: true },
  { word: 'cache_read_tokens', name: t('reports.figures.cacheReadTokens'), kind: 'count' },
  { word: 'cache_write_tokens', name: t('reports.figures.cacheWriteTokens'), kind: 'count' },
  { word: 'total_tokens', name: t('reports.figures.tokens'), kind: 'count' },
  { word: 'cache_hit_rate', name: t('reports.figures.cacheHitRate'), kind: 'share' },
  { word: 'unknown_cost_requests', name: t('reports.figures.unknownCostRequests'), kind: 'count' },
  {
    word: 'first_event_p50_ms',
    name: t('reports.figures.firstEventMedian'),
    kind: 'ms',
    isGrowthBad: true,
  },
  {
    word: 'first_event_p95_ms',
    name: t('reports.figures.firstEvent95'),
    kind: 'ms',
    isGrowthBad: true,
  },
]

/** A figure, and below it how it has changed, where the row has the period before. */
export function FigureCell({ row, column }: { row: ReportRow; column: FigureColumn }) {
  const { word, kind, isGrowthBad = false } = column
  const { before } = row
  const value = <FigureValue value={row[word]} kind={kind} places={2} />
  if (before === undefined) return value
  const share = before === null ? undefined : changeBetween(row[word], before[word])
  return (
    <>
      {value}
      <div className="small" data-tip={before === null ? undefined : textOf(before[word], kind)}>
        {share === undefined ? (
          <span className="soft">{t('reports.new')}</span>
        ) : (
          <Change share={share} isGrowthBad={isGrowthBad} />
        )}
      </div>
    </>
  )
}

type Value = string | number | null

function changeBetween(now: Value, before: Value): number | undefined {
  return now === null || before === null ? undefined : changeOf(Number(now), Number(before))
}

function textOf(value: Value, kind: FigureColumn['kind']): string {
  if (value === null) return t('reports.none')
  if (kind === 'usd') return formatUsdExact(String(value))
  const format = { share: formatShare, ms: formatDuration, count: formatInteger }[kind]
  return format(Number(value))
}
