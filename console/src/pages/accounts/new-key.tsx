/** The dialog that makes a key and then shows its secret once, with the addresses to use it at. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { Notice } from '../../ui/card.tsx'
import { SecretOnce, Snippet } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { emptyKey, keyChangesOf, KeyFields } from './key-fields.tsx'
import { listenQuery, vendorsQuery, type Account } from './queries.ts'
import { clientAddress, setUpText, unknownAddress } from './set-up.ts'

export interface NewCredentialProps {
  readonly account: Account
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewKey({ account, isOpen, onClose }: NewCredentialProps) {
  return (
    <Dialog title={`New key of ${account.name}`} isOpen={isOpen} onClose={onClose}>
      <NewKeyForm account={account} onClose={onClose} />
    </Dialog>
  )
}

function NewKeyForm({ account, onClose }: Omit<NewCredentialProps, 'isOpen'>) {
  const client = useQueryClient()
  const [draft, setDraft] = useState(emptyKey)
  const [once] = useState(newIdempotencyKey)
  const [secret, setSecret] = useState<string | null>()
  if (secret === null) return <LostSecret />
  if (secret !== undefined) return <MadeKey secret={secret} onClose={onClose} />
  const create = () => {
    const { models, ip, expires, ...others } = keyChangesOf(draft, emptyKey)
    return bodyOf(
      api.POST('/admin/v1/accounts/{account}/keys', {
        params: { path: { account: account.id }, header: { 'Idempotency-Key': once } },
        body: {
          ...others,
          ...(models && { models }),
          ...(ip && { ip }),
          ...(typeof expires === 'string' && { expires }),
        },
      }),
    )
  }
  return (
    <Form
      action="Create key"
      onCancel={onClose}
      onSubmit={create}
      onDone={(made) => {
        setSecret(made.secret)
        void client.invalidateQueries({ queryKey: ['keys'] })
      }}
    >
      {(errorOf) => <KeyFields draft={draft} onChange={setDraft} errorOf={errorOf} />}
    </Form>
  )
}

/** The request was repeated after its answer was lost; the gateway keeps no secret. */
export function LostSecret() {
  return (
    <Notice tone="warn">
      It was made before, but the answer with its secret was lost. Revoke it and make another.
    </Notice>
  )
}

function MadeKey({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { data: vendors = [] } = useQuery(vendorsQuery)
  const { data: listen = '' } = useQuery(listenQuery)
  const address = clientAddress(listen)
  const text = setUpText(vendors, { secret, address: address ?? unknownAddress })
  return (
    <SecretOnce
      secret={secret}
      variables={vendors.length === 0 ? `TURNPIKE_KEY=${secret}` : text.replaceAll('export ', '')}
      onDone={onClose}
    >
      {vendors.length > 0 && (
        <div className="stack">
          <p className="soft">
            Set these variables; the SDKs and agents of these formats read them.
            {address === undefined &&
              ` Put the address of your gateway in place of ${unknownAddress}.`}
          </p>
          <Snippet label="Variables for a shell" text={text} />
        </div>
      )}
    </SecretOnce>
  )
}
