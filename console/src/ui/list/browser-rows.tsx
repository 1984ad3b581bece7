/** What a list can do with rows that are all in the browser: sort them, and save them as a file. */
import type { RowData } from '@tanstack/react-table'
import { Download } from 'lucide-react'
import { t } from '../../messages/t.ts'
import { Button } from '../button.tsx'
import { csvText, saveFile } from '../csv.ts'
import type { ListColumn, Sort } from './define.ts'

type Columns<Row extends RowData> = readonly Pick<
  ListColumn<Row>,
  'name' | 'sort' | 'value' | 'csv'
>[]

/** Sorts by the values of a column. A value that is null comes last either way. */
export function sortRows<Row extends RowData>(
  rows: readonly Row[],
  columns: Columns<Row>,
  sort: Sort | undefined,
): readonly Row[] {
  const valueOf = columns.find((column) => column.sort === sort?.by)?.value
  if (sort === undefined || valueOf === undefined) return rows
  const factor = sort.order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return factor * (typeof a === 'number' && typeof b === 'number' ? a - b : compareText(a, b))
  })
}

function compareText(one: string | number, other: string | number): number {
  return String(one).localeCompare(String(other), 'en', { numeric: true })
}

interface ExportProps<Row extends RowData> {
  /** Without ending: "keys". */
  readonly name: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
}

/** Saves the exact values of all columns that have one. */
export function ExportButton<Row extends RowData>({ name, columns, rows }: ExportProps<Row>) {
  const exported = columns.flatMap(({ name: head, value, csv = value }) =>
    csv === undefined ? [] : [{ head, csv }],
  )
  const save = (): void => {
    const cells = rows.map((row) => exported.map(({ csv }) => csv(row)))
    saveFile(
      `${name}.csv`,
      csvText(
        exported.map(({ head }) => head),
        cells,
      ),
    )
  }
  return (
    <Button onClick={save}>
      <Download aria-hidden /> {t('list.exportCsv')}
    </Button>
  )
}
