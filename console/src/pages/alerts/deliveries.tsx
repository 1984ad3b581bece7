/** The log of deliveries: messages, their receivers, and the answers that came back. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { SelectField } from '../../ui/field.tsx'
import { List } from '../../ui/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { compact } from '../../search.ts'
import { deliveryStates, type PageSearch } from './address.ts'
import { kindNames } from './kinds.ts'
import { readDeliveriesOf, readTargets, type Delivery } from './queries.ts'

const tones: Readonly<Record<Delivery['state'], Tone>> = {
  waiting: 'accent',
  delivered: 'good',
  failed: 'bad',
  dropped: 'warn',
}

/** A message whose attempts have failed is no calm one, although the gateway goes on trying. */
function isRetrying({ state, attempts }: Delivery): boolean {
  return state === 'waiting' && attempts > 0
}

/** No event tells of attempts, so a list with messages under way is read again. */
function renewMs(deliveries: readonly Delivery[]): number | undefined {
  return deliveries.some(({ state }) => state === 'waiting') ? 2_000 : undefined
}

export function Deliveries() {
  const { target, state } = useSearch({ from: '/shell/alerts' })
  const filter = compact({ target, state })
  const navigate = useNavigate({ from: '/alerts' })
  const targets = useList(['alerts', 'targets'], readTargets).rows ?? []
  const list = useList(['alerts', 'deliveries', filter], readDeliveriesOf(filter), renewMs)
  const change = (changed: {
    readonly target?: string | undefined
    readonly state?: PageSearch['state'] | undefined
  }): void => {
    const search = compact({ tab: 'deliveries' as const, ...filter, ...changed })
    void navigate({ search, replace: true })
  }
  const options: (readonly [string, string])[] = targets.map(({ name }) => [name, name])
  const nameOf = new Map(targets.map(({ id, name }) => [id, name]))
  return (
    <>
      <div className="filters">
        <SelectField
          label="Target"
          value={target ?? ''}
          options={[['', 'All targets'], ...options]}
          onChange={(chosen) => change({ target: chosen === '' ? undefined : chosen })}
        />
        <SelectField
          label="State"
          value={state ?? ''}
          options={[['', 'All states'], ...deliveryStates.map((one) => [one, one] as const)]}
          onChange={(chosen) => change({ state: deliveryStates.find((one) => one === chosen) })}
        />
      </div>
      <Card isFlush>
        <List
          caption="Deliveries of alerts, newest first"
          list={list}
          rowKey={({ id }) => id}
          rowTone={rowTone}
          empty={
            state === undefined ? (
              <Empty title="No delivery yet.">Alerts and tests of targets are listed here.</Empty>
            ) : (
              <Empty title="No delivery is in this state.">Choose another state.</Empty>
            )
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
            { name: 'State', cell: (delivery) => <State delivery={delivery} /> },
            { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
            { name: 'Answer', cell: (delivery) => <Outcome delivery={delivery} /> },
          ]}
        />
      </Card>
    </>
  )
}

function rowTone(delivery: Delivery): 'bad' | 'warn' | undefined {
  if (delivery.state === 'failed') return 'bad'
  return isRetrying(delivery) ? 'warn' : undefined
}

function State({ delivery }: { delivery: Delivery }) {
  if (isRetrying(delivery)) return <Badge tone="warn">retrying</Badge>
  return <Badge tone={tones[delivery.state]}>{delivery.state}</Badge>
}

/** The last error first. */
function Outcome({ delivery }: { delivery: Delivery }) {
  const { outcome, state, due_at: due, ended_at: ended } = delivery
  return (
    <div>
      <span className={isRetrying(delivery) || state === 'failed' ? 'bad' : undefined}>
        {outcome}
      </span>
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
    </div>
  )
}
