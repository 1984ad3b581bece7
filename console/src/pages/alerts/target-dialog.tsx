/** Creates a target, or changes one. The secret of a new webhook is shown once. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { SecretOnce } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Outdated, useOutdated } from '../../ui/outdated.tsx'
import { Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { chosenKinds, isAlertKind, kindNames, type AlertKind } from './kinds.ts'
import { targetQuery, type Target } from './queries.ts'

interface TargetDialogProps {
  /** Absent for a new one. */
  readonly target?: Target
  readonly onClose: () => void
}

export function TargetDialog({ target, onClose }: TargetDialogProps) {
  const [secret, setSecret] = useState<string>()
  return (
    <Dialog
      title={target === undefined ? 'New target' : `Change ${target.name}`}
      isOpen
      onClose={onClose}
    >
      {secret !== undefined ? (
        <>
          <p>The receiver checks the signature of each message with this secret.</p>
          <SecretOnce secret={secret} />
          <footer className="dialog-foot">
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </footer>
        </>
      ) : target === undefined ? (
        <NewTarget onClose={onClose} onSecret={setSecret} />
      ) : (
        <Suspense fallback={<Loading />}>
          <EditTarget id={target.id} onClose={onClose} />
        </Suspense>
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

type Format = (typeof formats)[number][0]
type Severity = (typeof severities)[number][0]

interface Fields {
  readonly name: string
  readonly address: string
  readonly minSeverity: Severity
  readonly kinds: readonly AlertKind[]
}

const noFields: Fields = {
  name: '',
  address: '',
  minSeverity: 'info',
  kinds: [],
}

function bodyFrom(fields: Fields) {
  return {
    name: fields.name.trim(),
    min_severity: fields.minSeverity,
    kinds: [...fields.kinds],
  }
}

function NewTarget(props: { onClose: () => void; onSecret: (secret: string) => void }) {
  const client = useQueryClient()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const [format, setFormat] = useState<Format>('webhook')
  const [fields, setFields] = useState(noFields)
  const create = () =>
    bodyOf(
      api.POST('/admin/v1/alerts', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: { ...bodyFrom(fields), format, address: fields.address.trim() },
      }),
    )
  return (
    <Form
      action="Create target"
      onSubmit={create}
      onCancel={props.onClose}
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
          <TargetFields
            fields={fields}
            onChange={setFields}
            errorOf={errorOf}
            addressHint={addressHints[format]}
          />
        </>
      )}
    </Form>
  )
}

const addressHints: Readonly<Record<Format, string>> = {
  webhook: 'https://… of the receiver',
  slack: 'https://… that the channel gave you',
  email: 'A mail address, or "contact" for the contact of the account that an alert is about',
}

function EditTarget({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient()
  const { data, refetch } = useSuspenseQuery({ ...targetQuery(id), staleTime: 0 })
  // As it was when the dialog opened: live events must not change its version while a person types.
  const [shown, setShown] = useState(data)
  const outdated = useOutdated()
  const [fields, setFields] = useState(() => fieldsOf(shown.target))
  const loadAgain = async (): Promise<void> => {
    const read = await refetch()
    if (read.data !== undefined) {
      setShown(read.data)
      setFields(fieldsOf(read.data.target))
    }
    outdated.clear()
  }
  const change = () =>
    bodyOf(
      api.PATCH('/admin/v1/alerts/{target}', {
        params: { path: { target: id }, header: { 'If-Match': shown.etag } },
        body: {
          ...bodyFrom(fields),
          ...(fields.address.trim() !== '' && { address: fields.address.trim() }),
        },
      }),
    )
  return (
    <Form
      action="Save"
      onSubmit={() => outdated.watch(change())}
      onCancel={onClose}
      onDone={({ name }) => {
        void client.invalidateQueries({ queryKey: ['alerts'] })
        announce(`${name} is changed.`)
        onClose()
      }}
    >
      {(errorOf) => (
        <>
          <TargetFields
            fields={fields}
            onChange={setFields}
            errorOf={errorOf}
            addressHint={`Empty keeps the current one: ${shown.target.address}`}
          />
          {outdated.isOutdated && <Outdated onLoad={loadAgain} />}
        </>
      )}
    </Form>
  )
}

function fieldsOf(target: Target): Fields {
  return {
    name: target.name,
    address: '',
    minSeverity: target.min_severity,
    kinds: (target.kinds ?? []).filter(isAlertKind),
  }
}

interface TargetFieldsProps {
  readonly fields: Fields
  readonly onChange: (fields: Fields) => void
  readonly errorOf: (field: string) => string | undefined
  readonly addressHint: string
}

function TargetFields({ fields, onChange, errorOf, addressHint }: TargetFieldsProps) {
  const set =
    <Name extends keyof Fields>(name: Name) =>
    (value: Fields[Name]): void =>
      onChange({ ...fields, [name]: value })
  return (
    <>
      <TextField
        label="Name"
        value={fields.name}
        onChange={set('name')}
        error={errorOf('name')}
        placeholder="pager"
      />
      <TextField
        label="Address"
        value={fields.address}
        onChange={set('address')}
        error={errorOf('address')}
        hint={addressHint}
      />
      <SelectField
        label="Gets"
        value={fields.minSeverity}
        options={severities}
        onChange={set('minSeverity')}
      />
      <KindList chosen={fields.kinds} onChange={set('kinds')} />
    </>
  )
}

interface KindListProps {
  readonly chosen: readonly AlertKind[]
  readonly onChange: (kinds: readonly AlertKind[]) => void
}

function KindList({ chosen, onChange }: KindListProps) {
  return (
    <details>
      <summary>
        {chosen.length === 0 ? 'All kinds of alerts' : `${chosen.length} kinds of alerts`}
      </summary>
      <fieldset className="kind-group">
        <legend>Only these kinds; none chosen means all</legend>
        <div className="kind-list">
          {chosenKinds.map((kind) => (
            <CheckField
              key={kind}
              label={kindNames[kind]}
              value={chosen.includes(kind)}
              onChange={(isChosen) =>
                onChange(isChosen ? [...chosen, kind] : chosen.filter((each) => each !== kind))
              }
            />
          ))}
        </div>
      </fieldset>
    </details>
  )
}
