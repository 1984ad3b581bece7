/** The log of deliveries: messages, their receivers, and the answers that came back. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { kindNames } from './kinds.ts'
import { readDeliveriesOf, readTargets, type Delivery } from './queries.ts'

const tones: Readonly<Record<Delivery['state'], Tone>> = {
  waiting: 'accent',
  delivered: 'good',
  failed: 'bad',
  dropped: 'warn',
}

/** No event tells of attempts, so a list with messages under way is read again. */
function renewMs(deliveries: readonly Delivery[]): number | undefined {
  return deliveries.some(({ state }) => state === 'waiting') ? 2_000 : undefined
}

export function Deliveries() {
  const { target } = useSearch({ from: '/shell/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const targets = useList(['alerts', 'targets'], readTargets).rows ?? []
  const list = useList(['alerts', 'deliveries', target], readDeliveriesOf(target), renewMs)
  const options: (readonly [string, string])[] = targets.map(({ name }) => [name, name])
  const nameOf = new Map(targets.map(({ id, name }) => [id, name]))
  return (
    <>
      <div className="filters">
        <SelectField
          label="Target"
          value={target ?? ''}
          options={[['', 'All targets'], ...options]}
          onChange={(chosen) =>
            void navigate({
              search: { tab: 'deliveries', ...(chosen !== '' && { target: chosen }) },
              replace: true,
            })
          }
        />
      </div>
      <Card isFlush>
        <List
          caption="Deliveries of alerts, newest first"
          list={list}
          rowKey={({ id }) => id}
          rowTone={({ state }) => (state === 'failed' ? 'bad' : undefined)}
          empty={
            <Empty title="No delivery yet.">Alerts and tests of targets are listed here.</Empty>
          }
          columns={[
            { name: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
            {
              name: 'Target',
              cell: ({ target: id }) => (
                <span className="delivery-target">{nameOf.get(id) ?? id}</span>
              ),
            },
            {
              name: 'Message',
              cell: ({ title, kind, event }) => (
                <div className="alert-text">
                  <strong>{title}</strong>
                  <p className="soft">
                    {event === 'resolved' ? 'Resolved: ' : ''}
                    {kindNames[kind]}
                  </p>
                </div>
              ),
            },
            { name: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
            { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
            { name: 'Answer', cell: (delivery) => <Outcome delivery={delivery} /> },
          ]}
        />
      </Card>
    </>
  )
}

function Outcome({
  delivery: { outcome, state, due_at: due, ended_at: ended },
}: {
  delivery: Delivery
}) {
  return (
    <>
      {outcome}
      {state === 'waiting' && due !== null && (
        <div className="soft">
          Next attempt <Time at={due} />
        </div>
      )}
      {ended !== null && (
        <div className="soft">
          <Time at={ended} />
        </div>
      )}
    </>
  )
}
