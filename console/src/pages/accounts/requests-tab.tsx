/** The latest requests of an account; all of them are on the page of requests. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Count, Duration, Time, Usd } from '../../ui/values.tsx'
import { keysQuery, latestRequestsQuery, type Account } from './queries.ts'

type Request = Awaited<
  ReturnType<NonNullable<ReturnType<typeof latestRequestsQuery>['queryFn']>>
>[number]

export function RequestsTab({ account }: { account: Account }) {
  const { data, error, refetch } = useQuery(latestRequestsQuery(account.id))
  const { data: keys = [] } = useQuery(keysQuery(account.id))
  const names = new Map(keys.map(({ id, name, head }) => [id, name === '' ? head : name]))
  return (
    <Card
      title="Latest requests"
      hint="Open a request to see its cost explained, and to refund it."
      isFlush
      actions={
        <Link to="/requests" search={{ account: account.id }} className={buttonClass()}>
          All requests
        </Link>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={6} />}
      {data?.length === 0 && (
        <Empty title="No request yet.">
          Requests appear here within seconds after they have ended.
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          caption="Latest requests"
          columns={columnsWith(names)}
          rows={data}
          rowKey={({ id }) => id}
          rowTone={({ outcome }) => (tones[outcome] === 'bad' ? 'bad' : undefined)}
        />
      )}
    </Card>
  )
}

const tones: Readonly<Record<Request['outcome'], Tone>> = {
  completed: 'good',
  client_left: 'neutral',
  upstream_cut: 'bad',
  gateway_cut: 'bad',
  refused: 'warn',
  failed: 'bad',
  not_admitted: 'warn',
}

function columnsWith(keyNames: ReadonlyMap<string, string>): readonly Column<Request>[] {
  return [
    {
      name: 'Time',
      cell: ({ id, started_at: at }) => (
        <Link to="/requests/$request" params={{ request: id }}>
          <Time at={at} />
        </Link>
      ),
    },
    { name: 'Model', cell: ({ model }) => model ?? '–' },
    { name: 'Key', cell: ({ key_id: id }) => keyNames.get(id) ?? id },
    {
      name: 'Outcome',
      cell: ({ outcome, status }) => (
        <Badge tone={tones[outcome]}>
          {outcome.replace('_', ' ')} · {status}
        </Badge>
      ),
    },
    {
      name: 'Tokens',
      isNumber: true,
      cell: ({ input_tokens: input, output_tokens: output, cache_tokens: cache }) => (
        <Count value={input + output + cache} />
      ),
    },
    {
      name: 'First event',
      isNumber: true,
      cell: ({ first_event_ms: first }) => <Duration ms={first} />,
    },
    { name: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => <Usd value={cost} /> },
  ]
}
