/**
 * CSV for spreadsheets (RFC 4180). A cell that a spreadsheet would run as a formula is given a
 * leading apostrophe; numbers are left alone, so that sums still work.
 */

export type CsvCell = string | number | null

export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

const plainNumber = /^-?\d+(\.\d+)?$/
/** Also behind spaces, and in the full width that some spreadsheets read as the same. */
const formulaStart = /^(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/

function cell(value: CsvCell): string {
  const text = value === null ? '' : String(value)
  const isFormula = formulaStart.test(text) && !plainNumber.test(text)
  const safe = isFormula ? `'${text}` : text
  // A semicolon or a tab parts cells in other countries' spreadsheets.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
