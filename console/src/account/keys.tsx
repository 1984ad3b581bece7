/** The keys of the account: their use, and what their limits leave. Secrets are not here. */
import { useQuery } from '@tanstack/react-query'
import { Badge, Card, type Tone } from '../ui/card.tsx'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { ExportButton, Table, type Column } from '../ui/table.tsx'
import { Missing, Time, Usd } from '../ui/values.tsx'
import { BudgetLine } from './budget-line.tsx'
import type { Key } from './forms.ts'
import { keysQuery } from './queries.ts'
import { usdText } from './usd.ts'
import { ViewLink } from './view-link.tsx'

export function Keys() {
  const { data: keys, error, refetch } = useQuery(keysQuery)
  return (
    <Card
      title="Keys"
      hint="Your operator creates and revokes keys. The secret of a key is shown once, when it is made."
      isFlush
      actions={
        keys !== undefined &&
        keys.length > 0 && <ExportButton fileName="keys" columns={columns} readRows={() => keys} />
      }
    >
      {keys === undefined && error === null && <Loading rows={6} />}
      {keys === undefined && error !== null && (
        <Failure error={error} onRetry={() => void refetch()} />
      )}
      {keys?.length === 0 && (
        <Empty title="This account has no key.">Ask your operator for one.</Empty>
      )}
      {keys !== undefined && keys.length > 0 && (
        <Table
          caption="Keys of the account"
          columns={columns}
          rows={keys.toSorted((one, other) => placeOf(one) - placeOf(other))}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  )
}

const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
}

/** Keys that work come first. */
function placeOf({ state }: Key): number {
  return state === 'active' ? 0 : 1
}

const columns: readonly Column<Key>[] = [
  {
    name: 'Key',
    cell: (key) => (
      <div>
        <ViewLink to={{ view: 'requests', key: key.id }}>
          {key.name === '' ? key.head : key.name}
        </ViewLink>
        {key.name !== '' && (
          <div className="soft">
            <code>{key.head}</code>
          </div>
        )}
      </div>
    ),
    csv: ({ name, head }) => (name === '' ? head : name),
  },
  {
    name: 'State',
    cell: ({ state }) => <Badge tone={tones[state] ?? 'neutral'}>{state}</Badge>,
    csv: ({ state }) => state,
  },
  usedColumn('Today', ({ used }) => used.day_usd),
  usedColumn('This month', ({ used }) => used.month_usd),
  usedColumn('Total', ({ used }) => used.total_usd),
  { name: 'Limits', cell: (key) => <KeyLimits limits={key} /> },
  {
    name: 'Models',
    cell: ({ models }) => (models === null ? 'all' : models.join(', ')),
    csv: ({ models }) => (models === null ? 'all' : models.join(' ')),
  },
  {
    name: 'Expires',
    cell: ({ expires_at: at }) => (at === null ? <Missing why="Never" /> : <Time at={at} />),
    csv: ({ expires_at: at }) => at,
  },
]

function usedColumn(name: string, read: (key: Key) => number): Column<Key> {
  return {
    name,
    isNumber: true,
    cell: (key) => <Usd value={usdText(read(key))} />,
    csv: (key) => usdText(read(key)),
  }
}

function KeyLimits({ limits: { limits, rpm, tpm } }: { limits: Key }) {
  if (limits.length === 0 && rpm === 0 && tpm === 0) return <Missing why="No limits" />
  return (
    <div className="key-limits">
      {limits.map((budget) => (
        <BudgetLine key={budget.period} budget={budget} />
      ))}
      {rpm > 0 && <div className="soft">{rpm.toLocaleString('en-US')} requests per minute</div>}
      {tpm > 0 && <div className="soft">{tpm.toLocaleString('en-US')} tokens per minute</div>}
    </div>
  )
}
