/**
 * CSV for spreadsheets (RFC 4180). A cell that a spreadsheet would run as a formula is given a
 * leading apostrophe; numbers are left alone, so that sums still work.
 */

export type CsvCell = string | number | null

export function formatCsv(
  heading: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): string {
  return [heading, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

const plainNumber = /^-?\d+(\.\d+)?$/

function cell(value: CsvCell): string {
  const text = value === null ? '' : String(value)
  const isFormula = /^[=+\-@\t\r]/.test(text) && !plainNumber.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
