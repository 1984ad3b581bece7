/** The log of what operators and gateways have done, with filters. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { readAll, useList } from '../../api/list.ts'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { SuggestField, type Suggestion } from '../../ui/suggest-field.tsx'
import { ExportButton, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/values.tsx'
import type { PageSearch } from './address.ts'
import { readActionsOf, type Action } from './queries.ts'
import './audit.css'

const exportedMax = 20_000
const largestPage = 1_000

const columns: readonly Column<Action>[] = [
  { name: 'Time', cell: ({ at }) => <Time at={at} />, csv: ({ at }) => at },
  {
    name: 'By',
    cell: ({ actor_name: name, actor }) => <span data-tip={actor}>{name ?? actor}</span>,
    csv: ({ actor_name: name, actor }) => name ?? actor,
  },
  {
    name: 'Action',
    cell: ({ action }) => <code className="action-name">{action}</code>,
    csv: ({ action }) => action,
  },
  {
    name: 'Subject',
    cell: ({ subject }) => <Subject id={subject} />,
    csv: ({ subject }) => subject,
  },
  {
    name: 'Detail',
    cell: (row) => <Detail row={row} />,
    csv: ({ detail }) => JSON.stringify(detail),
  },
]

export function Actions() {
  const { tab: _, audit: __, ...filters } = useSearch({ from: '/shell/audit' })
  const list = useList(['actions', filters], readActionsOf(filters))
  return (
    <>
      <Filters filters={filters} rows={list.rows ?? []} />
      <Card
        title="Actions"
        hint="Newest first. The store refuses to change this log."
        isFlush
        actions={
          <ExportButton
            fileName="actions"
            columns={columns}
            readRows={() => readAll(readActionsOf(filters, largestPage), exportedMax)}
          />
        }
      >
        <List
          caption="Actions of operators, newest first"
          list={list}
          rowKey={({ sequence }) => String(sequence)}
          empty={<Empty title="No action matches.">Widen the filters above.</Empty>}
          columns={columns}
        />
      </Card>
    </>
  )
}

type ActionFilters = Omit<PageSearch, 'tab' | 'audit'>

interface FiltersProps {
  readonly filters: ActionFilters
  /** Those shown, whose words are suggested. */
  readonly rows: readonly Action[]
}

function Filters({ filters, rows }: FiltersProps) {
  const navigate = useNavigate({ from: '/audit' })
  const field = (name: keyof ActionFilters) => ({
    value: filters[name] ?? '',
    onApply: (value: string): void =>
      void navigate({
        search: { tab: 'actions', ...filters, [name]: value === '' ? undefined : value },
        replace: true,
      }),
  })
  const day = (name: 'from' | 'to') => {
    const { value, onApply: onChange } = field(name)
    return { type: 'date', value, onChange }
  }
  return (
    <div className="filters">
      <SuggestField
        label="Action"
        placeholder="account.edit"
        suggestions={wordsOf(rows, ({ action }) => action)}
        {...field('action')}
      />
      <SuggestField
        label="By"
        placeholder="Name or id"
        suggestions={wordsOf(rows, ({ actor_name: name, actor }) => name ?? actor)}
        {...field('actor')}
      />
      <SuggestField
        label="Subject"
        placeholder="Name or id"
        suggestions={wordsOf(rows, ({ subject }) => subject)}
        {...field('subject')}
      />
      <TextField label="From" {...day('from')} />
      <TextField label="To" {...day('to')} />
    </div>
  )
}

function wordsOf(rows: readonly Action[], wordOf: (row: Action) => string): Suggestion[] {
  return [...new Set(rows.map(wordOf))].toSorted().map((value) => ({ value }))
}

function Subject({ id }: { id: string }) {
  if (!id.startsWith('acc_')) return <span className="break action-subject">{id}</span>
  return (
    <Link to="/accounts/$account" params={{ account: id }} className="break action-subject">
      {id}
    </Link>
  )
}

/** Names and values as the log holds them. Of a new thing, those that are set; the file has them all. */
function Detail({ row: { action, detail } }: { row: Action }) {
  const isNew = action.endsWith('.create')
  const entries = Object.entries(detail).filter(([, value]) => !isNew || value !== null)
  if (entries.length === 0) return null
  return (
    <dl className="action-detail">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd>
            <Value text={textOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const shortMax = 120

/** A long value, such as a whole catalogue, opens on demand. */
function Value({ text }: { text: string }) {
  if (text.length <= shortMax) return text
  return (
    <details>
      <summary>{text.slice(0, shortMax)}…</summary>
      <pre className="action-value">{text}</pre>
    </details>
  )
}

function textOf(value: unknown): string {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
