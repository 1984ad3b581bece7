/** Keys and read-only tokens of an account: create, edit, revoke. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { announce } from '../../ui/toast.tsx'
import { EditKey } from './edit-key.tsx'
import { keyColumns, tokenColumns } from './key-columns.tsx'
import { NewKey } from './new-key.tsx'
import { NewToken } from './new-token.tsx'
import { keysQuery, tokensQuery, type Account, type Key } from './queries.ts'

export function KeysTab({ account }: { account: Account }) {
  return (
    <>
      <Credentials
        account={account}
        title="Keys"
        hint="Send model requests. Each can have budgets and limits."
        kind="client"
      />
      <Credentials
        account={account}
        title="Read-only tokens"
        hint="Open the account page and read the figures. They send no requests."
        kind="reader"
      />
    </>
  )
}

interface CredentialsProps {
  readonly account: Account
  readonly title: string
  readonly hint: string
  readonly kind: 'client' | 'reader'
}

function Credentials({ account, title, hint, kind }: CredentialsProps) {
  const query = kind === 'client' ? keysQuery(account.id) : tokensQuery(account.id)
  const { data, error, refetch } = useQuery(query)
  const [isCreating, setIsCreating] = useState(false)
  const [hasEnded, setHasEnded] = useState(false)
  const mayChange = useMay('operator')
  const close = (): void => setIsCreating(false)
  const New = kind === 'client' ? NewKey : NewToken
  const ended = data?.filter(({ state }) => state !== 'active') ?? []
  return (
    <Card
      title={title}
      hint={hint}
      isFlush
      actions={
        <>
          {ended.length > 0 && (
            <CheckField
              label={`Show ${ended.length} revoked or expired`}
              value={hasEnded}
              onChange={setHasEnded}
            />
          )}
          {mayChange && (
            <Button
              disabled={kind === 'client' && account.status === 'closed'}
              onClick={() => setIsCreating(true)}
            >
              <Plus aria-hidden /> {kind === 'client' ? 'New key' : 'New read-only token'}
            </Button>
          )}
        </>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data !== undefined && (
        <KeyTable
          title={title}
          kind={kind}
          mayChange={mayChange}
          keys={hasEnded ? data : data.filter(({ state }) => state === 'active')}
        />
      )}
      <New account={account} isOpen={isCreating} onClose={close} />
    </Card>
  )
}

interface KeyTableProps {
  readonly title: string
  readonly kind: 'client' | 'reader'
  readonly keys: readonly Key[]
  readonly mayChange: boolean
}

function KeyTable({ title, kind, keys, mayChange }: KeyTableProps) {
  if (keys.length === 0)
    return kind === 'client' ? (
      <Empty title="No active key.">Make one to send requests.</Empty>
    ) : (
      <Empty title="No active token.">Make one for the holder of the account.</Empty>
    )
  const actions: Column<Key> = {
    name: 'Actions',
    isNumber: true,
    cell: (key) => (key.state === 'revoked' ? null : <KeyActions credential={key} />),
  }
  const columns = kind === 'client' ? keyColumns : tokenColumns
  return (
    <Table
      caption={title}
      columns={mayChange ? [...columns, actions] : columns}
      rows={keys}
      rowKey={({ id }) => id}
    />
  )
}

function KeyActions({ credential }: { credential: Key }) {
  const [opened, setOpened] = useState<'edit' | 'revoke'>()
  const close = (): void => setOpened(undefined)
  const name = credential.name === '' ? credential.head : credential.name
  return (
    <>
      <Menu
        label={`Actions of ${name}`}
        items={[
          ...(credential.kind === 'client'
            ? [{ text: 'Edit key', onSelect: () => setOpened('edit') }]
            : []),
          { text: 'Revoke', isDanger: true, onSelect: () => setOpened('revoke') },
        ]}
      />
      {credential.kind === 'client' && (
        <EditKey id={credential.id} name={name} isOpen={opened === 'edit'} onClose={close} />
      )}
      <Revoke credential={credential} name={name} isOpen={opened === 'revoke'} onClose={close} />
    </>
  )
}

interface RevokeProps {
  readonly credential: Key
  readonly name: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

function Revoke({ credential: { id, kind, head }, name, isOpen, onClose }: RevokeProps) {
  const client = useQueryClient()
  const params = { path: { id } }
  const revoking = useMutation({
    mutationFn: () =>
      kind === 'client'
        ? bodyOf(api.DELETE('/admin/v1/keys/{id}', { params }))
        : bodyOf(api.DELETE('/admin/v1/tokens/{id}', { params })),
    onSuccess() {
      announce(`${name} is revoked.`)
      void client.invalidateQueries({ queryKey: ['keys'] })
      onClose()
    },
  })
  const noun = kind === 'client' ? 'key' : 'token'
  return (
    <Confirm
      title={`Revoke ${name}?`}
      action={`Revoke ${noun}`}
      isOpen={isOpen}
      isBusy={revoking.isPending}
      error={revoking.error}
      onConfirm={() => revoking.mutate()}
      onClose={() => {
        revoking.reset()
        onClose()
      }}
    >
      The next request with <code>{head}</code> is refused, within a second on every gateway. This
      cannot be undone.
    </Confirm>
  )
}
