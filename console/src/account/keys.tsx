/** The keys of the account: their use, and what their limits leave. A member makes and revokes them. */
import { useQuery } from '@tanstack/react-query'
import { givenOf, keyFieldsOf, keyInputs, KeySecret, SecretAfter } from '../figures/key-form.tsx'
import { t } from '../messages/t.ts'
import { Acts } from '../ui/acts.tsx'
import { Budgets } from '../ui/budgets.tsx'
import { Badge, type Tone } from '../ui/card.tsx'
import { usdText } from '../ui/exact.ts'
import { DraftForm, NewForm } from '../ui/form.tsx'
import { defineList, type ListColumn, type SheetProps } from '../ui/list/define.ts'
import { List } from '../ui/list/list.tsx'
import { RowFacts, SheetHead } from '../ui/list/sheet.tsx'
import { Empty } from '../ui/states.tsx'
import { Missing, Time, Usd } from '../ui/values.tsx'
import { addressText, ViewLink } from './address.tsx'
import { nullable, record, text, type Key } from './answers.ts'
import { Limits } from './limits.tsx'
import { membersQuery } from './owners.tsx'
import { keysQuery, modelNamesQuery, pricesQuery } from './read.ts'
import { call, useRole, type Role } from './session.ts'

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
  empty: <Empty title={t('account.noKey')} />,
})

/** The limits with the rest of each and its next start. */
function KeySheet({ row: key }: SheetProps<Key>) {
  const role = useRole()
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
      <RowFacts row={key} columns={columnsOf[role].filter(({ id }) => id !== 'limits')} />
    </>
  )
}

const keyFields = keyFieldsOf(modelNamesQuery)
/** Null where the request was repeated after its answer was lost. */
const madeForm = record({ secret: nullable(text) })

const newKey = {
  text: t('members.newKey'),
  form: (close: () => void) => (
    <SecretAfter made={(secret) => <Secret secret={secret} onDone={close} />}>
      {(onMade) => (
        <NewForm
          fields={keyFields}
          action={t('members.makeKey')}
          send={({ changes, once }) => call('POST /keys', madeForm, givenOf(changes), once)}
          onDone={onMade}
        >
          {keyInputs}
        </NewForm>
      )}
    </SecretAfter>
  ),
}

/** The set-up opens beside it: the secret stays until it is copied. */
function Secret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { data } = useQuery(pricesQuery)
  const formats = new Map(data?.prices.map(({ vendor, format }) => [vendor, format]))
  const vendors = [...formats].map(([name, format]) => ({ name, format }))
  return (
    <KeySecret secret={secret} vendors={vendors} address={location.origin} onDone={onDone}>
      <a href={addressText({ view: 'setup' })} target="_blank" rel="noreferrer">
        {t('account.setUpClient')}
      </a>
    </KeySecret>
  )
}

/** An owner changes a key, gives it a new secret and revokes it, a member revokes the own ones. */
function KeyActions({ of: key }: { of: Key }) {
  const isOwner = useRole() === 'owner'
  const path = `/keys/${key.id}` as const
  const name = nameOf(key)
  const read = { ...key, ...budgetsOf(key), expires: key.expires_at }
  const edit = {
    text: t('members.keyActions.edit'),
    title: t('members.editKey', { name }),
    form: () => (
      <DraftForm
        fields={keyFields}
        read={read}
        valuesOf={(one) => one}
        readAgain={() => Promise.resolve(read)}
        action={t('members.save')}
        send={({ changes }) => call(`PATCH ${path}`, record({}), changes)}
        toast={() => t('members.keyChanged')}
      >
        {keyInputs}
      </DraftForm>
    ),
  }
  const rotate = {
    text: t('members.keyActions.rotate'),
    title: t('members.rotateTitle', { name }),
    hint: t('members.rotateText'),
    form: (close: () => void) => (
      <SecretAfter made={(secret) => <Secret secret={secret} onDone={close} />}>
        {(onMade) => (
          <NewForm
            fields={{}}
            action={t('members.keyActions.rotate')}
            send={({ once }) => call(`POST ${path}/rotate`, madeForm, undefined, once)}
            onDone={onMade}
          />
        )}
      </SecretAfter>
    ),
  }
  const revoke = {
    text: t('members.keyActions.revoke'),
    title: t('members.revokeTitle', { name }),
    hint: t('members.revokeText'),
    isDanger: true,
    form: () => (
      <NewForm
        fields={{}}
        action={t('members.keyActions.revoke')}
        send={() => call(`DELETE ${path}`, record({}))}
        toast={() => t('members.isRevoked', { name })}
      />
    ),
  }
  const acts = isOwner ? [edit, rotate, revoke] : [revoke]
  return <Acts menu={t('members.actionsOf', { name })} acts={acts} />
}

/** Keys that work come first. */
function placeOf({ state }: Key): number {
  return state === 'active' ? 0 : 1
}

const actions: ListColumn<Key> = {
  id: 'actions',
  name: t('members.actions'),
  isAction: true,
  cell: (key) => key.state === 'active' && <KeyActions key={key.id} of={key} />,
}

const columnsOf: Readonly<Record<Role, readonly ListColumn<Key>[]>> = {
  reader: columns,
  member: [...columns, actions],
  owner: [
    ...columns,
    { id: 'member', name: t('members.member'), cell: (key) => <Whose id={key.member_id} /> },
    actions,
  ],
}

function Whose({ id }: { id: string | null }) {
  const { data: members } = useQuery(membersQuery)
  if (id === null) return t('account.account')
  return members?.find((member) => member.id === id)?.email ?? id
}

export function Keys() {
  const role = useRole()
  const { data: keys, error, refetch } = useQuery(keysQuery)
  const rows = keys?.toSorted((one, other) => placeOf(one) - placeOf(other))
  return (
    <List
      of={{ ...keyList, columns: columnsOf[role] }}
      title={t('account.tabs.keys')}
      hint={t(`members.keysHints.${role}`)}
      list={{ rows, error, retry: () => void refetch() }}
      actions={role !== 'reader' && <Acts acts={[newKey]} />}
      file="keys"
    />
  )
}
