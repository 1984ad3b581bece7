/** The targets of alerts: who gets which messages, and where. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Empty, describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { severityTones } from './kinds.ts'
import { readTargets, type Target } from './queries.ts'
import { TargetDialog } from './target-dialog.tsx'
import './alerts.css'

/** What a dialog asks: a new target, or whether to delete one. */
type Asked = 'new' | Target

export function Targets() {
  const list = useList(['alerts', 'targets'], readTargets)
  const isOwner = useMay('owner')
  const [asked, setAsked] = useState<Asked>()
  const close = (): void => setAsked(undefined)
  return (
    <Card
      title="Targets"
      hint="Webhooks, Slack channels and mail addresses that get alerts."
      isFlush
      actions={
        isOwner && (
          <Button look="primary" onClick={() => setAsked('new')}>
            <Plus aria-hidden /> New target
          </Button>
        )
      }
    >
      <List
        caption="Alert targets"
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty title="No target yet.">Without one, alerts are shown here only.</Empty>}
        columns={[
          {
            name: 'Target',
            cell: ({ name, address, format }) => (
              <div className="alert-text">
                <strong>{name}</strong>
                <p className="soft">
                  {format} · {address}
                </p>
              </div>
            ),
          },
          {
            name: 'From severity',
            cell: ({ min_severity: least }) => <Badge tone={severityTones[least]}>{least}</Badge>,
          },
          {
            name: 'Actions',
            cell: (target) => (
              <TargetActions target={target} onDelete={setAsked} isOwner={isOwner} />
            ),
          },
        ]}
      />
      {asked === 'new' && <TargetDialog onClose={close} />}
      {asked !== undefined && asked !== 'new' && <DeleteTarget target={asked} onClose={close} />}
    </Card>
  )
}

interface ActionsProps {
  readonly target: Target
  readonly isOwner: boolean
  readonly onDelete: (target: Target) => void
}

function TargetActions({ target, isOwner, onDelete }: ActionsProps) {
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/alerts' })
  const mayTest = useMay('operator')
  const testing = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/admin/v1/alerts/{target}/test', { params: { path: { target: target.id } } }),
      ),
    onSuccess() {
      announce(`A test for ${target.name} is on its way.`)
      void navigate({ search: { tab: 'deliveries', target: target.name } })
    },
    onError: (error) => announce(describeFailure(error).title),
    onSettled: () => client.invalidateQueries({ queryKey: ['alerts', 'deliveries'] }),
  })
  if (!mayTest) return null
  return (
    <div className="row">
      <Button isBusy={testing.isPending} onClick={() => testing.mutate()}>
        Send test
      </Button>
      {isOwner && (
        <Menu
          label={`Actions of ${target.name}`}
          items={[{ text: 'Delete', isDanger: true, onSelect: () => onDelete(target) }]}
        />
      )}
    </div>
  )
}

function DeleteTarget({ target, onClose }: { target: Target; onClose: () => void }) {
  const client = useQueryClient()
  const deleting = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE('/admin/v1/alerts/{target}', { params: { path: { target: target.id } } })),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['alerts'] })
      announce(`${target.name} is deleted.`)
      onClose()
    },
  })
  return (
    <Confirm
      title={`Delete ${target.name}?`}
      action="Delete target"
      isOpen
      isBusy={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      It gets no more messages. Those that wait for delivery are dropped. This cannot be undone.
    </Confirm>
  )
}
