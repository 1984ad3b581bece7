/** A list in a card: loading, failed, empty, or a table with more pages below it. */
import type { ComponentProps, ReactNode } from 'react'
import { Failure, Loading } from './states.tsx'
import { More, Table, type Column, type Sort } from './table.tsx'

interface ListProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly rowTone?: (row: Row) => 'bad' | 'warn' | undefined
  /** As `useList` returns it. */
  readonly list: {
    readonly rows: readonly Row[] | undefined
    readonly error: unknown
    readonly retry: () => void
    readonly more: ComponentProps<typeof More>
  }
  /** Shown in place of a table without rows. */
  readonly empty: ReactNode
  readonly sort?: Sort
  readonly onSort?: (sort: Sort) => void
}

export function List<Row>({ list, empty, ...table }: ListProps<Row>) {
  const { rows, error, retry, more } = list
  if (rows === undefined)
    return error === null ? <Loading rows={6} /> : <Failure error={error} onRetry={retry} />
  if (rows.length === 0) return empty
  return (
    <>
      <Table {...table} rows={rows} />
      <More {...more} />
    </>
  )
}
