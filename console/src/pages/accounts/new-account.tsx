/** The dialog that makes an account with a balance and limits, and leads to its page. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { announce } from '../../ui/toast.tsx'
import { changesOf, emptyDraft, LimitFields, ProfileFields } from './account-fields.tsx'

interface NewAccountProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewAccount({ isOpen, onClose }: NewAccountProps) {
  return (
    <Dialog
      title="New account"
      hint="An account holds a balance. Its keys spend it."
      isOpen={isOpen}
      onClose={onClose}
    >
      <NewAccountForm onClose={onClose} />
    </Dialog>
  )
}

function NewAccountForm({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(emptyDraft)
  const [balance, setBalance] = useState('0')
  const [once] = useState(newIdempotencyKey)
  return (
    <Form
      action="Create account"
      isDisabled={draft.name.trim() === ''}
      onCancel={onClose}
      onSubmit={() =>
        bodyOf(
          api.POST('/admin/v1/accounts', {
            params: { header: { 'Idempotency-Key': once } },
            body: {
              ...changesOf(draft, emptyDraft),
              name: draft.name,
              balance_usd: balance.trim() || '0',
            },
          }),
        )
      }
      onDone={({ id, name }) => {
        announce(`The account ${name} is created.`)
        void client.invalidateQueries({ queryKey: ['accounts'] })
        void navigate({ to: '/accounts/$account', params: { account: id } })
      }}
    >
      {(errorOf) => (
        <>
          <ProfileFields draft={draft} onChange={setDraft} errorOf={errorOf} />
          <TextField
            label="First credit"
            unit="$"
            inputMode="decimal"
            hint="Booked under the reference opening-balance"
            value={balance}
            onChange={setBalance}
            error={errorOf('balance_usd')}
          />
          <details className="accounts-more">
            <summary>Limits</summary>
            <div className="form">
              <LimitFields draft={draft} onChange={setDraft} errorOf={errorOf} />
            </div>
          </details>
        </>
      )}
    </Form>
  )
}
