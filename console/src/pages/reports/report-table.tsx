/** The rows of a report with their sum, sorted by the gateway over the whole report. */
import { Popover } from '@base-ui/react/popover'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Columns3, Download } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { saveFile } from '../../ui/csv.ts'
import { CheckField } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { daysText } from '../../ui/range.tsx'
import { describeFailure, Empty, Failure, Loading } from '../../ui/states.tsx'
import { More, Table, type Column, type Sort } from '../../ui/table.tsx'
import { announce } from '../../ui/toast.tsx'
import type { Key } from './address.ts'
import { FigureCell, figureColumns, type FigureColumn } from './figures.tsx'
import {
  partName,
  partOf,
  readCsv,
  reportQuery,
  totalQuery,
  type Question,
  type ReportRow,
} from './queries.ts'

interface ReportTableProps {
  readonly question: Question
  readonly by: string
  readonly keys: readonly Key[]
  readonly words: readonly string[]
  readonly sort: Sort
  readonly compare: 'before' | undefined
  readonly onSort: (sort: Sort) => void
  /** Undefined = the usual ones. */
  readonly onColumns: (words: readonly string[] | undefined) => void
}

export function ReportTable(props: ReportTableProps) {
  const { question, by, words, onColumns } = props
  return (
    <Card
      title={t('reports.byRow')}
      hint={daysText(question)}
      isFlush
      actions={
        <>
          <ColumnsMenu shown={words} onChange={onColumns} />
          <CsvButton question={question} by={by} />
        </>
      }
    >
      <Rows {...props} />
    </Card>
  )
}

function Rows({ question, by, keys, words, sort, compare, onSort }: ReportTableProps) {
  const report = useInfiniteQuery(reportQuery({ question, by, sort, compare }))
  const total = useQuery({ ...totalQuery(question, compare), enabled: report.isFetched })
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = report
  const { isPlaceholderData: isOld } = report
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={8} />
  const rows = data.pages.flatMap(({ items }) => items)
  if (rows.length === 0)
    return <Empty title={t('reports.noRequest')}>{t('reports.noRequestAdvice')}</Empty>
  return (
    <div aria-busy={isOld}>
      <Table
        caption={t('reports.table')}
        columns={[
          ...keys.map((key, index) => keyColumn(key, index === 0)),
          ...figureColumns
            .filter(({ word }) => words.includes(word))
            .map((column) => figureColumn(column, question)),
        ]}
        rows={rows}
        total={keys.length === 0 ? undefined : (total.data ?? undefined)}
        rowKey={(row) => keys.map((key) => keyOf(row, key)).join(' ')}
        sort={sort}
        onSort={onSort}
      />
      <More
        count={rows.length}
        hasMore={hasNextPage}
        isBusy={isFetchingNextPage}
        onMore={() => void fetchNextPage()}
      />
    </div>
  )
}

function keyOf(row: ReportRow, key: Key): string {
  return key === 'day' ? (row.day ?? '') : partOf(row, key)
}

function keyColumn(key: Key, isFirst: boolean): Column<ReportRow> {
  return {
    name: t(`reports.keys.${key}`),
    sort: key,
    cell: (row) => (isSum(row) ? isFirst && t('reports.total') : <KeyCell row={row} of={key} />),
  }
}

/** Only the row of the sums has none of its keys. */
function isSum({ day, account, key, model, channel }: ReportRow): boolean {
  return [day, account, key, model, channel].every((value) => value === null)
}

function KeyCell({ row, of: key }: { row: ReportRow; of: Key }) {
  if (key === 'day') return <span className="reports-day">{formatDay(row.day ?? '')}</span>
  const id = partOf(row, key)
  if (id === '') return <span className="soft">{t('reports.ownChecks')}</span>
  if (key === 'account')
    return (
      <Link to="/accounts/$account" params={{ account: id }} className="reports-name">
        {partName(row, key)}
      </Link>
    )
  if (key === 'channel')
    return (
      <Link to="/channels/$channel" params={{ channel: id }} className="reports-name">
        {id}
      </Link>
    )
  return (
    <span className="reports-name" data-tip={id}>
      {partName(row, key)}
    </span>
  )
}

/** The number of requests leads to them: those of the row, in the period and the filter of the report. */
function figureColumn(column: FigureColumn, question: Question): Column<ReportRow> {
  const cell = (row: ReportRow): ReactNode => <FigureCell row={row} column={column} />
  return {
    name: column.name,
    isNumber: true,
    sort: column.word,
    cell:
      column.word === 'requests'
        ? (row) => (
            <RequestsLink row={row} question={question}>
              {cell(row)}
            </RequestsLink>
          )
        : cell,
  }
}

interface RequestsLinkProps {
  readonly row: ReportRow
  readonly question: Question
  readonly children: ReactNode
}

function RequestsLink({ row, question, children }: RequestsLinkProps) {
  const { day, account_id: account, key_id: key, model, channel } = row
  // Checks are no requests of accounts, and no filter finds what no channel answered.
  if (row.requests === 0 || account === '' || channel === '') return children
  const search = {
    ...question,
    ...(day !== null && { from: day, to: day }),
    ...(account !== null && { account }),
    ...(key !== null && { key }),
    ...(model !== null && { model }),
    ...(channel !== null && { channel }),
  }
  return (
    <Link to="/requests" search={search}>
      {children}
      <span className="visually-hidden"> {t('reports.showRequests')}</span>
    </Link>
  )
}

interface ColumnsMenuProps {
  readonly shown: readonly string[]
  readonly onChange: (words: readonly string[] | undefined) => void
}

function ColumnsMenu({ shown, onChange }: ColumnsMenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger
        render={
          <Button>
            <Columns3 aria-hidden /> {t('reports.columns')}
          </Button>
        }
      />
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} className="popover-place">
          <Popover.Popup className="popover" aria-label={t('reports.columns')}>
            {figureColumns.map(({ word, name }) => (
              <CheckField
                key={word}
                label={name}
                value={shown.includes(word)}
                onChange={(isShown) =>
                  onChange(isShown ? [...shown, word] : shown.filter((each) => each !== word))
                }
              />
            ))}
            <Button look="quiet" onClick={() => onChange(undefined)}>
              {t('reports.usualColumns')}
            </Button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

function CsvButton({ question, by }: { question: Question; by: string }) {
  const [isBusy, setIsBusy] = useState(false)
  const save = async (): Promise<void> => {
    setIsBusy(true)
    try {
      const text = await readCsv(question, by)
      saveFile(`report-${by.replaceAll(',', '-')}-${question.from}-${question.to}.csv`, text)
    } catch (error) {
      announce(t('reports.exportFailed', { why: describeFailure(error).title }))
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Button isBusy={isBusy} onClick={() => void save()}>
      <Download aria-hidden /> {t('reports.exportCsv')}
    </Button>
  )
}
