/** Creates a target. The secret of a new webhook is shown once. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { SecretOnce } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { announce } from '../../ui/toast.tsx'

export function TargetDialog({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState<string>()
  return (
    <Dialog title="New target" isOpen onClose={onClose}>
      {secret === undefined ? (
        <NewTarget onClose={onClose} onSecret={setSecret} />
      ) : (
        <>
          <p>The receiver checks the signature of each message with this secret.</p>
          <SecretOnce
            secret={secret}
            variables={`TURNPIKE_WEBHOOK_SECRET=${secret}`}
            onDone={onClose}
          />
        </>
      )}
    </Dialog>
  )
}

const formats = [
  ['webhook', 'Webhook, signed'],
  ['slack', 'Slack-compatible channel'],
  ['email', 'E-mail'],
] as const
const severities = [
  ['info', 'Everything'],
  ['warning', 'Warnings and critical alerts'],
  ['critical', 'Critical alerts only'],
] as const

const addressHints = {
  webhook: 'https://… of the receiver',
  slack: 'https://… that the channel gave you',
  email: 'A mail address, or "contact" for the contact of the account that an alert is about',
} as const

function NewTarget(props: { onClose: () => void; onSecret: (secret: string) => void }) {
  const client = useQueryClient()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [format, setFormat] = useState<(typeof formats)[number][0]>('webhook')
  const [name, setName] = useState('')
  const [address, setAddress] = useState('')
  const [severity, setSeverity] = useState<(typeof severities)[number][0]>('info')
  const create = () =>
    bodyOf(
      api.POST('/admin/v1/alerts', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: { name: name.trim(), format, address: address.trim(), min_severity: severity },
      }),
    )
  return (
    <Form
      action="Create target"
      onSubmit={create}
      onDone={({ target, secret }) => {
        void client.invalidateQueries({ queryKey: ['alerts'] })
        announce(`${target.name} is created.`)
        if (secret === null) props.onClose()
        else props.onSecret(secret)
      }}
    >
      {(errorOf) => (
        <>
          <SelectField
            label="Kind of target"
            value={format}
            options={formats}
            onChange={setFormat}
          />
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            error={errorOf('name')}
            placeholder="pager"
          />
          <TextField
            label="Address"
            value={address}
            onChange={setAddress}
            error={errorOf('address')}
            hint={addressHints[format]}
          />
          <SelectField
            label="Severity"
            value={severity}
            options={severities}
            onChange={setSeverity}
          />
        </>
      )}
    </Form>
  )
}
