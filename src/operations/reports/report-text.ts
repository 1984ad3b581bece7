/**
 * A whole report as CSV, written while it is read: the keys of `by` in their order, then all sums under
 * the names that they have in JSON. All rows are of one moment of the store.
 */
import { z } from 'zod'
import { csvRow } from '../../base/csv.ts'
import type { ReportDimension } from '../../ledger/report-store.ts'
import type { WriteText } from '../list-text.ts'
import { operation } from '../operation.ts'
import { sumFields } from './report-figures.ts'
import { readLines } from './report-lines.ts'
import { openReport, reportFields } from './report-question.ts'
import { readNames, viewLine, type ReportRow } from './report.ts'

const noPages = z.never('belongs to JSON: CSV has no pages').optional()

const csvInput = z.strictObject({
  ...reportFields,
  format: z.literal('csv', 'must be csv'),
  cursor: noPages,
  limit: noPages,
})

export const printReport = operation(
  { input: csvInput },
  ({ clock, database }, input, write: WriteText): Promise<void> =>
    database.snapshot(async (snapshot) => {
      const { by } = input
      const columns = [...by.flatMap((dimension) => groupColumns[dimension]), ...sumColumns]
      const open = await openReport({ clock, snapshot }, input)
      let after: readonly string[] | undefined
      do {
        const lines = await readLines(open, { after, countMax: linesPerPage + 1 })
        const shown = lines.slice(0, linesPerPage)
        const names = await readNames(snapshot, by, shown)
        // Not before the first page is read: until then the report may be refused.
        if (after === undefined) await write(csvRow(columns))
        for (const line of shown) {
          const row = viewLine(line, by, names)
          await write(csvRow(columns.map((column) => row[column])))
        }
        after = lines.length > shown.length ? shown.at(-1)?.key : undefined
      } while (after !== undefined)
    }),
)

/** Each page groups the whole report again; the rows of one page are read in one turn of the event loop. */
const linesPerPage = 1_000

const groupColumns: Readonly<
  Record<ReportDimension, readonly Exclude<keyof ReportRow, 'before'>[]>
> = {
  day: ['day'],
  account: ['account_id', 'account'],
  key: ['key_id', 'key'],
  model: ['model'],
  channel: ['channel'],
  label: ['label'],
}

const sumColumns = Object.keys(sumFields) as (keyof typeof sumFields)[]
