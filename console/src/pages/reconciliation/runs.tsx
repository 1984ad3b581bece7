/** The runs with files of a vendor, as the operators' log keeps them: result, note, and who accepted it. */
import { useList } from '../../api/list.ts'
import { Card } from '../../ui/card.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/values.tsx'
import { readRuns, type Run } from './queries.ts'

const columns: readonly Column<Run>[] = [
  { name: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    name: 'By',
    cell: ({ actor_name: name, actor }) => <span data-tip={actor}>{name ?? actor}</span>,
  },
  { name: 'Channel', cell: ({ subject }) => subject },
  { name: 'Period', cell: daysOf },
  { name: 'Files', cell: ({ detail }) => textOf(detail['files']) },
  { name: 'Result', cell: ({ detail }) => textOf(detail['result']) },
  { name: 'Note', cell: ({ detail }) => textOf(detail['note']) },
  {
    name: 'Accepted',
    cell: ({ action }) => (action === 'reconciliation.accept' ? 'Yes' : 'No'),
  },
]

export function Runs() {
  const list = useList(['actions', 'reconciliation'], readRuns)
  return (
    <Card title="Earlier runs" hint="Those with files of a vendor, newest first" isFlush>
      <List
        caption="Earlier runs"
        columns={columns}
        list={list}
        rowKey={({ sequence }) => String(sequence)}
        empty={<Empty title="No file of a vendor has been compared yet." />}
      />
    </Card>
  )
}

/** The days of a period; its end is the midnight behind the last one. */
function daysOf({ detail }: Run): string {
  const last = new Date(Date.parse(textOf(detail['to'])) - 1).toISOString()
  return `${textOf(detail['from']).slice(0, 10)} to ${last.slice(0, 10)}`
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : ''
}
