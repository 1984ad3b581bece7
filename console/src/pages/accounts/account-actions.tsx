/** What an operator does with an account: credit, edit, suspend, close. */
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Ask } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { EditAccount } from './account-form.tsx'
import { CreditDialog } from './credit.tsx'
import type { Account, TaggedAccount } from './queries.ts'

type Status = Account['status']

const changesFrom: Readonly<Record<Status, readonly Status[]>> = {
  active: ['suspended', 'closed'],
  suspended: ['active', 'closed'],
  closed: ['active'],
}

export function AccountActions({ tagged }: { tagged: TaggedAccount }) {
  const [opened, setOpened] = useState<'credit' | 'edit' | Status>()
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
        {t('accounts.credit')}
      </Button>
      <Button onClick={() => setOpened('edit')}>{t('accounts.edit')}</Button>
      <Menu
        label={t('accounts.moreActions')}
        items={changesFrom[account.status].map((status) => ({
          text: t(`accounts.changes.${changeTo(status, account)}`),
          isDanger: status !== 'active',
          onSelect: () => setOpened(status),
        }))}
      />
      <CreditDialog account={account} isOpen={opened === 'credit'} onClose={close} />
      <EditAccount tagged={tagged} isOpen={opened === 'edit'} onClose={close} />
      {opened !== undefined && opened !== 'credit' && opened !== 'edit' && (
        <ChangeStatus account={account} status={opened} onClose={close} />
      )}
    </>
  )
}

function changeTo(status: Status, before: Account): 'suspend' | 'resume' | 'close' | 'reopen' {
  if (status === 'active') return before.status === 'closed' ? 'reopen' : 'resume'
  return status === 'suspended' ? 'suspend' : 'close'
}

interface ChangeStatusProps {
  readonly account: Account
  readonly status: Status
  readonly onClose: () => void
}

function ChangeStatus({ account, status, onClose }: ChangeStatusProps) {
  const { id, name } = account
  // The account is another one while the question goes away.
  const [change] = useState(() => changeTo(status, account))
  const params = { path: { account: id } }
  return (
    <Ask
      title={t(`accounts.changeTitles.${change}`, { name })}
      action={t(`accounts.changes.${change}`)}
      act={() => bodyOf(api.PATCH('/admin/v1/accounts/{account}', { params, body: { status } }))}
      done={t('accounts.isNow', { name, status: t(`accounts.standings.${status}`) })}
      refresh={[['accounts']]}
      isOpen
      onClose={onClose}
    >
      {t(`accounts.changeEffects.${status}`)}
    </Ask>
  )
}
