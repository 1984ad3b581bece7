/** CSV files of a table, in the form that the gateway itself writes: no cell runs as a formula. */
import { csvRow, type CsvCell } from '../../../src/base/csv.ts'

export type { CsvCell }

export function csvText(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [header, ...rows].map(csvRow).join('')
}

/** Hands a text to the browser as a file. */
export function saveFile(name: string, text: string, type = 'text/csv'): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
