/** Admin tokens: list, create, revoke. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, type Role } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { SecretOnce } from '../../ui/copy.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Time } from '../../ui/values.tsx'

function readTokens(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/admin-tokens', { params: { query: { limit: 50, ...cursor } } }))
}

type Token = Awaited<ReturnType<typeof readTokens>>['items'][number]

const stateTones = { active: 'good', expired: 'neutral', revoked: 'neutral' } as const

export function AdminTokens() {
  const list = useList(['settings', 'admin-tokens'], readTokens)
  const isOwner = useMay('owner')
  const [isCreating, setIsCreating] = useState(false)
  const [revoking, setRevoking] = useState<Token>()
  return (
    <Card
      title="Admin tokens"
      hint="They open the console, the admin API and the command line from other machines."
      isFlush
      actions={
        isOwner && (
          <Button look="primary" onClick={() => setIsCreating(true)}>
            <Plus aria-hidden /> New admin token
          </Button>
        )
      }
    >
      <List
        caption="Admin tokens, oldest first"
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty title="No admin token." />}
        columns={[
          {
            name: 'Name',
            cell: ({ name, head }) => (
              <div>
                <strong>{name}</strong>
                <div className="soft">
                  <code>{head}</code>
                </div>
              </div>
            ),
          },
          { name: 'Role', cell: ({ role }) => role },
          {
            name: 'Status',
            cell: ({ state }) => <Badge tone={stateTones[state]}>{state}</Badge>,
          },
          { name: 'Last used', cell: ({ last_used_at: at }) => <Time at={at} /> },
          {
            name: 'Expires',
            cell: ({ expires_at: at }) => (at === null ? 'never' : <Time at={at} />),
          },
          {
            name: 'Actions',
            cell: (token) =>
              isOwner && token.state === 'active' ? (
                <Button onClick={() => setRevoking(token)}>Revoke</Button>
              ) : null,
          },
        ]}
      />
      {isCreating && <NewToken onClose={() => setIsCreating(false)} />}
      {revoking !== undefined && (
        <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />
      )}
    </Card>
  )
}

const roles: readonly (readonly [Role, string])[] = [
  ['viewer', 'Viewer: reads everything'],
  ['operator', 'Operator: also accounts, keys, money, limits, channels'],
  ['owner', 'Owner: everything'],
]

function NewToken({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [expires, setExpires] = useState('')
  const [secret, setSecret] = useState<string>()
  const create = () =>
    bodyOf(
      api.POST('/admin/v1/admin-tokens', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: { name: name.trim(), role, ...(expires !== '' && { expires }) },
      }),
    )
  return (
    <Dialog title="New admin token" isOpen onClose={onClose}>
      {secret === undefined ? (
        <Form
          action="Create token"
          onSubmit={create}
          onDone={(made) => {
            void client.invalidateQueries({ queryKey: ['settings', 'admin-tokens'] })
            setSecret(made.secret ?? '')
          }}
        >
          {(errorOf) => (
            <>
              <TextField
                label="Name"
                placeholder="monitoring"
                value={name}
                onChange={setName}
                error={errorOf('name')}
              />
              <SelectField label="Role" value={role} options={roles} onChange={setRole} />
              <TextField
                label="Expires"
                type="date"
                value={expires}
                onChange={setExpires}
                error={errorOf('expires')}
                hint="At 00:00 UTC of this day. Empty: never"
              />
            </>
          )}
        </Form>
      ) : (
        <SecretOnce secret={secret} variables={`TURNPIKE_TOKEN=${secret}`} onDone={onClose} />
      )}
    </Dialog>
  )
}

function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const client = useQueryClient()
  const revoking = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE('/admin/v1/admin-tokens/{id}', { params: { path: { id: token.id } } })),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['settings', 'admin-tokens'] })
      announce(`${token.name} is revoked.`)
      onClose()
    },
  })
  return (
    <Confirm
      title={`Revoke ${token.name}?`}
      action="Revoke token"
      isOpen
      isBusy={revoking.isPending}
      error={revoking.error}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      Within a second its requests are refused, and its sessions end. This cannot be undone.
    </Confirm>
  )
}
