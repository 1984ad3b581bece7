/** What an operator does with an account: credit, edit, suspend, close. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { announce } from '../../ui/toast.tsx'
import { CreditDialog } from './credit.tsx'
import { EditAccount } from './edit-account.tsx'
import type { Account, TaggedAccount } from './queries.ts'

type Status = Account['status']
type Opened = 'credit' | 'edit' | Status

export function AccountActions({ tagged }: { tagged: TaggedAccount }) {
  const [opened, setOpened] = useState<Opened>()
  const { account } = tagged
  const close = (): void => setOpened(undefined)
  if (!useMay('operator')) return null
  return (
    <>
      <Button
        look="primary"
        disabled={account.status === 'closed'}
        onClick={() => setOpened('credit')}
      >
        Credit
      </Button>
      <Button onClick={() => setOpened('edit')}>Edit</Button>
      <Menu
        label="More actions"
        items={changesFrom[account.status].map((status) => ({
          text: `${steps[status].verb(account.status)} account`,
          isDanger: status !== 'active',
          onSelect: () => setOpened(status),
        }))}
      />
      <CreditDialog account={account} isOpen={opened === 'credit'} onClose={close} />
      <EditAccount tagged={tagged} isOpen={opened === 'edit'} onClose={close} />
      {statuses.map((status) => (
        <ChangeStatus
          key={status}
          account={account}
          status={status}
          isOpen={opened === status}
          onClose={close}
        />
      ))}
    </>
  )
}

const statuses: readonly Status[] = ['active', 'suspended', 'closed']

const changesFrom: Readonly<Record<Status, readonly Status[]>> = {
  active: ['suspended', 'closed'],
  suspended: ['active', 'closed'],
  closed: ['active'],
}

interface Step {
  readonly verb: (before: Status) => string
  readonly effect: string
}

const steps: Readonly<Record<Status, Step>> = {
  active: {
    verb: (before) => (before === 'closed' ? 'Reopen' : 'Resume'),
    effect: 'Its keys send requests again, within a second on every gateway.',
  },
  suspended: {
    verb: () => 'Suspend',
    effect:
      'New requests of its keys get status 403, within a second on every gateway. Requests that run end as usual. Its holder can still read the figures. You can resume it.',
  },
  closed: {
    verb: () => 'Close',
    effect:
      'New requests of its keys get status 403, and it takes no credits and no new keys. Its balance and figures stay, and you can reopen it.',
  },
}

interface ChangeStatusProps {
  readonly account: Account
  readonly status: Status
  readonly isOpen: boolean
  readonly onClose: () => void
}

function ChangeStatus({ account, status, isOpen, onClose }: ChangeStatusProps) {
  const client = useQueryClient()
  const { verb, effect } = steps[status]
  const changing = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/admin/v1/accounts/{account}', {
          params: { path: { account: account.id } },
          body: { status },
        }),
      ),
    onSuccess() {
      announce(`The account ${account.name} is ${status} now.`)
      void client.invalidateQueries({ queryKey: ['accounts'] })
      onClose()
    },
  })
  return (
    <Confirm
      title={`${verb(account.status)} ${account.name}?`}
      action={`${verb(account.status)} account`}
      isOpen={isOpen}
      isBusy={changing.isPending}
      error={changing.error}
      onConfirm={() => changing.mutate()}
      onClose={() => {
        changing.reset()
        onClose()
      }}
    >
      {effect}
    </Confirm>
  )
}
