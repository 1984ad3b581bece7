/** What an answer shows once it is here, and rows of a list as a file. */
import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Button } from '../ui/button.tsx'
import { csvText, saveFile } from '../ui/csv.ts'
import type { ListColumn } from '../ui/list/define.ts'
import { Failure, Loading } from '../ui/states.tsx'

interface ShownProps<Data> {
  readonly query: {
    readonly data: Data | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

export function Shown<Data>({ query, rows = 6, children }: ShownProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <Loading rows={rows} />
  return <Failure error={error} onRetry={() => void refetch()} />
}

interface ExportProps<Row extends object> {
  /** Without ending: "keys". */
  readonly name: string
  readonly columns: readonly ListColumn<Row>[]
  readonly rows: readonly Row[] | undefined
}

/** Saves the exact values of the rows that are shown. */
export function ExportRows<Row extends object>({ name, columns, rows = [] }: ExportProps<Row>) {
  if (rows.length === 0) return null
  const exported = columns.flatMap(({ name: head, value }) =>
    value === undefined ? [] : [{ head, value }],
  )
  const save = (): void =>
    saveFile(
      `${name}.csv`,
      csvText(
        exported.map(({ head }) => head),
        rows.map((row) => exported.map(({ value }) => value(row))),
      ),
    )
  return (
    <Button onClick={save}>
      <Download aria-hidden /> {t('list.exportCsv')}
    </Button>
  )
}
