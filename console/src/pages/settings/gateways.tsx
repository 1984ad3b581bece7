/** The gateways of the store with their versions, and stops that were no clean ones. */
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { Badge, Card, Facts, type Tone } from '../../ui/card.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Age, Time } from '../../ui/values.tsx'

const readNodes = () => bodyOf(api.GET('/admin/v1/nodes'))

type Nodes = Awaited<ReturnType<typeof readNodes>>
type State = Nodes['nodes'][number]['state']

const tones: Readonly<Record<State, Tone>> = {
  running: 'good',
  draining: 'accent',
  stopped: 'neutral',
  missing: 'bad',
}
const renewMs = 10_000

export function Gateways() {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'nodes'],
    queryFn: readNodes,
    refetchInterval: renewMs,
  })
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={6} />
  return (
    <>
      <Version />
      <NodeTable nodes={data.nodes} />
      <UncleanStops stops={data.unclean_stops} />
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
    <Card title="This gateway">
      <Facts
        items={[
          ['Version', data.version],
          ['Commit', data.commit ?? 'not known'],
          ['Node.js', data.node],
          ['Schema of the store', data.schema_version],
        ]}
      />
    </Card>
  )
}

function NodeTable({ nodes }: { nodes: Nodes['nodes'] }) {
  return (
    <Card title="Gateways" hint="All that use this store" isFlush={nodes.length > 0}>
      {nodes.length === 0 ? (
        <Empty title="No gateway runs." />
      ) : (
        <Table
          caption="Gateways of the store"
          rows={nodes}
          rowKey={({ id }) => id}
          rowTone={({ state }) => (state === 'missing' ? 'bad' : undefined)}
          columns={[
            { name: 'Name', cell: ({ name }) => <strong>{name}</strong> },
            {
              name: 'State',
              cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
            },
            { name: 'Region', cell: ({ region }) => region },
            {
              name: 'Version',
              cell: ({ version, commit }) => <span data-tip={commit ?? ''}>{version}</span>,
            },
            { name: 'Started', cell: ({ started_at: at }) => <Time at={at} /> },
            { name: 'Last seen', cell: ({ seen_at: at }) => <Age at={at} /> },
          ]}
        />
      )}
    </Card>
  )
}

function UncleanStops({ stops }: { stops: Nodes['unclean_stops'] }) {
  return (
    <Card
      title="Unclean stops"
      hint="A gateway ended without a goodbye: a crash, a kill or a lost machine."
      isFlush={stops.length > 0}
    >
      {stops.length === 0 ? (
        <Empty title="None recorded." />
      ) : (
        <Table
          caption="Unclean stops"
          rows={stops}
          rowKey={({ node, from }) => `${node} ${from}`}
          columns={[
            { name: 'Gateway', cell: ({ node }) => node },
            { name: 'Last sign of life', cell: ({ from }) => <Time at={from} /> },
            {
              name: 'Back',
              cell: ({ to }) => (to === null ? 'not back' : <Time at={to} />),
            },
          ]}
        />
      )}
    </Card>
  )
}
