/** The columns of the lists of keys and of read-only tokens. */
import { Link } from '@tanstack/react-router'
import { Budgets } from '../../ui/budgets.tsx'
import { Badge, type Tone } from '../../ui/card.tsx'
import { formatCount } from '../../ui/format.ts'
import type { Column } from '../../ui/table.tsx'
import { Age, Time, Usd } from '../../ui/values.tsx'
import type { Key } from './queries.ts'

const stateTones: Readonly<Record<Key['state'], Tone>> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
}

const name: Column<Key> = {
  name: 'Name',
  cell: ({ name: given, head, state }) => (
    <div>
      <span className="key-name">
        {given === '' ? 'no name' : given}{' '}
        {state !== 'active' && <Badge tone={stateTones[state]}>{state}</Badge>}
      </span>
      <div>
        <code className="soft">{head}</code>
      </div>
    </div>
  ),
}

const lastUsed: Column<Key> = {
  name: 'Last used',
  cell: ({ last_used_at: at }) => <Age at={at} />,
}

export const keyColumns: readonly Column<Key>[] = [
  name,
  {
    name: 'Budgets',
    cell: (key) => <Budgets of={key} empty={<span className="soft">none</span>} />,
  },
  {
    name: 'Net spend',
    isNumber: true,
    cell: ({ id, account_id: account, used }) => (
      <Link to="/requests" search={{ key: id, ...(account !== null && { account }) }}>
        <Usd value={used.total_usd} />
      </Link>
    ),
  },
  { name: 'May use', cell: (key) => <Restrictions credential={key} /> },
  {
    name: 'Expires',
    cell: ({ expires_at: at }) =>
      at === null ? <span className="soft">never</span> : <Time at={at} />,
  },
  lastUsed,
]

export const tokenColumns: readonly Column<Key>[] = [
  name,
  { name: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
  lastUsed,
]

const shownModels = 2

function Restrictions({ credential: { models, ip, rpm, tpm } }: { credential: Key }) {
  const parts = [
    ...(models === null ? [] : [modelsText(models)]),
    ...(ip === null ? [] : [ip.length === 1 ? `from ${ip[0]}` : `from ${ip.length} networks`]),
    ...(rpm > 0 ? [`${formatCount(rpm)} rpm`] : []),
    ...(tpm > 0 ? [`${formatCount(tpm)} tpm`] : []),
  ]
  if (parts.length === 0) return <span className="soft">everything</span>
  const all = [...(models ?? []), ...(ip ?? [])].join(', ')
  return (
    <span className="key-limits" {...(all !== '' && { 'data-tip': all })}>
      {parts.join(' · ')}
    </span>
  )
}

function modelsText(models: readonly string[]): string {
  const more = models.length - shownModels
  const names = models.slice(0, shownModels).join(', ')
  return more > 0 ? `${names} and ${more} more` : names
}
