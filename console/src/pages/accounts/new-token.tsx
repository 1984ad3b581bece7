/** The dialog that makes a read-only token and then shows its secret once. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { SecretOnce } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { LostSecret, type NewCredentialProps } from './new-key.tsx'

export function NewToken({ account, isOpen, onClose }: NewCredentialProps) {
  return (
    <Dialog
      title={`New read-only token of ${account.name}`}
      hint="It shows balance, usage, requests and statements of this account, and nothing else."
      isOpen={isOpen}
      onClose={onClose}
    >
      <NewTokenForm account={account} onClose={onClose} />
    </Dialog>
  )
}

function NewTokenForm({ account, onClose }: Omit<NewCredentialProps, 'isOpen'>) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [once] = useState(newIdempotencyKey)
  const [secret, setSecret] = useState<string | null>()
  if (secret === null) return <LostSecret />
  if (secret !== undefined)
    return (
      <SecretOnce secret={secret} variables={`TURNPIKE_READ_ONLY_TOKEN=${secret}`} onDone={onClose}>
        <p className="soft">
          Its holder pastes it at the address of the gateway, on the page <code>/account</code>.
        </p>
      </SecretOnce>
    )
  return (
    <Form
      action="Create token"
      onCancel={onClose}
      onSubmit={() =>
        bodyOf(
          api.POST('/admin/v1/accounts/{account}/tokens', {
            params: { path: { account: account.id }, header: { 'Idempotency-Key': once } },
            body: { name },
          }),
        )
      }
      onDone={(made) => {
        setSecret(made.secret)
        void client.invalidateQueries({ queryKey: ['keys'] })
      }}
    >
      {(errorOf) => (
        <TextField
          label="Name"
          autoFocus
          hint="Such as accounting"
          maxLength={64}
          value={name}
          onChange={setName}
          error={errorOf('name')}
        />
      )}
    </Form>
  )
}
