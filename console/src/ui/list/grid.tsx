/**
 * The table of a list on TanStack Table: heads that stay in sight, sorting, chosen columns and rows. On a
 * phone a row has two lines. It reads nothing.
 */
import {
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type Row as TableRow,
  type RowData,
  type RowSelectionState,
} from '@tanstack/react-table'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import type { ListColumn, ListDefinition, Place, Sort } from './define.ts'
import { useDensity, type ColumnChoice } from './remembered.ts'

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature })
type Features = typeof features

export type Selection = RowSelectionState

export interface GridProps<Row extends RowData> {
  readonly of: ListDefinition<Row>
  readonly rows: readonly Row[]
  readonly choice: ColumnChoice
  readonly sort?: Sort | undefined
  readonly onSort?: ((sort: Sort) => void) | undefined
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
  /** Which rows can be chosen; undefined = the list has no choice. */
  readonly mayChoose: ((row: Row) => boolean) | undefined
  /** The row that the keyboard is at, and the one that the sheet shows. */
  readonly current: string | undefined
  readonly open: string | undefined
  readonly onOpen: (id: string, row: HTMLElement) => void
  /** A last row with the sums of all rows. */
  readonly total?: Row | undefined
}

export function isShown(
  { id, isExtra = false }: Pick<ListColumn<never>, 'id' | 'isExtra'>,
  choice: ColumnChoice,
): boolean {
  return choice[id] ?? !isExtra
}

export function Grid<Row extends RowData>(props: GridProps<Row>) {
  const { of, rows, choice, selection, onSelect, mayChoose, total } = props
  const [density] = useDensity()
  const frame = useFitting()
  const table = useTable(
    {
      features,
      data: rows,
      columns: columnsOf(of),
      getRowId: of.rowKey,
      enableRowSelection: ({ original }) => mayChoose?.(original) ?? false,
      state: {
        columnVisibility: Object.fromEntries(
          of.columns.map((column) => [column.id, isShown(column, choice)]),
        ),
        rowSelection: selection,
      },
      onRowSelectionChange: (update) =>
        onSelect(typeof update === 'function' ? update(selection) : update),
    },
    (state) => state,
  )
  const shown = of.columns.filter((column) => isShown(column, choice))
  const places = placesOf(of.columns)
  return (
    <div ref={frame} className="list-frame" data-density={of.isRoomy ? 'roomy' : density}>
      {/* Explicit roles: a phone lays rows out in two lines, and browsers then drop the implied ones. */}
      <table className="list-table" role="table">
        <caption className="visually-hidden">{of.caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {mayChoose !== undefined && (
              <th role="columnheader" scope="col" className="list-choose">
                <input
                  type="checkbox"
                  aria-label={t('list.selectAll')}
                  checked={table.getIsAllRowsSelected()}
                  onChange={table.getToggleAllRowsSelectedHandler()}
                />
              </th>
            )}
            {shown.map((column) => (
              <HeadCell key={column.id} column={column} grid={props} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {table.getRowModel().rows.map((row) => (
            <GridRow key={row.id} row={row} shown={shown} places={places} grid={props} />
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot role="rowgroup">
            <tr role="row">
              {mayChoose !== undefined && <td role="cell" className="list-choose" />}
              {shown.map((column) => (
                <td key={column.id} {...cellProps(column, places, choice)}>
                  {column.cell(total)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}

function columnsOf<Row extends RowData>({
  columns,
}: ListDefinition<Row>): ColumnDef<Features, Row>[] {
  return columns.map(({ id, name, cell }) => ({
    id,
    header: name,
    cell: ({ row }) => cell(row.original),
  }))
}

/** Heads stay in the window while its frame is not wider than its place; otherwise the frame scrolls. */
function useFitting() {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const measure = (): void => {
      element.dataset['wide'] = String(element.scrollWidth > element.clientWidth)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return frame
}

/**
 * The cells of the two lines of a row on a phone, by the id of their column. Each row has a name: the first
 * column without another place, where none is declared.
 */
type Places = ReadonlyMap<string, Place>

function placesOf<Row extends RowData>(columns: readonly ListColumn<Row>[]): Places {
  const declared = new Map(
    columns.flatMap(({ id, place }) => (place === undefined ? [] : [[id, place] as const])),
  )
  const [name, note] = columns.filter(({ isNumber, place }) => isNumber !== true && !place)
  const places = [...declared.values()]
  if (name !== undefined && !places.includes('name')) declared.set(name.id, 'name')
  if (places.length > 0) return declared
  const amount = columns.find(({ isNumber = false }) => isNumber)
  if (note !== undefined) declared.set(note.id, 'note')
  if (amount !== undefined) declared.set(amount.id, 'amount')
  return declared
}

function cellProps<Row extends RowData>(
  column: ListColumn<Row>,
  places: Places,
  choice: ColumnChoice,
) {
  const { id, name, isNumber = false, isText = false, room } = column
  const isFitted = room !== undefined && choice[id] === undefined
  return {
    role: 'cell',
    'data-name': name,
    'data-place': places.get(id),
    className: `${isNumber ? 'number' : ''}${isText ? 'list-text' : ''}${isFitted ? ` list-${room}` : ''}`,
  } as const
}

function HeadCell<Row extends RowData>({
  column,
  grid,
}: {
  column: ListColumn<Row>
  grid: GridProps<Row>
}) {
  const { name, isNumber = false, sort: word } = column
  const { sort, onSort, choice } = grid
  const { className } = cellProps(column, new Map(), choice)
  const head = { role: 'columnheader', scope: 'col', className } as const
  if (word === undefined || onSort === undefined) return <th {...head}>{name}</th>
  const order = sort?.by === word ? sort.order : undefined
  const first = isNumber ? 'desc' : 'asc'
  const next = order === undefined ? first : order === 'asc' ? 'desc' : 'asc'
  const label = { asc: 'ascending', desc: 'descending', none: 'none' } as const
  return (
    <th {...head} aria-sort={label[order ?? 'none']}>
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

interface RowProps<Row extends RowData> {
  readonly row: TableRow<Features, Row>
  readonly shown: readonly ListColumn<Row>[]
  readonly places: Places
  readonly grid: GridProps<Row>
}

function GridRow<Row extends RowData>({ row, shown, places, grid }: RowProps<Row>) {
  const { of, mayChoose, current, open, onOpen, choice } = grid
  const { id, original } = row
  const name = of.rowName?.(original) ?? id
  return (
    <tr
      role="row"
      tabIndex={-1}
      data-row={id}
      data-tone={of.rowTone?.(original)}
      data-current={id === current}
      aria-current={id === open ? 'true' : undefined}
      onClick={(event) => {
        if (isOwnClick(event)) return
        event.preventDefault()
        onOpen(id, event.currentTarget)
      }}
    >
      {mayChoose !== undefined && (
        <td role="cell" className="list-choose">
          {row.getCanSelect() && (
            <input
              type="checkbox"
              aria-label={t('list.select', { name })}
              checked={row.getIsSelected()}
              onChange={row.getToggleSelectedHandler()}
            />
          )}
        </td>
      )}
      {shown.map((column, index) => (
        <td key={column.id} {...cellProps(column, places, choice)}>
          {index === 0 && of.Sheet !== undefined
            ? opener(of, original, column.cell(original))
            : column.cell(original)}
        </td>
      ))}
    </tr>
  )
}

function opener<Row extends RowData>(
  of: ListDefinition<Row>,
  row: Row,
  content: ReactNode,
): ReactNode {
  return (
    of.opener?.(row, content) ?? (
      <button type="button" className="list-open" data-open>
        {content}
      </button>
    )
  )
}

interface Click {
  readonly target: EventTarget
  readonly currentTarget: Element
  readonly button: number
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly shiftKey: boolean
}

/** Whether a click is for a link or a field in the row, or ends the selection of a text. */
function isOwnClick({ target, currentTarget, ...event }: Click): boolean {
  const { button, ctrlKey, metaKey, shiftKey } = event
  if (!(target instanceof Element)) return false
  // React hands on clicks in a menu or a dialog of a cell, too.
  if (!currentTarget.contains(target)) return true
  const control = target.closest('a, button, input, label, .list-choose')
  if (control?.matches('[data-open]') === true)
    return button !== 0 || ctrlKey || metaKey || shiftKey
  return control !== null || getSelection()?.isCollapsed === false
}
