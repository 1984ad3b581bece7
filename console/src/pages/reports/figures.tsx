/** The figures of a report: their columns, and which of them are shown. */
import type { ReactNode } from 'react'
import { moneyTerms } from '../../ui/money-terms.ts'
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

/** All of them, so that the columns of each row add up. */
function moneyColumns(): readonly FigureColumn[] {
  return Object.entries(moneyTerms).map(([word, { name }]) => ({
    word: word as keyof typeof moneyTerms,
    name,
    kind: 'usd',
    isUsual: true,
  }))
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
  { word: 'total_tokens', name: 'Tokens', kind: 'count' },
  { word: 'cache_hit_rate', name: 'Cache hit rate', kind: 'share' },
  ...moneyColumns(),
  { word: 'unknown_cost_requests', name: 'Requests of unknown cost', kind: 'count' },
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
  if (kind === 'usd') return <Usd value={value === null ? null : String(value)} places={2} />
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
