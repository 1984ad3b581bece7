/** What happened with an account of late: its requests, and the alerts about it that are firing. */
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Age } from '../../ui/values.tsx'
import { severityTones } from '../alerts/queries.ts'
import { requestList } from '../requests/request-list.tsx'
import { readFiringOf, readRequestsOf, type Account, type Firing } from './queries.ts'

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

const firingList = defineList<Firing>({
  name: 'account-alerts',
  caption: t('accounts.firing'),
  rowKey: ({ id }) => id,
  columns: [
    {
      id: 'severity',
      name: t('accounts.severity'),
      place: 'state',
      cell: ({ severity }) => (
        <Badge tone={severityTones[severity]}>{t(`alerts.severities.${severity}`)}</Badge>
      ),
    },
    {
      id: 'alert',
      name: t('accounts.alert'),
      place: 'name',
      cell: ({ title, text }) => (
        <>
          <strong>{title}</strong>
          <div className="soft">{text}</div>
        </>
      ),
    },
    {
      id: 'since',
      name: t('accounts.since'),
      isNumber: true,
      place: 'amount',
      cell: ({ first_seen_at: at }) => <Age at={at} />,
    },
  ],
  empty: <Empty title={t('accounts.noAlert')} />,
})

export function AlertsTab({ account: { id: account } }: { account: Account }) {
  return (
    <List
      of={firingList}
      list={useList(['alerts', 'firing', account], readFiringOf(account))}
      title={firingList.caption}
      hint={t('accounts.firingHint')}
      actions={
        <Link to="/alerts" className={buttonClass()}>
          {t('accounts.allAlerts')}
        </Link>
      }
    />
  )
}
