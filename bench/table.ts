/**
 * Lays out Markdown tables as the formatter of this project does, and keeps the last report of each kind in
 * bench/results/, some with their figures as JSON beside it.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Column<Row> {
  readonly heading: string
  /** Figures are aligned right, words left. */
  readonly align: 'left' | 'right'
  readonly cell: (row: Row) => string
}

/** A column of words. */
export function text<Row>(heading: string, cell: (row: Row) => string): Column<Row> {
  return { heading, align: 'left', cell }
}

/** A column of figures. */
export function figure<Row>(heading: string, valueOf: (row: Row) => number): Column<Row> {
  return { heading, align: 'right', cell: (row) => formatFigure(valueOf(row)) }
}

/** A column of whole numbers. */
export function count<Row>(heading: string, valueOf: (row: Row) => number): Column<Row> {
  return { heading, align: 'right', cell: (row) => valueOf(row).toLocaleString('en') }
}

/** Returns an empty text where there are no rows. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  if (rows.length === 0) return ''
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

/** One line for each thing that must be right. */
export function formatChecks(
  checks: readonly { readonly what: string; readonly isRight: boolean }[],
): string {
  return checks.map((one) => `- ${one.isRight ? 'right' : '**WRONG**'}: ${one.what}\n`).join('')
}

/** Keeps the report of one kind of run, which the next run of this kind replaces; returns its path. */
export function writeResult(root: string, file: string, content: string): string {
  const folder = join(root, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, file)
  writeFileSync(path, content)
  return path
}
