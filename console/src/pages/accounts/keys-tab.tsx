/** Keys and read-only tokens of an account: create, edit, revoke. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Acts } from '../../ui/acts.tsx'
import { CheckField } from '../../ui/field.tsx'
import type { ListDefinition } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Empty } from '../../ui/states.tsx'
import { keyList, restrictions } from '../keys/key-list.tsx'
import { nameOf, type Key } from '../keys/queries.ts'
import { RevokeQuestion } from '../keys/revoke.tsx'
import { EditKey, newCredentials } from './key-form.tsx'
import { keysQuery, type Account } from './queries.ts'

type Kind = 'client' | 'reader'

/** The list of all keys, with the columns that matter here. */
function listOf(kind: Kind, shown: readonly string[]): ListDefinition<Key> {
  const columns = [...keyList.columns, ...restrictions]
  return {
    ...keyList,
    name: `account-${kind}`,
    caption: t(`accounts.credentials.${kind}`),
    columns: shown.flatMap((id) => columns.filter((column) => column.id === id)),
    filters: [],
    empty: (
      <Empty title={t(`accounts.noCredentialTitles.${kind}`)}>
        {t(`accounts.noCredentials.${kind}`)}
      </Empty>
    ),
  }
}

const lists: Readonly<Record<Kind, ListDefinition<Key>>> = {
  client: listOf('client', [
    'name',
    'head',
    'state',
    'budgets',
    'spend',
    'models',
    'expires',
    'used',
  ]),
  reader: listOf('reader', ['name', 'head', 'state', 'created', 'used']),
}

export function KeysTab({ account }: { account: Account }) {
  return (
    <>
      <Credentials account={account} kind="client" />
      <Credentials account={account} kind="reader" />
    </>
  )
}

interface CredentialsProps {
  readonly account: Account
  readonly kind: Kind
}

function Credentials({ account, kind }: CredentialsProps) {
  const { data, error, refetch } = useQuery(keysQuery(account.id, kind))
  const [hasEnded, setHasEnded] = useState(false)
  const mayChange = useMay('operator')
  const ended = data?.filter(({ state }) => state !== 'active') ?? []
  return (
    <List
      of={mayChange ? withActions(lists[kind]) : lists[kind]}
      title={lists[kind].caption}
      hint={t(`accounts.credentialHints.${kind}`)}
      list={{
        rows: hasEnded ? data : data?.filter(({ state }) => state === 'active'),
        error,
        retry: () => void refetch(),
      }}
      actions={
        <>
          {ended.length > 0 && (
            <CheckField
              label={t('accounts.showEnded', { count: String(ended.length) })}
              value={hasEnded}
              onChange={setHasEnded}
            />
          )}
          {mayChange && <Acts acts={[newCredentials(account)[kind]]} />}
        </>
      }
    />
  )
}

function withActions(list: ListDefinition<Key>): ListDefinition<Key> {
  const actions = {
    id: 'actions',
    name: t('accounts.actions'),
    isNumber: true,
    cell: (key: Key) => key.state !== 'revoked' && <KeyActions of={key} />,
  }
  return { ...list, columns: [...list.columns, actions] }
}

function KeyActions({ of: key }: { of: Key }) {
  const [opened, setOpened] = useState<'edit' | 'revoke'>()
  const close = (): void => setOpened(undefined)
  const name = nameOf(key)
  return (
    <>
      <Menu
        label={t('accounts.actionsOf', { name })}
        items={[
          ...(key.kind === 'client'
            ? [{ text: t('accounts.editKey'), onSelect: () => setOpened('edit') }]
            : []),
          { text: t('accounts.revoke'), isDanger: true, onSelect: () => setOpened('revoke') },
        ]}
      />
      <EditKey id={key.id} name={name} isOpen={opened === 'edit'} onClose={close} />
      <RevokeQuestion keys={opened === 'revoke' ? [key] : []} onClose={close} onDone={close} />
    </>
  )
}
