/**
 * Lays out Markdown tables as the formatter of this project does, and writes a report and its figures to
 * their places: the report between two marks in docs/performance.md, the figures as JSON in bench/results/.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from '../machine.ts'

export interface Column<Row> {
  readonly heading: string
  /** Figures are aligned right, words left. */
  readonly align: 'left' | 'right'
  readonly cell: (row: Row) => string
}

export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const laidOut = columns.map((column) => layOut(column, rows))
  const lines = [0, 1, ...rows.map((_, index) => index + 2)]
  return lines
    .map((line) => `| ${laidOut.map((cells) => cells[line] ?? '').join(' | ')} |\n`)
    .join('')
}

/** The cells of one column from top to bottom, all of one width. */
function layOut<Row>(column: Column<Row>, rows: readonly Row[]): readonly string[] {
  const cells = [column.heading, ...rows.map((row) => column.cell(row))]
  const width = Math.max(3, ...cells.map((cell) => cell.length))
  const isRight = column.align === 'right'
  const rule = isRight ? '-'.repeat(width - 1) + ':' : '-'.repeat(width)
  const padded = cells.map((cell) => (isRight ? cell.padStart(width) : cell.padEnd(width)))
  return [padded[0] ?? '', rule, ...padded.slice(1)]
}

/** Formats a figure with three significant digits or more; a dash if it was not measured. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const magnitude = Math.abs(value)
  const decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
  const [whole = '', fraction] = value.toFixed(decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Formats `2.31 ×`; a dash if it was not measured. */
export function formatRatio(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(2)} ×` : '–'
}

/** The reports in the documentation, each between its own marks. */
export type ReportName =
  | 'slow'
  | 'bench'
  | 'growth'
  | 'stores'
  | 'bodies'
  | 'attacks'
  | 'refusals'
  | 'traces'
  | 'console'
  | 'processes'
  | 'soak'

export function writeReport(root: string, report: string, name: ReportName = 'bench'): string {
  const path = join(root, 'docs', 'performance.md')
  writeFileSync(path, replaceBetweenMarks(readFileSync(path, 'utf8'), report, name))
  return path
}

/** Returns the text with the report replaced; everything outside the marks stays unchanged. */
export function replaceBetweenMarks(
  text: string,
  report: string,
  name: ReportName = 'bench',
): string {
  const beginMark = `<!-- ${name}:begin -->`
  const endMark = `<!-- ${name}:end -->`
  const begin = text.indexOf(beginMark)
  const end = text.indexOf(endMark)
  if (begin < 0 || end < begin) throw new Error(`${beginMark} and ${endMark} are not in the text`)
  return `${text.slice(0, begin)}${beginMark}\n\n${report}\n${text.slice(end)}`
}

/** `part` is the beginning of the file's name. */
export function writeFigures(
  root: string,
  figures: { readonly machine: Machine },
  part = '',
): string {
  const folder = join(root, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const time = figures.machine.date.replaceAll(/[^0-9]/g, '')
  const path = join(folder, `${part}${time}-${figures.machine.commit.replaceAll(' ', '-')}.json`)
  writeFileSync(path, JSON.stringify(figures, undefined, 2) + '\n')
  return path
}
