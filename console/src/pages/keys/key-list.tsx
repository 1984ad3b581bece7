/** The list of keys as a declaration, and the sheet of one. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { nameFilter } from '../../api/names.ts'
import { t } from '../../messages/t.ts'
import { Budgets } from '../../ui/budgets.tsx'
import { Badge, type Tone } from '../../ui/card.tsx'
import { formatInteger } from '../../ui/format.ts'
import { defineList, type ListColumn, type SheetProps } from '../../ui/list/define.ts'
import { RowFacts, SheetHead } from '../../ui/list/sheet.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Age, Missing, Time, Usd } from '../../ui/values.tsx'
import { Past } from '../audit/activity.tsx'
import { kinds, states } from './address.ts'
import { nameOf, readKeys, type Key } from './queries.ts'
import { RevokeButton } from './revoke.tsx'
import { AccountLink } from '../links.tsx'

const stateTones: Readonly<Record<Key['state'], Tone>> = {
  active: 'good',
  expired: 'warn',
  revoked: 'neutral',
}

export const keyList = defineList<Key, 'q' | 'key' | 'account' | 'kind' | 'state'>({
  name: 'keys',
  caption: t('keys.title'),
  rowKey: ({ id }) => id,
  rowName: nameOf,
  Sheet: KeySheet,
  filters: [
    {
      kind: 'text',
      name: 'q',
      label: t('keys.secretOrName'),
      placeholder: t('keys.secretExample'),
      instead: 'key',
    },
    nameFilter('account', t('keys.account')),
    {
      kind: 'choice',
      name: 'kind',
      label: t('keys.kind'),
      any: t('keys.allKinds'),
      options: kinds.map((kind) => [kind, t(`keys.kinds.${kind}`)] as const),
    },
    {
      kind: 'choice',
      name: 'state',
      label: t('keys.state'),
      any: t('keys.anyState'),
      options: states.map((state) => [state, t(`keys.states.${state}`)] as const),
    },
    { kind: 'link', name: 'key', label: t('keys.onlyOne') },
  ],
  columns: [
    {
      id: 'name',
      name: t('keys.key'),
      place: 'name',
      cell: (key) => nameOf(key),
    },
    { id: 'head', name: t('keys.head'), cell: ({ head }) => <code>{head}</code> },
    {
      id: 'kind',
      name: t('keys.kind'),
      isExtra: true,
      cell: ({ kind }) => t(`keys.kindNames.${kind}`),
    },
    {
      id: 'account',
      name: t('keys.account'),
      place: 'note',
      cell: ({ account_id: account, account_name: name }) =>
        account === null ? (
          <span className="soft">{t('keys.operators')}</span>
        ) : (
          <AccountLink id={account}>{name}</AccountLink>
        ),
    },
    {
      id: 'state',
      name: t('keys.state'),
      place: 'state',
      cell: ({ state }) => <Badge tone={stateTones[state]}>{t(`keys.stateNames.${state}`)}</Badge>,
    },
    {
      id: 'used',
      name: t('keys.lastUsed'),
      sort: 'last_used',
      cell: ({ last_used_at: at }) => <Age at={at} />,
    },
    {
      id: 'spend',
      name: t('keys.spend'),
      sort: 'spend',
      isNumber: true,
      place: 'amount',
      cell: (key) => <Spend of={key} />,
    },
    { id: 'budgets', name: t('keys.budgets'), cell: (key) => <Budgets of={key} empty="–" /> },
    {
      id: 'created',
      name: t('keys.created'),
      sort: 'created',
      cell: ({ created_at: at }) => <Age at={at} />,
    },
    {
      id: 'revoke',
      name: t('keys.revoke'),
      isNumber: true,
      isAction: true,
      cell: (key) => <RevokeButton key="revoke" of={key} />,
    },
  ],
  empty: <Empty title={t('keys.noneTitle')}>{t('keys.none')}</Empty>,
})

/** The spend of the month leads to the requests. */
function Spend({ of: { id, kind, account_id: account, used } }: { of: Key }) {
  if (kind !== 'client' || account === null) return <Missing why={t('keys.noRequests')} />
  return (
    <Link to="/requests" search={{ key: id, account }}>
      <Usd value={used.month_usd} />
    </Link>
  )
}

/** Everything about a key; read by its id where the list does not show it. */
function KeySheet({ id, row }: SheetProps<Key>) {
  const { data, error } = useQuery({
    queryKey: ['keys', 'one', id],
    queryFn: () => readKeys({ key: id })({}),
    enabled: row === undefined,
  })
  const key = row ?? data?.items[0]
  if (key === undefined)
    return (
      <>
        <SheetHead title={t('keys.key')} />
        {error !== null ? (
          <Failure error={error} />
        ) : data === undefined ? (
          <Loading />
        ) : (
          <Empty title={t('keys.notFound')} />
        )}
      </>
    )
  return (
    <>
      <SheetHead title={nameOf(key)} hint={t(`keys.kindNames.${key.kind}`)} />
      <RowFacts row={key} columns={[...keyList.columns, ...restrictions]} />
      <Past of={{ key: key.id }} />
    </>
  )
}

const unlimited = <span className="soft">{t('keys.unlimited')}</span>

export const restrictions: readonly ListColumn<Key>[] = [
  {
    id: 'models',
    name: t('keys.models'),
    cell: ({ models }) => models?.join(', ') ?? unlimited,
  },
  { id: 'ip', name: t('keys.addresses'), cell: ({ ip }) => ip?.join(', ') ?? unlimited },
  {
    id: 'rpm',
    name: t('keys.requestsPerMinute'),
    cell: ({ rpm }) => (rpm === 0 ? unlimited : formatInteger(rpm)),
  },
  {
    id: 'tpm',
    name: t('keys.tokensPerMinute'),
    cell: ({ tpm }) => (tpm === 0 ? unlimited : formatInteger(tpm)),
  },
  { id: 'id', name: t('keys.id'), cell: ({ id }) => <code className="break">{id}</code> },
  { id: 'expires', name: t('keys.expires'), cell: ({ expires_at: at }) => <Time at={at} /> },
]
