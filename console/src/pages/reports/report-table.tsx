/** The rows of a report with their sum. They sort in the browser once all of them are read. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { saveFile } from '../../ui/csv.ts'
import { formatDay } from '../../ui/format.ts'
import { describeFailure, Empty, Failure, Loading } from '../../ui/states.tsx'
import { More, sortRows, Table, type Column, type Sort } from '../../ui/table.tsx'
import { announce } from '../../ui/toast.tsx'
import type { Key } from './address.ts'
import { columnOf, figureColumns, sortValue } from './figures.tsx'
import {
  partName,
  partOf,
  readCsv,
  reportQuery,
  totalQuery,
  type Question,
  type ReportRow,
} from './queries.ts'
import { keyNames } from './report-filters.tsx'

/** As many as a browser lays out at once without a pause. */
const shownAtOnce = 100

interface ReportTableProps {
  readonly question: Question
  readonly by: string
  readonly keys: readonly Key[]
  readonly words: readonly string[]
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort) => void
  readonly columnsMenu: ReactNode
}

export function ReportTable(props: ReportTableProps) {
  const { question, by, columnsMenu } = props
  return (
    <Card
      title="By row"
      hint={`${formatDay(question.from)} to ${formatDay(question.to)}, UTC`}
      isFlush
      actions={
        <>
          {columnsMenu}
          <CsvButton question={question} by={by} />
        </>
      }
    >
      <Rows key={`${by} ${JSON.stringify(question)}`} {...props} />
    </Card>
  )
}

function Rows({ question, by, keys, words, sort, onSort }: ReportTableProps) {
  const report = useInfiniteQuery(reportQuery(question, by))
  const total = useQuery({ ...totalQuery(question), enabled: report.isFetched })
  const [shownMax, setShownMax] = useState(shownAtOnce)
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = report
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={8} />
  const read = data.pages.flatMap(({ items }) => items)
  if (read.length === 0)
    return <Empty title="No request in this period.">Choose other days, or fewer filters.</Empty>
  const rows = sort === undefined || hasNextPage ? read : sortRows(read, sort, sortValue)
  const shown = rows.slice(0, shownMax)
  const columns = [
    ...keys.map((key, index) => keyColumn(key, { isSorted: !hasNextPage, isFirst: index === 0 })),
    ...figureColumns
      .filter(({ word }) => words.includes(word))
      .map((column) => columnOf(column, !hasNextPage)),
  ]
  return (
    <>
      <Table
        caption="Report"
        columns={columns}
        rows={shown}
        total={keys.length === 0 ? undefined : (total.data ?? undefined)}
        rowKey={(row) => keys.map((key) => keyOf(row, key)).join(' ')}
        {...(sort !== undefined && !hasNextPage && { sort })}
        onSort={onSort}
      />
      <More
        count={shown.length}
        hasMore={shown.length < rows.length || hasNextPage}
        isBusy={isFetchingNextPage}
        onMore={() => {
          setShownMax(shownMax + shownAtOnce)
          if (shownMax + shownAtOnce > rows.length && hasNextPage) void fetchNextPage()
        }}
      />
    </>
  )
}

function keyOf(row: ReportRow, key: Key): string {
  return key === 'day' ? (row.day ?? '') : partOf(row, key)
}

function keyColumn(
  key: Key,
  { isSorted, isFirst }: { readonly isSorted: boolean; readonly isFirst: boolean },
): Column<ReportRow> {
  return {
    name: keyNames[key],
    ...(isSorted && { sort: key }),
    cell: (row) => <KeyCell row={row} of={key} total={isFirst ? 'Total' : ''} />,
  }
}

function KeyCell({ row, of: key, total }: { row: ReportRow; of: Key; total: string }) {
  // Only the row of the sums has none of its keys.
  if (
    row.day === null &&
    row.account === null &&
    row.key === null &&
    row.model === null &&
    row.channel === null
  )
    return total
  if (key === 'day') return <span className="reports-day">{formatDay(row.day ?? '')}</span>
  const id = partOf(row, key)
  if (id === '') return <span className="soft">Gateway’s own checks</span>
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

function CsvButton({ question, by }: { question: Question; by: string }) {
  const [isBusy, setIsBusy] = useState(false)
  const save = async (): Promise<void> => {
    setIsBusy(true)
    try {
      const text = await readCsv(question, by)
      saveFile(`report-${by.replaceAll(',', '-')}-${question.from}-${question.to}.csv`, text)
    } catch (error) {
      announce(`The report was not exported. ${describeFailure(error).title}`)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Button isBusy={isBusy} onClick={() => void save()}>
      <Download aria-hidden /> Export CSV
    </Button>
  )
}
