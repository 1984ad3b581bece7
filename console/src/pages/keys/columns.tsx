/** The columns of the list of keys. */
import { Link } from '@tanstack/react-router'
import { Badge, type Tone } from '../../ui/card.tsx'
import { Budgets } from '../../ui/budgets.tsx'
import type { Column } from '../../ui/table.tsx'
import { Age, Missing, Usd } from '../../ui/values.tsx'
import { kindNames, nameOf, type Key } from './queries.ts'

const stateTones: Readonly<Record<Key['state'], Tone>> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
}

export const keyColumns: readonly Column<Key>[] = [
  {
    name: 'Key',
    cell: (key) => (
      <div className="keys-name">
        <span>
          <strong>{nameOf(key)}</strong>{' '}
          {key.state !== 'active' && <Badge tone={stateTones[key.state]}>{key.state}</Badge>}
        </span>
        <span className="soft">
          <code>{key.head}</code> {key.kind !== 'client' && kindNames[key.kind]}
        </span>
      </div>
    ),
  },
  {
    name: 'Account',
    cell: ({ account_id: account, account_name: name }) =>
      account === null ? (
        <span className="soft">operators</span>
      ) : (
        <Link to="/accounts/$account" params={{ account }}>
          {name}
        </Link>
      ),
  },
  {
    name: 'Last used',
    sort: 'last_used',
    cell: ({ last_used_at: at }) => <Age at={at} />,
  },
  {
    name: 'Net spend, month',
    sort: 'spend',
    isNumber: true,
    cell: (key) => <Spend of={key} />,
  },
  {
    name: 'Created',
    sort: 'created',
    cell: ({ created_at: at }) => <Age at={at} />,
  },
]

/** The spend of the month leads to the requests; the budgets that are set are below it. */
function Spend({ of: key }: { of: Key }) {
  const { id, kind, account_id: account, used } = key
  if (kind !== 'client' || account === null) return <Missing why="It sends no requests" />
  return (
    <>
      <Link to="/requests" search={{ key: id, account }}>
        <Usd value={used.month_usd} />
      </Link>
      <Budgets of={key} empty={null} />
    </>
  )
}
