/**
 * Output for people: tables and `name  value` lines. The invariant: names that operators or clients
 * chose cannot move a terminal's cursor.
 */
import { plainText } from '../base/plain-text.ts'

/** A cell. Null and undefined show as a dash. */
export type Cell = string | number | boolean | null | undefined | readonly string[]

/**
 * Formats rows below a heading, or returns `empty` where there are no rows. Where the table is wider than
 * the terminal, each row is a block of `name  value` lines; in a pipe or a file it is always one line.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
  width: number | undefined = terminalWidth(),
): string {
  if (rows.length === 0) return empty
  const lines = [heading, ...rows.map((row) => row.map(cellText))]
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  const total = widths.reduce((sum, one) => sum + one + gap.length, -gap.length)
  if (width !== undefined && total > width) return rows.map(blockWith(heading)).join('\n\n')
  return lines
    .map((line) => widths.map((one, column) => (line[column] ?? '').padEnd(one)))
    .map((cells) => cells.join(gap).trimEnd())
    .join('\n')
}

const gap = '  '

function blockWith(heading: readonly string[]) {
  return (row: readonly Cell[]): string =>
    formatFields(Object.fromEntries(heading.map((name, column) => [name, row[column]])))
}

/** Undefined where standard output is no terminal. */
function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}

/** Formats one `name  value` line per field. Values are not nested. */
export function formatFields(fields: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}${gap}${cellText(value)}`.trimEnd())
    .join('\n')
}

function cellText(value: Cell): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'object' ? value.join(', ') || '–' : plainText(value)
  return text.replace(/\p{C}/gu, '�')
}

/** Replaces exact decimal text by the closest JSON number in every field that ends in `_usd`. */
export function usdAsNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(usdAsNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      name.endsWith('_usd') ? amountAsNumber(field) : usdAsNumbers(field),
    ]),
  )
}

function amountAsNumber(field: unknown): unknown {
  if (typeof field === 'string') return Number(field)
  return Array.isArray(field) ? field.map(amountAsNumber) : usdAsNumbers(field)
}

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
