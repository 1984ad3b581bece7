/** The columns of the list of accounts, and those of its file. */
import { Link } from '@tanstack/react-router'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Spark } from '../../ui/small-charts.tsx'
import type { Column } from '../../ui/table.tsx'
import { Usd } from '../../ui/values.tsx'
import type { Account } from './queries.ts'
import { StatusBadge } from './state.tsx'

export const accountColumns: readonly Column<Account>[] = [
  {
    name: 'Account',
    sort: 'name',
    cell: ({ id, name, external_id: externalId }) => (
      <div className="accounts-name">
        <Link to="/accounts/$account" params={{ account: id }}>
          {name}
        </Link>
        {externalId !== null && <div className="soft accounts-external">{externalId}</div>}
      </div>
    ),
    csv: ({ name }) => name,
  },
  {
    name: 'Status',
    cell: (account) => <StatusBadge account={account} />,
    csv: ({ status }) => status,
  },
  {
    name: 'Balance',
    isNumber: true,
    sort: 'balance',
    cell: ({ balance_usd: balance }) => <Usd value={balance} />,
    csv: ({ balance_usd: balance }) => balance,
  },
  {
    name: 'Today',
    isNumber: true,
    cell: ({ spend }) => <Usd value={spend.today_usd} />,
    csv: ({ spend }) => spend.today_usd,
  },
  {
    name: '30 days',
    isNumber: true,
    sort: 'spend',
    cell: ({ spend }) => <Usd value={spend.total_usd} />,
    csv: ({ spend }) => spend.total_usd,
  },
  { name: 'Trend', cell: (account) => <Trend account={account} /> },
  {
    name: 'Limits',
    cell: ({ limits }) => <span className="soft accounts-limits">{limitsText(limits)}</span>,
  },
]

export const exportedColumns: readonly Column<Account>[] = [
  fileColumn('Id', ({ id }) => id),
  ...accountColumns,
  fileColumn('Daily limit USD', ({ limits }) => limits.daily_usd),
  fileColumn('Requests per minute', ({ limits }) => limits.rpm),
  fileColumn('Tokens per minute', ({ limits }) => limits.tpm),
  fileColumn('Price multiplier', ({ limits }) => limits.price_multiplier),
  fileColumn('Alert below USD', ({ alert_below_usd: below }) => below),
  fileColumn('Contact', ({ contact }) => contact),
  fileColumn('External id', ({ external_id: id }) => id),
  fileColumn('Note', ({ note }) => note),
  fileColumn('Created', ({ created_at: at }) => at),
]

function fileColumn(name: string, csv: (account: Account) => string | number | null) {
  return { name, cell: () => null, csv }
}

function Trend({ account: { spend } }: { account: Account }) {
  const values = spend.by_day_usd.map(Number)
  const top = formatUsd(Math.max(...values).toFixed(6))
  return <Spark values={values} label={`Net spend by day, 30 days, at most ${top}`} />
}

/** The limits that are set, in short. */
export function limitsText({ daily_usd: daily, rpm, tpm }: Account['limits']): string {
  const set = [
    ...(/[1-9]/.test(daily) ? [`${formatUsd(daily)} a day`] : []),
    ...(rpm > 0 ? [`${formatCount(rpm)} rpm`] : []),
    ...(tpm > 0 ? [`${formatCount(tpm)} tpm`] : []),
  ]
  return set.length === 0 ? 'none' : set.join(' · ')
}
