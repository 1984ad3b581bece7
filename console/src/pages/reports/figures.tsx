/** The figures of a report: their columns, and which of them are shown. */
import type { ReactNode } from 'react'
import type { Column } from '../../ui/table.tsx'
import { Count, Duration, Usd } from '../../ui/values.tsx'
import type { ReportRow } from './queries.ts'

type Word = {
  [Name in keyof ReportRow]: ReportRow[Name] extends string | number | null ? Name : never
}[keyof ReportRow]

interface FigureColumn {
  readonly word: Word
  readonly name: string
  readonly kind: 'count' | 'usd' | 'time' | 'share'
  /** Shown where the reader has chosen no columns. */
  readonly isUsual?: true
}

export const figureColumns: readonly FigureColumn[] = [
  { word: 'requests', name: 'Requests', kind: 'count', isUsual: true },
  { word: 'charged_requests', name: 'Charged requests', kind: 'count' },
  { word: 'errors', name: 'Errors', kind: 'count', isUsual: true },
  { word: 'failovers', name: 'Failovers', kind: 'count' },
  { word: 'checks', name: 'Checks', kind: 'count' },
  { word: 'input_tokens', name: 'Input tokens', kind: 'count', isUsual: true },
  { word: 'output_tokens', name: 'Output tokens', kind: 'count', isUsual: true },
  { word: 'cache_read_tokens', name: 'Cache read tokens', kind: 'count' },
  { word: 'cache_write_tokens', name: 'Cache write tokens', kind: 'count' },
  { word: 'cache_hit_rate', name: 'Cache hit rate', kind: 'share' },
  { word: 'revenue_usd', name: 'Spend', kind: 'usd', isUsual: true },
  { word: 'refunded_usd', name: 'Refunded', kind: 'usd' },
  { word: 'own_cost_usd', name: 'Own cost', kind: 'usd', isUsual: true },
  { word: 'estimated_cost_usd', name: 'Estimated cost', kind: 'usd' },
  { word: 'known_margin_usd', name: 'Known margin', kind: 'usd', isUsual: true },
  { word: 'margin_usd', name: 'Margin', kind: 'usd' },
  { word: 'unknown_cost_requests', name: 'Requests of unknown cost', kind: 'count' },
  { word: 'unknown_cost_revenue_usd', name: 'Spend of unknown cost', kind: 'usd' },
  { word: 'first_event_p50_ms', name: 'First event, median', kind: 'time' },
  { word: 'first_event_p95_ms', name: 'First event, 95 %', kind: 'time' },
]

/** The words of the shown columns. */
export function shownWords(columns: string | undefined): readonly string[] {
  if (columns === undefined)
    return figureColumns.filter(({ isUsual }) => isUsual).map(({ word }) => word)
  const chosen = columns.split(',')
  return figureColumns.map(({ word }) => word).filter((word) => chosen.includes(word))
}

export function columnOf({ word, name, kind }: FigureColumn, isSorted: boolean): Column<ReportRow> {
  return {
    name,
    isNumber: true,
    ...(isSorted && { sort: word }),
    cell: (row) => show(row[word], kind),
  }
}

function show(value: string | number | null, kind: FigureColumn['kind']): ReactNode {
  if (kind === 'usd') return <Usd value={value === null ? null : String(value)} />
  const number = value === null ? null : Number(value)
  if (kind === 'share') return number === null ? '' : `${Math.round(100 * number)} %`
  return kind === 'time' ? <Duration ms={number} /> : <Count value={number} />
}

/** For sorting only: amounts are rounded to a binary number. */
export function sortValue(row: ReportRow, word: string): string | number {
  const column = figureColumns.find((each) => each.word === word)
  if (column === undefined) {
    const texts = new Map<string, string | null>(Object.entries(keyTexts(row)))
    return texts.get(word) ?? ''
  }
  return Number(row[column.word] ?? Number.NEGATIVE_INFINITY)
}

function keyTexts({ day, account, key, model, channel }: ReportRow) {
  return { day, account, key, model, channel }
}
