/**
 * The table of all lists: sorts by the address, marks what a row leads to, becomes a list of cards on
 * a narrow screen, and exports itself as CSV. It reads nothing: the page gives it rows.
 */
import { ArrowDown, ArrowUp, Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Button } from './button.tsx'
import { csvText, saveFile, type CsvCell } from './csv.ts'
import './table.css'

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  /** The word for this column in `sort`; without it the column does not sort. */
  readonly sort?: string
  /** Exact value for the file; without it the column is not in the file. */
  readonly csv?: (row: Row) => CsvCell
}

export interface Sort {
  readonly by: string
  readonly order: 'asc' | 'desc'
}

interface TableProps<Row> {
  /** What the table lists, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sort?: Sort
  readonly onSort?: (sort: Sort) => void
  /** A last row with the sums of all rows. */
  readonly total?: Row | undefined
  /** Marks rows, as of a failing channel. */
  readonly rowTone?: (row: Row) => 'bad' | 'warn' | undefined
}

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, rowKey, rowTone, total } = props
  return (
    // Explicit roles: a narrow screen lays rows out as cards, and browsers then drop the implied ones.
    <div className="table-frame">
      <table className="table" role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <HeadCell key={column.name} column={column} table={props} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" data-tone={rowTone?.(row)}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot role="rowgroup">
            <tr role="row">
              <Cells columns={columns} row={total} />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}

function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ name, cell, isNumber }) => (
    <td key={name} role="cell" data-name={name} className={isNumber ? 'number' : ''}>
      {cell(row)}
    </td>
  ))
}

function HeadCell<Row>({ column, table }: { column: Column<Row>; table: TableProps<Row> }) {
  const { name, isNumber = false, sort: word } = column
  const { sort, onSort } = table
  const className = isNumber ? 'number' : ''
  if (word === undefined || onSort === undefined)
    return (
      <th role="columnheader" scope="col" className={className}>
        {name}
      </th>
    )
  const order = sort?.by === word ? sort.order : undefined
  const next = order === undefined ? (isNumber ? 'desc' : 'asc') : order === 'asc' ? 'desc' : 'asc'
  return (
    <th
      role="columnheader"
      scope="col"
      className={className}
      aria-sort={order === undefined ? 'none' : order === 'asc' ? 'ascending' : 'descending'}
    >
      <button
        type="button"
        className="table-sort"
        onClick={() => onSort({ by: word, order: next })}
      >
        {name}
        {order === 'asc' && <ArrowUp aria-hidden />}
        {order === 'desc' && <ArrowDown aria-hidden />}
      </button>
    </th>
  )
}

/** Sorts rows in the browser, for lists that come as a whole. A value that is null comes last either way. */
export function sortRows<Row>(
  rows: readonly Row[],
  sort: Sort,
  valueOf: (row: Row, by: string) => string | number | null,
): readonly Row[] {
  const factor = sort.order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one, sort.by), valueOf(other, sort.by)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return factor * (typeof a === 'number' && typeof b === 'number' ? a - b : compareText(a, b))
  })
}

function compareText(one: string | number, other: string | number): number {
  return String(one).localeCompare(String(other), 'en', { numeric: true })
}

interface ExportProps<Row> {
  /** Without ending: "accounts". */
  readonly fileName: string
  readonly columns: readonly Column<Row>[]
  /** Reads all rows, not only those shown. */
  readonly readRows: () => Promise<readonly Row[]> | readonly Row[]
}

export function ExportButton<Row>({ fileName, columns, readRows }: ExportProps<Row>) {
  const save = async (): Promise<void> => {
    const exported = columns.flatMap(({ name, csv }) => (csv === undefined ? [] : [{ name, csv }]))
    const rows = await readRows()
    const cells = rows.map((row) => exported.map(({ csv }) => csv(row)))
    saveFile(
      `${fileName}.csv`,
      csvText(
        exported.map(({ name }) => name),
        cells,
      ),
    )
  }
  return (
    <Button onClick={() => void save()}>
      <Download aria-hidden /> {t('list.exportCsv')}
    </Button>
  )
}
