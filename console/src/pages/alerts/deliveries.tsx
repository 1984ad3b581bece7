/** The log of deliveries: messages, their receivers, and the answers that came back. */
import { useSearch } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Badge } from '../../ui/card.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList, type ListFilter } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { deliveryStates } from './address.ts'
import { readDeliveries, readTargets, type Delivery } from './queries.ts'

const tones = {
  waiting: 'accent',
  delivered: 'good',
  failed: 'bad',
  dropped: 'warn',
  retrying: 'warn',
} as const

const rowTones: Partial<Record<keyof typeof tones, 'bad' | 'warn'>> = {
  failed: 'bad',
  retrying: 'warn',
}

/** A message whose attempts have failed is no calm one, although the gateway goes on trying. */
function stateOf({ state, attempts }: Delivery): keyof typeof tones {
  return state === 'waiting' && attempts > 0 ? 'retrying' : state
}

/** No event tells of attempts, so a list with messages under way is read again. */
function renewMs(deliveries: readonly Delivery[]): number | undefined {
  return deliveries.some(({ state }) => state === 'waiting') ? 2_000 : undefined
}

const deliveryList = defineList<Delivery & { readonly receiver: string }>({
  name: 'deliveries',
  caption: t('alerts.deliveriesCaption'),
  rowKey: ({ id }) => id,
  rowName: ({ title }) => title,
  rowTone: (delivery) => rowTones[stateOf(delivery)],
  columns: [
    {
      id: 'message',
      name: t('alerts.message'),
      isText: true,
      cell: ({ title, kind, event }) => (
        <>
          <strong>{title}</strong>
          <p className="soft">
            {event === 'resolved' ? t('alerts.resolved', { kind: kindName(kind) }) : kindName(kind)}
          </p>
        </>
      ),
    },
    {
      id: 'state',
      name: t('alerts.state'),
      place: 'state',
      cell: (delivery) => {
        const state = stateOf(delivery)
        return <Badge tone={tones[state]}>{t(`alerts.states.${state}`)}</Badge>
      },
    },
    {
      id: 'answer',
      name: t('alerts.answer'),
      place: 'note',
      cell: (delivery) => <Outcome delivery={delivery} />,
    },
    { id: 'target', name: t('alerts.target'), cell: ({ receiver }) => receiver },
    {
      id: 'attempts',
      name: t('alerts.attempts'),
      isNumber: true,
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'created',
      name: t('alerts.createdAt'),
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ],
  empty: <Empty title={t('alerts.noDelivery')}>{t('alerts.noDeliveryHint')}</Empty>,
  emptyFiltered: <Empty title={t('alerts.noneInState')}>{t('alerts.noneInStateHint')}</Empty>,
})

function kindName(kind: Delivery['kind']): string {
  const word = kind.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return t(`alerts.kinds.${word as 'alertTest'}`)
}

/** The last error first. */
function Outcome({ delivery }: { delivery: Delivery }) {
  const { outcome, due_at: due, ended_at: ended } = delivery
  const isBad = ['retrying', 'failed'].includes(stateOf(delivery))
  return (
    <>
      <span className={isBad ? 'bad' : undefined}>{outcome}</span>
      {due !== null && (
        <div className="soft">
          {t('alerts.next')} <Time at={due} />
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

export function Deliveries() {
  const search = useSearch({ from: '/shell/alerts' })
  const filter = compact({ target: search.target, state: search.state })
  const { change, list: address } = useListAddress(search)
  const { rows: targets = [] } = useList(['alerts', 'targets'], readTargets)
  const list = useList(['alerts', 'deliveries', filter], readDeliveries(filter), renewMs)
  const names = new Map(targets.map(({ id, name }) => [id, name]))
  const rows = list.rows?.map((row) => ({ ...row, receiver: names.get(row.target) ?? row.target }))
  const filters: readonly ListFilter<'target' | 'state'>[] = [
    {
      kind: 'choice',
      name: 'target',
      label: t('alerts.target'),
      any: t('alerts.allTargets'),
      options: targets.map(({ name }) => [name, name]),
    },
    {
      kind: 'choice',
      name: 'state',
      label: t('alerts.state'),
      any: t('alerts.allStates'),
      options: deliveryStates.map((state) => [state, t(`alerts.states.${state}`)]),
    },
  ]
  return (
    <>
      <Filters filters={filters} values={search} onChange={change} />
      <List
        of={deliveryList}
        {...address}
        list={{ ...list, rows }}
        isFiltered={Object.keys(filter).length > 0}
      />
    </>
  )
}
