/** Alerts: those that fire now and who handles them, the targets that get them, and the log of deliveries. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { textField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { Row } from '../../ui/layout.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { describeFailure, Empty } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { announce } from '../../ui/toast.tsx'
import { Age, Time } from '../../ui/values.tsx'
import { Deliveries } from './deliveries.tsx'
import { readFiring, severityTones, type Firing } from './queries.ts'
import { Targets } from './targets.tsx'
import { AccountLink, ChannelLink } from '../links.tsx'

export function Alerts() {
  const { tab = 'firing' } = useSearch({ from: '/shell/alerts' })
  return (
    <Page title={t('alerts.title')} hint={t('alerts.hint')}>
      <Tabs
        label={t('alerts.title')}
        current={tab}
        tabs={{
          firing: { text: t('alerts.firing'), content: <FiringNow /> },
          targets: { text: t('alerts.targets'), content: <Targets /> },
          deliveries: { text: t('alerts.deliveries'), content: <Deliveries /> },
        }}
      />
    </Page>
  )
}

function FiringNow() {
  return <List of={firingList} list={useList(['alerts', 'firing'], readFiring())} />
}

const rowTones = { critical: 'bad', warning: 'warn', info: undefined } as const

export const firingList = defineList<Firing>({
  name: 'firing',
  caption: t('alerts.firingCaption'),
  rowKey: ({ id }) => id,
  rowName: ({ title }) => title,
  rowTone: ({ severity }) => rowTones[severity],
  columns: [
    {
      id: 'alert',
      name: t('alerts.alert'),
      isText: true,
      cell: ({ title, text, includes }) => (
        <>
          <strong>{title}</strong>
          <p className="soft">{text}</p>
          {includes.length > 0 && <Includes includes={includes} />}
        </>
      ),
    },
    {
      id: 'severity',
      name: t('alerts.severity'),
      place: 'state',
      cell: ({ severity }) => (
        <Badge tone={severityTones[severity]}>{t(`alerts.severities.${severity}`)}</Badge>
      ),
    },
    { id: 'about', name: t('alerts.about'), cell: (alert) => <SubjectLink alert={alert} /> },
    {
      id: 'since',
      name: t('alerts.since'),
      place: 'amount',
      cell: ({ first_seen_at: at }) => <Age at={at} />,
    },
    {
      id: 'handled',
      name: t('alerts.handled'),
      place: 'note',
      isAction: true,
      cell: (alert) => <Handling key={alert.id} alert={alert} />,
    },
  ],
  empty: <Empty title={t('alerts.noneFiring')}>{t('alerts.noneFiringHint')}</Empty>,
})

function Includes({ includes }: Pick<Firing, 'includes'>) {
  return (
    <details className="soft">
      <summary>{t('alerts.includes', { count: includes.length })}</summary>
      <ul className="marked">
        {includes.map(({ kind, title }) => (
          <li key={`${kind} ${title}`}>{title}</li>
        ))}
      </ul>
    </details>
  )
}

/** Leads to the page where the alert is dealt with. */
function SubjectLink({ alert }: { alert: Firing }) {
  const { account_id: account, channel, subject, facts } = alert
  const { account: name, model, audit } = facts
  if (channel !== null) return <ChannelLink name={channel} />
  if (account !== null)
    return <AccountLink id={account}>{typeof name === 'string' ? name : subject}</AccountLink>
  if (typeof model === 'string')
    return (
      <Link to="/channels" search={{ model }}>
        {model}
      </Link>
    )
  if (typeof audit === 'string')
    return (
      <Link to="/audit" search={{ tab: 'books', audit }}>
        {t('alerts.audit')}
      </Link>
    )
  return <>{subject}</>
}

const snoozes = ['1h', '4h', '1d'] as const

/** How it is handled: until its end without any, else for a duration or until a moment. */
interface Handled {
  readonly for?: string
  readonly until?: string
  readonly note?: string
}

function handle({ id }: Firing, body: Handled) {
  const params = { path: { alert: id } }
  const { note, ...end } = body
  return bodyOf(
    Object.keys(end).length === 0
      ? api.POST('/admin/v1/alerts/firing/{alert}/acknowledge', {
          params,
          body: { ...(note !== undefined && { note }) },
        })
      : api.POST('/admin/v1/alerts/firing/{alert}/snooze', { params, body }),
  )
}

function Handling({ alert }: { alert: Firing }) {
  const { title, acknowledged_by: by, snoozed_until: until } = alert
  const client = useQueryClient()
  const mayHandle = useMay('operator')
  const [isAsking, setIsAsking] = useState(false)
  const handling = useMutation({
    mutationFn: (body: Handled) => handle(alert, body),
    onSuccess: (_, { for: time }) =>
      announce(
        time === undefined ? t('alerts.acknowledged', { title }) : t('alerts.snoozed', { title }),
      ),
    onError: (error) => announce(describeFailure(error).title),
    onSettled: () => client.invalidateQueries({ queryKey: ['alerts'] }),
  })
  return (
    <>
      {by !== null && <Handler alert={alert} by={alert.acknowledged_by_name ?? by} />}
      {mayHandle && (
        <Row>
          {(by === null || until !== null) && (
            <Button isBusy={handling.isPending} onClick={() => handling.mutate({})}>
              {t('alerts.acknowledge')}
            </Button>
          )}
          <Menu
            label={t('alerts.snoozeOf', { title })}
            items={[
              ...snoozes.map((time) => ({
                text: t(`alerts.snoozes.${time}`),
                onSelect: () => handling.mutate({ for: time }),
              })),
              { text: t('alerts.handleWith'), onSelect: () => setIsAsking(true) },
            ]}
          />
        </Row>
      )}
      <Dialog title={title} isOpen={isAsking} onClose={() => setIsAsking(false)}>
        <NewForm
          fields={handlingFields}
          action={t('alerts.save')}
          send={({ draft: { until: end, note } }) =>
            handle(alert, {
              ...(end !== '' && { until: new Date(end).toISOString() }),
              ...(note !== '' && { note }),
            })
          }
          refresh={[['alerts']]}
        />
      </Dialog>
    </>
  )
}

const handlingFields = {
  note: textField(t('alerts.note'), { hint: t('alerts.noteHint'), input: { autoFocus: true } }),
  until: textField(t('alerts.until'), {
    hint: t('alerts.untilHint'),
    input: { type: 'datetime-local' },
  }),
}

function Handler({ alert, by: name }: { alert: Firing; by: string }) {
  const { acknowledged_at: at, snoozed_until: until, acknowledged_note: note } = alert
  return (
    <p className="soft">
      {until === null
        ? t.rich('alerts.acknowledgedBy', { name, time: () => <Age at={at} /> })
        : t.rich('alerts.snoozedBy', { name, time: () => <Time at={until} /> })}
      {note !== null && <span className="lines"> · {note}</span>}
    </p>
  )
}
