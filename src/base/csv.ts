/** CSV (RFC 4180). The invariant: text that operators or clients chose never runs as a formula. */
import { plainText } from './plain-text.ts'

export type CsvCell = string | number | null

/** Formats one row of CSV (RFC 4180). */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(csvText).join(',')}\r\n`
}

const plainNumber = /^-?\d+(\.\d+)?$/
/** Also after spaces, and in the full-width forms that some spreadsheets accept. */
const formulaStart = /^(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/

/** A text that a spreadsheet would run gets a leading apostrophe; numbers stay, so that sums work. */
function csvText(value: CsvCell): string {
  const text = value === null ? '' : plainText(value)
  const isFormula = formulaStart.test(text) && !plainNumber.test(text)
  const safe = isFormula ? `'${text}` : text
  // Spreadsheets of some countries separate cells with semicolons or tabs.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
