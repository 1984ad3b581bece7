/** The targets of alerts: who gets which messages, and where. The secret of a new webhook is shown once. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Acts } from '../../ui/acts.tsx'
import { Ask } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { SecretOnce, variablesFile } from '../../ui/copy.tsx'
import { choiceField, textField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { Row } from '../../ui/layout.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { describeFailure, Empty } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { readTargets, severityTones, type Target } from './queries.ts'

const targetList = defineList<Target>({
  name: 'targets',
  caption: t('alerts.targetsCaption'),
  rowKey: ({ id }) => id,
  rowName: ({ name }) => name,
  columns: [
    {
      id: 'target',
      name: t('alerts.target'),
      cell: ({ name, address, format }) => (
        <>
          <strong>{name}</strong>
          <p className="soft break">
            {format} · {address}
          </p>
        </>
      ),
    },
    {
      id: 'least',
      name: t('alerts.least'),
      place: 'state',
      cell: ({ min_severity: least }) => (
        <Badge tone={severityTones[least]}>{t(`alerts.severities.${least}`)}</Badge>
      ),
    },
    {
      id: 'actions',
      name: t('alerts.actions'),
      isAction: true,
      cell: (target) => <TargetActions key={target.id} target={target} />,
    },
  ],
  empty: <Empty title={t('alerts.noTarget')}>{t('alerts.noTargetHint')}</Empty>,
})

export function Targets() {
  const isOwner = useMay('owner')
  return (
    <List
      of={targetList}
      list={useList(['alerts', 'targets'], readTargets)}
      title={t('alerts.targets')}
      hint={t('alerts.targetsHint')}
      actions={isOwner && <Acts acts={[newTarget]} />}
    />
  )
}

const newTarget = {
  text: t('alerts.newTarget'),
  form: (close: () => void) => <NewTarget onClose={close} />,
}

function TargetActions({ target: { id, name } }: { target: Target }) {
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/alerts' })
  const mayTest = useMay('operator')
  const isOwner = useMay('owner')
  const [isAsking, setIsAsking] = useState(false)
  const params = { path: { target: id } }
  const testing = useMutation({
    mutationFn: () => bodyOf(api.POST('/admin/v1/alerts/{target}/test', { params })),
    onSuccess() {
      announce(t('alerts.testSent', { name }))
      void navigate({ search: { tab: 'deliveries', target: name } })
    },
    onError: (error) => announce(describeFailure(error).title),
    onSettled: () => client.invalidateQueries({ queryKey: ['alerts'] }),
  })
  if (!mayTest) return null
  return (
    <Row>
      <Button isBusy={testing.isPending} onClick={() => testing.mutate()}>
        {t('alerts.sendTest')}
      </Button>
      {isOwner && (
        <Menu
          label={t('alerts.actionsOf', { name })}
          items={[{ text: t('alerts.delete'), isDanger: true, onSelect: () => setIsAsking(true) }]}
        />
      )}
      <Ask
        title={t('alerts.deleteTitle', { name })}
        action={t('alerts.deleteTarget')}
        act={() => bodyOf(api.DELETE('/admin/v1/alerts/{target}', { params }))}
        done={t('alerts.deleted', { name })}
        refresh={[['alerts']]}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
      >
        {t('alerts.deleteText')}
      </Ask>
    </Row>
  )
}

const formats = ['webhook', 'slack', 'email'] as const
const severities = ['info', 'warning', 'critical'] as const

const fields = {
  format: choiceField(
    t('alerts.format'),
    formats.map((one) => [one, t(`alerts.formats.${one}`)] as const),
    { initial: 'webhook' },
  ),
  name: textField(t('alerts.name'), { isRequired: true, input: { placeholder: 'pager' } }),
  address: textField(t('alerts.address'), { isRequired: true }),
  min_severity: choiceField(
    t('alerts.severity'),
    severities.map((one) => [one, t(`alerts.leasts.${one}`)] as const),
    { initial: 'info' },
  ),
}

function NewTarget({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined)
    return (
      <SecretOnce
        secret={secret}
        file={variablesFile(`TURNPIKE_WEBHOOK_SECRET=${secret}`)}
        onDone={onClose}
      >
        <p>{t('alerts.secretText')}</p>
      </SecretOnce>
    )
  return (
    <NewForm
      fields={fields}
      action={t('alerts.createTarget')}
      send={({ draft, once }) =>
        bodyOf(
          api.POST('/admin/v1/alerts', {
            params: { header: { 'Idempotency-Key': once } },
            body: { ...draft, name: draft.name.trim(), address: draft.address.trim() },
          }),
        )
      }
      toast={({ target: { name } }) => t('alerts.created', { name })}
      refresh={[['alerts']]}
      onDone={({ secret: made }) => (made === null ? onClose() : setSecret(made))}
    >
      {({ draft, field }) => (
        <>
          {field('format')}
          {field('name')}
          {field('address', t(`alerts.addressHints.${draft.format}`))}
          {field('min_severity')}
        </>
      )}
    </NewForm>
  )
}
