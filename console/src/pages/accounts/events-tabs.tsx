/** What happened with an account of late: its requests, and the alerts about it that are firing. */
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { firingList } from '../alerts/alerts.tsx'
import { readFiring } from '../alerts/queries.ts'
import { requestList } from '../requests/request-list.tsx'
import { readRequestsOf, type Account } from './queries.ts'

const latestList = {
  ...requestList,
  name: 'account-requests',
  caption: t('accounts.latestRequests'),
  columns: requestList.columns
    .filter(({ id }) => id !== 'account')
    .map((column) => (column.id === 'key' ? { ...column, isExtra: false } : column)),
  empty: <Empty title={t('accounts.noRequestTitle')}>{t('accounts.noRequest')}</Empty>,
}

export function RequestsTab({ account: { id: account } }: { account: Account }) {
  return (
    <List
      of={latestList}
      list={useList(['requests', 'account', account], readRequestsOf(account))}
      title={latestList.caption}
      hint={t('accounts.latestHint')}
      actions={
        <Link to="/requests" search={{ account }} className={buttonClass()}>
          {t('accounts.allRequests')}
        </Link>
      }
    />
  )
}

const ownAlertList = {
  ...firingList,
  name: 'account-alerts',
  caption: t('accounts.firing'),
  columns: firingList.columns.filter(({ id }) => ['alert', 'severity', 'since'].includes(id)),
  empty: <Empty title={t('accounts.noAlert')} />,
}

export function AlertsTab({ account: { id: account } }: { account: Account }) {
  return (
    <List
      of={ownAlertList}
      list={useList(['alerts', 'firing', account], readFiring({ account }))}
      title={ownAlertList.caption}
      hint={t('accounts.firingHint')}
      actions={
        <Link to="/alerts" className={buttonClass()}>
          {t('accounts.allAlerts')}
        </Link>
      }
    />
  )
}
