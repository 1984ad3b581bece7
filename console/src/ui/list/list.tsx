/**
 * A list in a card: its state while it is read, the table with more pages below it, the rows that a person
 * has chosen, and the sheet of the row that is open. The keys j, k, Enter and Escape work in it.
 */
import type { RowData } from '@tanstack/react-table'
import { Download } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Button, buttonClass } from '../button.tsx'
import { Card } from '../card.tsx'
import { Failure, Loading } from '../states.tsx'
import { ExportButton, sortRows } from './browser-rows.tsx'
import { ColumnsMenu, DensitySwitch } from './columns-menu.tsx'
import type { ListDefinition, Sort } from './define.ts'
import { Grid, isShown, type Selection } from './grid.tsx'
import { useRowKeys } from './keyboard.ts'
import { useColumnChoice, type ColumnChoice } from './remembered.ts'
import { RowFacts, Sheet, SheetHead } from './sheet.tsx'
import './list.css'

interface Bulk<Row extends RowData> {
  readonly mayChoose: (row: Row) => boolean
  /** Buttons for the chosen rows; `forget` ends the choice. */
  readonly actions: (chosen: readonly Row[], forget: () => void) => ReactNode
}

export interface ListProps<Row extends RowData, Name extends string> {
  readonly of: ListDefinition<Row, Name>
  /** As `useList` returns it, or rows that are all in the browser. */
  readonly list: {
    readonly rows: readonly Row[] | undefined
    readonly error?: unknown
    readonly retry?: () => void
    readonly more?: {
      readonly hasMore: boolean
      readonly isBusy: boolean
      readonly onMore: () => void
    }
  }
  /** How many rows there are, where that is known. */
  readonly count?: number | undefined
  readonly isFiltered?: boolean
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
  /** The row in the sheet, where the address keeps it. */
  readonly open?: string | undefined
  readonly onOpen?: (id: string | undefined) => void
  readonly bulk?: Bulk<Row> | undefined
  /** Where the address keeps the choice of columns; the browser remembers it without this. */
  readonly columns?: {
    readonly choice: ColumnChoice
    readonly onChoose: (choice: ColumnChoice) => void
  }
  readonly total?: Row | undefined
  readonly title?: ReactNode
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  /** Address of all rows of the filter as a file. */
  readonly csv?: string | undefined
  /** Name of a file of the rows that are shown, without its ending. */
  readonly file?: string
  /** Above the table. */
  readonly children?: ReactNode
}

export function List<Row extends RowData, Name extends string>(given: ListProps<Row, Name>) {
  const props = inOrder(given)
  const { of, title, hint, actions, csv, file, children, list } = props
  const [choice, setChoice] = useChoice(props)
  const { rows = [] } = list
  return (
    <Card
      isFlush
      title={title ?? <ListCount list={list} count={props.count} />}
      hint={hint}
      actions={
        <>
          {actions}
          {csv !== undefined && rows.length > 0 && (
            <a className={buttonClass()} href={csv} download>
              <Download aria-hidden /> {t('list.exportCsv')}
            </a>
          )}
          {file !== undefined && rows.length > 0 && (
            <ExportButton name={file} columns={of.columns} rows={rows} />
          )}
          <span className="list-look">
            <ColumnsMenu
              columns={of.columns.slice(1).filter(({ isAction = false }) => !isAction)}
              isShown={(column) => isShown(column, choice)}
              onChoose={(id, shown) => setChoice({ ...choice, [id]: shown })}
              onReset={() => setChoice({})}
            />
            {of.isRoomy !== true && <DensitySwitch />}
          </span>
        </>
      }
    >
      {children}
      <ListBody {...props} />
    </Card>
  )
}

/** The table of a list whose rows are all here, for a place that has a head by itself. */
export function ListTable<Row extends RowData>({
  of,
  rows,
}: {
  readonly of: ListDefinition<Row>
  readonly rows: readonly Row[]
}) {
  return <FullList of={of} list={{ rows }} rows={rows} />
}

/** A list that is read page by page comes in order. */
function inOrder<Row extends RowData, Name extends string>(
  props: ListProps<Row, Name>,
): ListProps<Row, Name> {
  const { of, list, sort } = props
  if (list.rows === undefined || list.more !== undefined) return props
  return { ...props, list: { ...list, rows: sortRows(list.rows, of.columns, sort) } }
}

function useChoice<Row extends RowData, Name extends string>({
  of,
  columns,
}: ListProps<Row, Name>): ReturnType<typeof useColumnChoice> {
  const remembered = useColumnChoice(of.name)
  return columns === undefined ? remembered : [columns.choice, columns.onChoose]
}

/** "12,345 rows" where the number of all is known, else how many are shown. */
function ListCount({ list, count }: Pick<ListProps<RowData, string>, 'list' | 'count'>) {
  if (list.rows === undefined) return null
  const shown = list.rows.length
  const known = count ?? (list.more?.hasMore === true ? undefined : shown)
  return (
    <span role="status">
      {known === undefined
        ? t('list.shown', { count: shown })
        : t(known > shown ? 'list.shownOf' : 'list.rows', { count: known, shown })}
    </span>
  )
}

function ListBody<Row extends RowData, Name extends string>(props: ListProps<Row, Name>) {
  const { rows, error = null, retry } = props.list
  if (rows !== undefined) return <FullList {...props} rows={rows} />
  if (error === null) return <Loading rows={6} />
  return <Failure error={error} {...(retry !== undefined && { onRetry: retry })} />
}

interface FullProps<Row extends RowData, Name extends string> extends ListProps<Row, Name> {
  readonly rows: readonly Row[]
}

function FullList<Row extends RowData, Name extends string>(props: FullProps<Row, Name>) {
  const { of, rows, list, isFiltered = false, bulk } = props
  const [choice] = useChoice(props)
  const [selection, setSelection] = useState<Selection>({})
  const { body, current, open, openRow, close } = useRows(props)
  const chosen = rows.filter((row) => selection[of.rowKey(row)] === true && bulk?.mayChoose(row))
  const { more } = list
  return (
    <div ref={body} className="list-body">
      {bulk !== undefined && chosen.length > 0 && (
        <div className="row medium list-chosen" role="group" aria-label={t('list.selection')}>
          <span role="status">{t('list.selected', { count: chosen.length })}</span>
          {bulk.actions(chosen, () => setSelection({}))}
          <Button look="quiet" onClick={() => setSelection({})}>
            {t('list.selectNone')}
          </Button>
        </div>
      )}
      {rows.length > 0 ? (
        <Grid
          {...props}
          choice={choice}
          selection={selection}
          onSelect={setSelection}
          mayChoose={rows.some((row) => bulk?.mayChoose(row)) ? bulk?.mayChoose : undefined}
          current={current}
          open={open}
          onOpen={openRow}
        />
      ) : isFiltered ? (
        (of.emptyFiltered ?? of.empty)
      ) : (
        of.empty
      )}
      {more?.hasMore === true && (
        <div className="list-foot">
          <Button isBusy={more.isBusy} onClick={more.onMore}>
            {t('list.showMore')}
          </Button>
        </div>
      )}
      {/* A link may open what the list does not show. */}
      {open !== undefined && <OpenRow of={of} rows={rows} id={open} onClose={close} />}
    </div>
  )
}

/** Which row the keyboard is at, and which one is open. */
function useRows<Row extends RowData, Name extends string>(props: FullProps<Row, Name>) {
  const { of, rows, list, open: given, onOpen } = props
  const body = useRef<HTMLDivElement>(null)
  const [kept, setKept] = useState<string>()
  const [current, setCurrent] = useState<string>()
  const open = onOpen === undefined ? kept : given
  const setOpen = onOpen ?? setKept
  const elementOf = (id: string): HTMLElement | null | undefined =>
    body.current?.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(id)}"]`)
  const openRow = (id: string, row: HTMLElement | null | undefined): void => {
    setCurrent(id)
    const opensLink = of.Sheet === undefined && of.opensFacts !== true
    const link = opensLink ? row?.querySelector('a') : undefined
    if (link !== null && link !== undefined) link.click()
    else if (of.Sheet !== undefined || hasHiddenCells(row)) setOpen(id)
  }
  useRowKeys({
    onMove(step) {
      const at = rows.findIndex((row) => of.rowKey(row) === (open ?? current))
      const next = rows[Math.max(at + step, 0)]
      if (next === undefined) return list.more?.onMore()
      const id = of.rowKey(next)
      setCurrent(id)
      if (open !== undefined) setOpen(id)
      const row = elementOf(id)
      if (open === undefined) row?.focus({ preventScroll: true })
      row?.scrollIntoView({ block: 'nearest' })
    },
    onOpen() {
      if (current !== undefined && open === undefined) openRow(current, elementOf(current))
    },
  })
  return { body, current: open ?? current, open, openRow, close: () => setOpen(undefined) }
}

function hasHiddenCells(row: HTMLElement | null | undefined): boolean {
  const cells = row?.querySelectorAll('td') ?? []
  return [...cells].some((cell) => cell.offsetParent === null)
}

interface OpenRowProps<Row extends RowData, Name extends string> {
  readonly of: ListDefinition<Row, Name>
  readonly rows: readonly Row[]
  readonly id: string
  readonly onClose: () => void
}

function OpenRow<Row extends RowData, Name extends string>(props: OpenRowProps<Row, Name>) {
  const { of, rows, id, onClose } = props
  const row = rows.find((one) => of.rowKey(one) === id)
  if (of.Sheet !== undefined)
    return (
      <Sheet onClose={onClose}>
        <of.Sheet id={id} row={row} onClose={onClose} />
      </Sheet>
    )
  return (
    row !== undefined && (
      <Sheet onClose={onClose}>
        <SheetHead title={of.rowName?.(row) ?? of.caption} />
        <RowFacts row={row} columns={of.columns} />
      </Sheet>
    )
  )
}
