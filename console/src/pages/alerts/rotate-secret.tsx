/** Replaces the secret that signs the messages of a webhook. The old one stays valid for a day. */
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { SecretOnce } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Time } from '../../ui/values.tsx'
import type { Target } from './queries.ts'

export function RotateSecret({ target, onClose }: { target: Target; onClose: () => void }) {
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [made, setMade] = useState<{ secret: string | null; old_valid_until: string }>()
  const rotate = () =>
    bodyOf(
      api.POST('/admin/v1/alerts/{target}/rotate-secret', {
        params: { path: { target: target.id }, header: { 'Idempotency-Key': idempotencyKey } },
      }),
    )
  return (
    <Dialog
      title={`Replace the secret of ${target.name}`}
      hint="Messages are then signed with both secrets for a day, so that the receiver can change over."
      isOpen
      onClose={onClose}
    >
      {made === undefined ? (
        <Form action="Replace secret" onSubmit={rotate} onDone={setMade} onCancel={onClose}>
          {() => null}
        </Form>
      ) : (
        <>
          <SecretOnce secret={made.secret ?? ''}>
            <p>
              The old secret is valid until <Time at={made.old_valid_until} />.
            </p>
          </SecretOnce>
          <footer className="dialog-foot">
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </footer>
        </>
      )}
    </Dialog>
  )
}
