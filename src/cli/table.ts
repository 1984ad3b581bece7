/**
 * Text for people: tables and short lists. Whatever operators or clients have named is shown with
 * its control characters replaced, so that no name can move a terminal's cursor.
 */

/** What a cell may hold; null and undefined show as a dash. */
export type Cell = string | number | boolean | null | undefined | readonly string[]

/** Rows under a heading, columns as wide as their widest cell; `empty` where there are no rows. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty
  const lines = [heading, ...rows].map((row) => row.map(cellText))
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One `name  value` line per entry; nested objects are not for this. */
export function formatFields(fields: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd())
    .join('\n')
}

function cellText(value: Cell): string {
  if (value === null || value === undefined) return '–'
  const text = typeof value === 'object' ? value.join(', ') : String(value)
  return text.replace(/\p{C}/gu, '�')
}
