/** The columns of the lists of keys and of read-only tokens. */
import { Link } from '@tanstack/react-router'
import { Badge, type Tone } from '../../ui/card.tsx'
import { formatCount, formatUsd, formatUsdExact } from '../../ui/format.ts'
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
  { name: 'Budgets', cell: (key) => <Budgets credential={key} /> },
  {
    name: 'Spend',
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

/** Of each budget that is set: used, limit, and a bar. */
function Budgets({ credential: key }: { credential: Key }) {
  const budgets = (
    [
      ['day', key.used.day_usd, key.daily_usd],
      ['month', key.used.month_usd, key.monthly_usd],
      ['total', key.used.total_usd, key.total_usd],
    ] as const
  ).filter(([, , limit]) => /[1-9]/.test(limit))
  if (budgets.length === 0) return <span className="soft">none</span>
  return (
    <ul className="budgets">
      {budgets.map(([period, used, limit]) => (
        <Budget key={period} period={period} used={used} limit={limit} />
      ))}
    </ul>
  )
}

const nearlyAll = 0.8

function Budget({ period, used, limit }: { period: string; used: string; limit: string }) {
  const share = Math.min(Math.max(Number(used) / Number(limit), 0), 1)
  const look = share >= 1 ? 'budget-spent' : share >= nearlyAll ? 'budget-near' : ''
  return (
    <li data-tip={`${formatUsdExact(used)} of ${formatUsdExact(limit)}, ${period}`}>
      <span>
        {formatUsd(used)} <span className="soft">of {formatUsd(limit)}</span>
      </span>
      <span className="soft">{period}</span>
      <span className="budget-track">
        <span className={`budget-bar ${look}`} style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  )
}

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
