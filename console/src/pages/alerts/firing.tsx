/** The alerts that are firing: what each includes, the page where it is dealt with, and who deals with it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { List } from '../../ui/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { describeFailure, Empty } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Age, Time } from '../../ui/values.tsx'
import { severityTones } from './kinds.ts'
import { readFiring, type Firing as FiringAlert } from './queries.ts'

export function Firing() {
  const list = useList(['alerts', 'firing'], readFiring)
  return (
    <Card isFlush>
      <List
        caption="Alerts that are firing"
        list={list}
        rowKey={({ id }) => id}
        rowTone={({ severity }) =>
          ({ critical: 'bad' as const, warning: 'warn' as const, info: undefined })[severity]
        }
        empty={
          <Empty title="No alert is firing.">Alerts appear here when a condition begins.</Empty>
        }
        columns={[
          {
            name: 'Severity',
            cell: ({ severity }) => <Badge tone={severityTones[severity]}>{severity}</Badge>,
          },
          {
            name: 'Alert',
            cell: ({ title, text, includes }) => (
              <div className="alert-text">
                <strong>{title}</strong>
                <p className="soft">{text}</p>
                {includes.length > 0 && <Includes includes={includes} />}
              </div>
            ),
          },
          { name: 'About', cell: (alert) => <SubjectLink alert={alert} /> },
          { name: 'Since', cell: ({ first_seen_at: at }) => <Age at={at} /> },
          { name: 'Handled', cell: (alert) => <Handling alert={alert} /> },
        ]}
      />
    </Card>
  )
}

function Includes({ includes }: Pick<FiringAlert, 'includes'>) {
  return (
    <details className="soft">
      <summary>{includes.length} more of the same cause</summary>
      <ul>
        {includes.map(({ kind, title }) => (
          <li key={`${kind} ${title}`}>{title}</li>
        ))}
      </ul>
    </details>
  )
}

const snoozes = [
  ['1h', 'Snooze for an hour'],
  ['4h', 'Snooze for 4 hours'],
  ['1d', 'Snooze for a day'],
] as const

function Handling({ alert }: { alert: FiringAlert }) {
  const { acknowledged_by: by, acknowledged_at: at, snoozed_until: until } = alert
  const mayHandle = useMay('operator')
  const handle = useHandle(alert)
  return (
    <>
      {by !== null && (
        <p className="soft">
          {until === null ? `Acknowledged by ${by} ` : `Snoozed by ${by} until `}
          {until === null ? at !== null && <Age at={at} /> : <Time at={until} />}
        </p>
      )}
      {mayHandle && (
        <div className="row">
          {(by === null || until !== null) && (
            <Button isBusy={handle.isPending} onClick={() => handle.mutate(undefined)}>
              Acknowledge
            </Button>
          )}
          <Menu
            label={`Snooze ${alert.title}`}
            items={snoozes.map(([duration, text]) => ({
              text,
              onSelect: () => handle.mutate(duration),
            }))}
          />
        </div>
      )}
    </>
  )
}

/** Snoozes for a duration; without one it acknowledges. */
function useHandle({ id, title }: FiringAlert) {
  const client = useQueryClient()
  const params = { path: { alert: id } }
  return useMutation({
    mutationFn: (duration: string | undefined) =>
      bodyOf(
        duration === undefined
          ? api.POST('/admin/v1/alerts/firing/{alert}/acknowledge', { params })
          : api.POST('/admin/v1/alerts/firing/{alert}/snooze', { params, body: { for: duration } }),
      ),
    onSuccess: (_, duration) =>
      announce(`${title}: ${duration === undefined ? 'acknowledged' : 'snoozed'}.`),
    onError: (error) => announce(describeFailure(error).title),
    onSettled: () => client.invalidateQueries({ queryKey: ['alerts'] }),
  })
}

/** Leads to the page where the alert is dealt with. */
function SubjectLink({ alert }: { alert: FiringAlert }) {
  const { account_id: account, channel, subject, facts } = alert
  if (channel !== null)
    return (
      <Link to="/channels/$channel" params={{ channel }}>
        {channel}
      </Link>
    )
  if (account !== null)
    return (
      <Link to="/accounts/$account" params={{ account }}>
        {textOf(facts['account']) ?? subject}
      </Link>
    )
  const model = textOf(facts['model'])
  if (model !== undefined)
    return (
      <Link to="/channels" search={{ model }}>
        {model}
      </Link>
    )
  const audit = textOf(facts['audit'])
  if (audit !== undefined)
    return (
      <Link to="/audit" search={{ tab: 'books', audit }}>
        The audit
      </Link>
    )
  return <>{subject}</>
}

function textOf(fact: FiringAlert['facts'][string] | undefined): string | undefined {
  return typeof fact === 'string' ? fact : undefined
}
