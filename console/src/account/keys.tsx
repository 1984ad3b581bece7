/** The keys of the account: their use, and what their limits leave. Secrets are not here. */
import { useQuery } from '@tanstack/react-query'
import { t } from '../messages/t.ts'
import { Budgets } from '../ui/budgets.tsx'
import { Badge, type Tone } from '../ui/card.tsx'
import { usdText } from '../ui/exact.ts'
import { defineList, type ListColumn, type SheetProps } from '../ui/list/define.ts'
import { List } from '../ui/list/list.tsx'
import { RowFacts, SheetHead } from '../ui/list/sheet.tsx'
import { Empty } from '../ui/states.tsx'
import { Missing, Time, Usd } from '../ui/values.tsx'
import { ViewLink } from './address.tsx'
import type { Key } from './answers.ts'
import { Limits } from './limits.tsx'
import { keysQuery } from './read.ts'

const tones: Readonly<Record<string, Tone>> = { active: 'good', expired: 'warn' }

const nameOf = ({ name, head }: Key): string => (name === '' ? head : name)

function stateWord(state: string): string {
  return state === 'active' || state === 'expired' || state === 'revoked'
    ? t(`account.states.${state}`)
    : state
}

const columns: readonly ListColumn<Key>[] = [
  { id: 'name', name: t('account.key'), place: 'name', cell: nameOf, value: nameOf },
  {
    id: 'head',
    name: t('account.head'),
    place: 'note',
    cell: ({ head }) => <code>{head}</code>,
  },
  {
    id: 'state',
    name: t('account.state'),
    place: 'state',
    cell: ({ state }) => <Badge tone={tones[state] ?? 'neutral'}>{stateWord(state)}</Badge>,
    value: ({ state }) => state,
  },
  used('day_usd', t('account.periods.day')),
  { ...used('month_usd', t('account.periods.month')), place: 'amount' },
  used('total_usd', t('account.periods.total')),
  {
    id: 'limits',
    name: t('account.limits'),
    cell: (key) => <Budgets of={budgetsOf(key)} empty={<Missing why={t('account.noLimits')} />} />,
  },
  {
    id: 'models',
    name: t('account.models'),
    room: 'wide',
    cell: ({ models }) => models?.join(', ') ?? t('account.all'),
    value: ({ models }) => models?.join(' ') ?? 'all',
  },
  {
    id: 'expires',
    name: t('account.expires'),
    room: 'wide',
    cell: ({ expires_at: at }) => <Time at={at} />,
    value: ({ expires_at: at }) => at,
  },
]

function used(period: keyof Key['used'], name: string): ListColumn<Key> {
  const value = (key: Key): string => usdText(key.used[period])
  return {
    id: period,
    name,
    isNumber: true,
    cell: (key) => <Usd value={value(key)} places={2} />,
    value,
  }
}

function budgetsOf({ limits, used: spent }: Key) {
  const limitOf = (period: string): string =>
    usdText(limits.find((limit) => limit.period === period)?.limit_usd ?? 0)
  return {
    daily_usd: limitOf('day'),
    monthly_usd: limitOf('month'),
    total_usd: limitOf('total'),
    used: {
      day_usd: usdText(spent.day_usd),
      month_usd: usdText(spent.month_usd),
      total_usd: usdText(spent.total_usd),
    },
  }
}

const keyList = defineList<Key>({
  name: 'account-page-keys',
  caption: t('account.keysOf'),
  columns,
  rowKey: ({ id }) => id,
  rowName: nameOf,
  Sheet: KeySheet,
  empty: <Empty title={t('account.noKey')}>{t('account.askForKey')}</Empty>,
})

/** The limits with the rest of each and its next start. */
function KeySheet({ row: key }: SheetProps<Key>) {
  if (key === undefined) return <SheetHead title={t('account.key')} />
  return (
    <>
      <SheetHead
        title={nameOf(key)}
        hint={
          <ViewLink to={{ view: 'requests', key: key.id }}>{t('account.requestsOfKey')}</ViewLink>
        }
      />
      {key.limits.length + key.rpm + key.tpm > 0 && (
        <Limits of={key}>{(rates) => rates !== '' && <p className="soft">{rates}</p>}</Limits>
      )}
      <RowFacts row={key} columns={columns.filter(({ id }) => id !== 'limits')} />
    </>
  )
}

/** Keys that work come first. */
function placeOf({ state }: Key): number {
  return state === 'active' ? 0 : 1
}

export function Keys() {
  const { data: keys, error, refetch } = useQuery(keysQuery)
  const rows = keys?.toSorted((one, other) => placeOf(one) - placeOf(other))
  return (
    <List
      of={keyList}
      title={t('account.tabs.keys')}
      hint={t('account.keysHint')}
      list={{ rows, error, retry: () => void refetch() }}
      file="keys"
    />
  )
}
