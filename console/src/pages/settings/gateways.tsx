/** The gateways of the store with their versions, and stops that were no clean ones. */
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Badge, Card, Facts } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { Age, Time } from '../../ui/values.tsx'

const readNodes = () => bodyOf(api.GET('/admin/v1/nodes'))

type Nodes = Awaited<ReturnType<typeof readNodes>>

const tones = { running: 'good', draining: 'accent', stopped: 'neutral', missing: 'bad' } as const
const renewMs = 10_000

const nodeList = defineList<Nodes['nodes'][number]>({
  name: 'gateways',
  caption: t('settings.gatewaysCaption'),
  rowKey: ({ id }) => id,
  rowName: ({ name }) => name,
  rowTone: ({ state }) => (state === 'missing' ? 'bad' : undefined),
  columns: [
    { id: 'name', name: t('settings.name'), cell: ({ name }) => <strong>{name}</strong> },
    {
      id: 'state',
      name: t('settings.state'),
      place: 'state',
      cell: ({ state }) => <Badge tone={tones[state]}>{t(`settings.nodeStates.${state}`)}</Badge>,
    },
    { id: 'region', name: t('settings.region'), cell: ({ region }) => region },
    {
      id: 'version',
      name: t('settings.version'),
      place: 'note',
      cell: ({ version, commit }) => <span data-tip={commit ?? ''}>{version}</span>,
    },
    {
      id: 'started',
      name: t('settings.started'),
      cell: ({ started_at: at }) => <Time at={at} />,
    },
    { id: 'seen', name: t('settings.seen'), cell: ({ seen_at: at }) => <Age at={at} /> },
  ],
  empty: <Empty title={t('settings.noGateway')} />,
})

const stopList = defineList<Nodes['unclean_stops'][number]>({
  name: 'unclean-stops',
  caption: t('settings.stops'),
  rowKey: ({ node, from }) => `${node} ${from}`,
  columns: [
    { id: 'node', name: t('settings.gateway'), cell: ({ node }) => node },
    { id: 'from', name: t('settings.lastSign'), cell: ({ from }) => <Time at={from} /> },
    {
      id: 'to',
      name: t('settings.back'),
      cell: ({ to }) => (to === null ? t('settings.notBack') : <Time at={to} />),
    },
  ],
  empty: <Empty title={t('settings.noStop')} />,
})

export function Gateways() {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'nodes'],
    queryFn: readNodes,
    refetchInterval: renewMs,
  })
  const state = { error, retry: () => void refetch() }
  return (
    <>
      <Version />
      <List
        of={nodeList}
        list={{ rows: data?.nodes, ...state }}
        title={t('settings.gateways')}
        hint={t('settings.gatewaysHint')}
      />
      <List
        of={stopList}
        list={{ rows: data?.unclean_stops, ...state }}
        title={t('settings.stops')}
        hint={t('settings.stopsHint')}
      />
    </>
  )
}

function Version() {
  const { data } = useQuery({
    queryKey: ['settings', 'version'],
    queryFn: () => bodyOf(api.GET('/admin/v1/version')),
  })
  if (data === undefined) return <Loading rows={2} />
  return (
    <Card title={t('settings.thisGateway')}>
      <Facts
        items={[
          [t('settings.version'), data.version],
          [t('settings.commit'), data.commit ?? t('settings.unknown')],
          ['Node.js', data.node],
          [t('settings.schema'), data.schema_version],
        ]}
      />
    </Card>
  )
}
