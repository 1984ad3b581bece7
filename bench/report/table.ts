/** Markdown tables, laid out as the formatter of this project lays them out: padded columns. */

export interface Column<Row> {
  readonly heading: string
  /** Figures stand right, words left. */
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

/** A figure with as many decimals as its size deserves; a dash for what was not measured. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const magnitude = Math.abs(value)
  const decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
  const [whole = '', fraction] = value.toFixed(decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** `2.31 ×`; a dash for what was not measured. */
export function formatRatio(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(2)} ×` : '–'
}
