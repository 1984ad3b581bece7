/** All accounts with their balance and spend: to find one, to see which need money, to make a new one. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Spark } from '../../ui/small-charts.tsx'
import { Empty } from '../../ui/states.tsx'
import { Usd } from '../../ui/values.tsx'
import { NewAccount } from './account-form.tsx'
import { csvAddress, readAccounts, type Account } from './queries.ts'
import { StatusBadge, standingOf } from './standing.tsx'
import { AccountLink } from '../links.tsx'

const accountList = defineList<Account, 'q' | 'status'>({
  name: 'accounts',
  caption: t('accounts.title'),
  rowKey: ({ id }) => id,
  rowName: ({ name }) => name,
  rowTone(account) {
    const standing = standingOf(account)
    if (standing === 'exhausted') return 'bad'
    return standing === 'low' ? 'warn' : undefined
  },
  filters: [
    {
      kind: 'text',
      name: 'q',
      label: t('accounts.name'),
      placeholder: t('accounts.partOfName'),
    },
    {
      kind: 'choice',
      name: 'status',
      label: t('accounts.show'),
      any: t('accounts.all'),
      options: (['active', 'low', 'suspended', 'closed'] as const).map((each) => [
        each,
        t(`accounts.shown.${each}`),
      ]),
    },
  ],
  columns: [
    {
      id: 'name',
      name: t('accounts.account'),
      sort: 'name',
      place: 'name',
      cell: ({ id, name, external_id: externalId }) => (
        <>
          <AccountLink id={id}>{name}</AccountLink>
          {externalId !== null && <div className="soft small">{externalId}</div>}
        </>
      ),
    },
    {
      id: 'status',
      name: t('accounts.status'),
      place: 'state',
      cell: (account) => <StatusBadge account={account} />,
    },
    {
      id: 'balance',
      name: t('accounts.balance'),
      isNumber: true,
      sort: 'balance',
      place: 'amount',
      cell: ({ balance_usd: balance }) => <Usd value={balance} places={2} />,
    },
    {
      id: 'today',
      name: t('accounts.today'),
      isNumber: true,
      cell: ({ spend }) => <Usd value={spend.today_usd} places={2} />,
    },
    {
      id: 'spend',
      name: t('accounts.thirtyDays'),
      isNumber: true,
      sort: 'spend',
      cell: ({ spend }) => <Usd value={spend.total_usd} places={2} />,
    },
    { id: 'trend', name: t('accounts.trend'), cell: (account) => <Trend account={account} /> },
    {
      id: 'limits',
      name: t('accounts.limits'),
      place: 'note',
      cell: ({ limits }) => <span className="soft small">{limitsText(limits)}</span>,
    },
  ],
  empty: <Empty title={t('accounts.noneTitle')}>{t('accounts.none')}</Empty>,
  emptyFiltered: <Empty title={t('accounts.noneFitsTitle')}>{t('accounts.noneFits')}</Empty>,
})

export function Accounts() {
  const { new: isAsked = false, ...search } = useSearch({ from: '/shell/accounts' })
  const { change, list } = useListAddress(search, { by: 'name', order: 'asc' })
  const mayChange = useMay('operator')
  const [isCreating, setIsCreating] = useCreating(isAsked)
  return (
    <Page
      title={t('accounts.title')}
      actions={
        mayChange && (
          <Button look="primary" onClick={() => setIsCreating(true)}>
            <Plus aria-hidden /> {t('accounts.new')}
          </Button>
        )
      }
    >
      <Filters filters={accountList.filters ?? []} values={search} onChange={change} />
      <List
        of={accountList}
        list={useList(['accounts', 'list', search], readAccounts(search))}
        isFiltered={search.q !== undefined || search.status !== undefined}
        csv={csvAddress(search)}
        {...list}
      />
      {mayChange && <NewAccount isOpen={isCreating} onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

/** A link may ask for the form. It opens once: the address forgets it. */
function useCreating(isAsked: boolean) {
  const navigate = useNavigate({ from: '/accounts' })
  const [isCreating, setIsCreating] = useState(isAsked)
  const [wasAsked, setWasAsked] = useState(isAsked)
  if (wasAsked !== isAsked) {
    setWasAsked(isAsked)
    if (isAsked) setIsCreating(true)
  }
  useEffect(() => {
    if (isAsked) void navigate({ search: ({ new: _asked, ...others }) => others, replace: true })
  }, [isAsked, navigate])
  return [isCreating, setIsCreating] as const
}

function Trend({ account: { spend } }: { account: Account }) {
  const values = spend.by_day_usd.map(Number)
  const most = formatUsd(Math.max(...values).toFixed(6))
  return <Spark values={values} label={t('accounts.trendLabel', { most })} />
}

/** The limits that are set, in short. */
export function limitsText(limits: Account['limits']): string {
  const { daily_usd: daily, monthly_usd: monthly, rpm, tpm } = limits
  const set = [
    ...(/[1-9]/.test(daily) ? [t('accounts.aDay', { amount: formatUsd(daily) })] : []),
    ...(/[1-9]/.test(monthly) ? [t('accounts.aMonth', { amount: formatUsd(monthly) })] : []),
    ...(rpm > 0 ? [t('accounts.rpmShort', { count: formatCount(rpm) })] : []),
    ...(tpm > 0 ? [t('accounts.tpmShort', { count: formatCount(tpm) })] : []),
  ]
  return set.length === 0 ? t('accounts.noLimits') : set.join(' · ')
}
