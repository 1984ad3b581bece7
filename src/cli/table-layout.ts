/**
 * Fits a table into a number of columns of a terminal. The last columns of a table matter least, so they
 * become narrower first. The invariant: no text is cut off; a cell continues on the next line, and a
 * table that is too wide even so becomes one block of `name  value` lines per row.
 */

const gap = 2
/** A column this narrow is hard to read: others become narrower first. */
const comfortableWidth = 24
/** Ids and moments are shorter, so that they stay whole and can be copied. */
const longestWord = 36

/** Lays out a heading and its rows, all of plain text. `width` undefined = as wide as the cells. */
export function layOut(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): string {
  const lines = [heading, ...rows]
  const natural = heading.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  const widths = width === undefined ? natural : fitWidths(lines, natural, width)
  if (widths === undefined) return rows.map((row) => recordOf(heading, row)).join('\n\n')
  return lines.flatMap((line) => wrapLine(line, widths)).join('\n')
}

/** Returns the widths of the columns, or undefined where even the longest words do not fit. */
function fitWidths(
  lines: readonly (readonly string[])[],
  natural: readonly number[],
  width: number,
): readonly number[] | undefined {
  const widths = [...natural]
  const floors = natural.map((_, column) =>
    Math.max(...lines.map((line) => Math.min(longestWord, longestWordOf(line[column] ?? '')))),
  )
  for (const least of [comfortableWidth, 0]) {
    for (let column = widths.length - 1; column >= 0; column -= 1) {
      const excess = totalOf(widths) - width
      if (excess <= 0) return widths
      const now = widths[column] ?? 0
      const floor = Math.min(now, Math.max(least, floors[column] ?? 0))
      widths[column] = Math.max(floor, now - excess)
    }
  }
  return totalOf(widths) <= width ? widths : undefined
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap, -gap)
}

/** Words end behind a space or a comma. */
function wordsOf(text: string): readonly string[] {
  return text.match(/[^ ,]*[ ,]+|[^ ,]+/g) ?? []
}

function longestWordOf(text: string): number {
  return Math.max(0, ...wordsOf(text).map((word) => word.trimEnd().length))
}

function wrapLine(line: readonly string[], widths: readonly number[]): readonly string[] {
  const cells = widths.map((width, column) => wrapText(line[column] ?? '', width))
  const height = Math.max(1, ...cells.map((parts) => parts.length))
  return Array.from({ length: height }, (_, row) =>
    cells
      .map((parts, column) => (parts[row] ?? '').padEnd(widths[column] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

function wrapText(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text]
  const parts: string[] = []
  let part = ''
  for (const word of wordsOf(text)) {
    if ((part + word).trimEnd().length > width && part !== '') {
      parts.push(part.trimEnd())
      part = ''
    }
    part += word
    while (part.trimEnd().length > width) {
      parts.push(part.slice(0, width))
      part = part.slice(width)
    }
  }
  return part.trimEnd() === '' ? parts : [...parts, part.trimEnd()]
}

function recordOf(heading: readonly string[], row: readonly string[]): string {
  const nameWidth = Math.max(...heading.map((name) => name.length))
  return heading
    .map((name, column) => `${name.padEnd(nameWidth)}${' '.repeat(gap)}${row[column] ?? '–'}`)
    .join('\n')
}
