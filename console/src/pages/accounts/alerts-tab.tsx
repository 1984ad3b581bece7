/** Alerts about an account that are firing, and the messages about it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { targetNamesQuery } from '../../api/names.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { List } from '../../ui/list.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Age, Time } from '../../ui/values.tsx'
import { readDeliveriesOf, readFiringOf, type Account } from './queries.ts'

export function AlertsTab({ account }: { account: Account }) {
  return (
    <>
      <Firing account={account.id} />
      <Deliveries account={account.id} />
    </>
  )
}

function Firing({ account }: { account: string }) {
  const { rows, error, retry } = useList(['alerts', 'firing', account], readFiringOf(account))
  return (
    <Card
      title="Firing"
      hint="Alerts about this account that are not over"
      isFlush
      actions={
        <Link to="/alerts" className={buttonClass()}>
          All alerts
        </Link>
      }
    >
      {rows === undefined && error === null && <Loading rows={2} />}
      {error !== null && <Failure error={error} onRetry={retry} />}
      {rows?.length === 0 && <Empty title="No alert is firing." />}
      {rows !== undefined && rows.length > 0 && (
        <ul className="account-alerts">
          {rows.map(({ id, severity, title, text, fired_at: at }) => (
            <li key={id}>
              <Badge tone={severity === 'critical' ? 'bad' : 'warn'}>{severity}</Badge>
              <div>
                <p className="account-alert-title">{title}</p>
                <p className="soft break">{text}</p>
              </div>
              <span className="soft account-alert-age">
                <Age at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

type Delivery = Awaited<ReturnType<ReturnType<typeof readDeliveriesOf>>>['items'][number]

const tones: Readonly<Record<Delivery['state'], Tone>> = {
  waiting: 'accent',
  delivered: 'good',
  failed: 'bad',
  dropped: 'warn',
}

function Deliveries({ account }: { account: string }) {
  const list = useList(['alerts', 'deliveries', account], readDeliveriesOf(account))
  const { data: names = {} } = useQuery(targetNamesQuery)
  return (
    <Card title="Deliveries" hint="Messages about this account, the newest first" isFlush>
      <List
        caption="Deliveries"
        list={list}
        rowKey={({ id }) => id}
        rowTone={({ state }) => (state === 'failed' ? 'bad' : undefined)}
        empty={<Empty title="Nothing was sent about this account." />}
        columns={[
          { name: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
          {
            name: 'Message',
            cell: ({ title, event }) => (event === 'resolved' ? `Resolved: ${title}` : title),
          },
          { name: 'Target', cell: ({ target }) => names[target] ?? target },
          { name: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
          { name: 'Answer', cell: ({ outcome }) => outcome },
        ]}
      />
    </Card>
  )
}
