/** What happened to a channel: its states as bands, and every change with its reason. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { readAll, useList } from '../../api/list.ts'
import { Badge, Card } from '../../ui/card.tsx'
import { formatDuration } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { StateTimeline } from '../../ui/state-timeline.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { ExportButton, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/values.tsx'
import { ranges, type Range } from './address.ts'
import { bandsOf } from './past.ts'
import {
  operatorsQuery,
  pastQuery,
  readChangesOf,
  type Change,
  type ChannelDetail,
} from './queries.ts'
import { failureMeaning, meanings, places, reasonText } from './states.ts'

const hourMs = 3_600_000
const rangeWords: Readonly<Record<Range, { text: string; ms: number }>> = {
  day: { text: '24 hours', ms: 24 * hourMs },
  week: { text: '7 days', ms: 7 * 24 * hourMs },
  month: { text: '30 days', ms: 30 * 24 * hourMs },
}

export function PastStates({ detail, range }: { detail: ChannelDetail; range: Range }) {
  const untilMs = Date.parse(detail.at)
  const window = { fromMs: untilMs - rangeWords[range].ms, untilMs }
  const query = pastQuery(detail.name, { name: range, fromMs: window.fromMs })
  const { data, error, refetch } = useQuery(query)
  const { data: operators } = useQuery(operatorsQuery)
  return (
    <Card
      title="States over time"
      hint={`The last ${rangeWords[range].text}, in your time zone`}
      actions={<RangeLinks current={range} />}
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data !== undefined && (
        <StateTimeline
          label="States over time by model"
          bands={bandsOf(detail, { ...data, operators: operators ?? new Map() }, window)}
          {...window}
        />
      )}
    </Card>
  )
}

function RangeLinks({ current }: { current: Range }) {
  return (
    <nav className="channel-ranges" aria-label="Period">
      {ranges.map((range) => (
        <Link
          key={range}
          to="."
          search={{ range }}
          replace
          resetScroll={false}
          activeProps={{}}
          aria-current={range === current ? 'true' : undefined}
        >
          {rangeWords[range].text}
        </Link>
      ))}
    </nav>
  )
}

const exportedMax = 20_000
const largestPage = 1_000

export function Changes({ detail: { name, nodes } }: { detail: ChannelDetail }) {
  const { data: operators } = useQuery(operatorsQuery)
  const columns = useMemo(() => {
    const gateways = nodes.map((node) => [node.id, node.name] as const)
    return columnsOf(new Map([...gateways, ...(operators ?? [])]))
  }, [nodes, operators])
  return (
    <Card
      title="Changes"
      hint="Every change of state with its reason, the newest first"
      actions={
        <ExportButton
          fileName={`channel-${name}-changes`}
          columns={columns}
          readRows={() => readAll(readChangesOf(name, largestPage), exportedMax)}
        />
      }
      isFlush
    >
      <div className="channel-changes">
        <List
          caption="Changes of state, the newest first"
          columns={columns}
          list={useList(['channels', 'changes', name], readChangesOf(name))}
          rowKey={(row) => `${row.at} ${row.model ?? ''} ${row.to} ${row.node ?? ''}`}
          empty={
            <Empty title="No change of state yet.">
              The channel has been on since it was added to the catalogue.
            </Empty>
          }
        />
      </div>
    </Card>
  )
}

function columnsOf(names: ReadonlyMap<string, string>): readonly Column<Change>[] {
  const causeOf = ({ actor, node }: Change): string =>
    actor === null ? (names.get(node ?? '') ?? 'an earlier gateway') : (names.get(actor) ?? actor)
  return [
    { name: 'Time', cell: ({ at }) => <Time at={at} />, csv: ({ at }) => at },
    {
      name: 'Model',
      cell: ({ model }) => model ?? 'All models',
      csv: ({ model }) => model,
    },
    {
      name: 'Change',
      cell: ({ from, to }) => (
        <span className="channel-change">
          <span className="soft">{stateName(from)} →</span> <StateOf state={to} />
        </span>
      ),
      csv: ({ from, to }) => `${from} to ${to}`,
    },
    {
      name: 'Reason',
      cell: (change) => <Reason change={change} />,
      csv: ({ why }) => why,
    },
    { name: 'By', cell: causeOf, csv: causeOf },
  ]
}

function stateName(state: string): string {
  const place = places.find((each) => each === state)
  return place === undefined ? 'Enabled' : meanings[place].name
}

function StateOf({ state }: { state: string }) {
  const place = places.find((each) => each === state)
  if (place === undefined) return <Badge tone="good">Enabled</Badge>
  return <Badge tone={meanings[place].tone}>{meanings[place].name}</Badge>
}

/** The reason, and the figures that the gateway had at that moment. */
function Reason({ change }: { change: Change }) {
  const { why, failures, first_event_ms: now, usual_first_event_ms: usual } = change
  const isAboutTime = why === 'slower_than_usual' || why === 'as_fast_as_usual'
  return (
    <div className="channel-reason">
      <span>{reasonText(why)}</span>
      {failures.map(({ class: kind, count }) => (
        <span key={kind} className="soft" data-tip={failureMeaning(kind).text}>
          {count} × {failureMeaning(kind).name}
        </span>
      ))}
      {isAboutTime && now !== null && usual !== null && (
        <span className="soft">
          first event {formatDuration(now.p50)}, usual {formatDuration(usual.p50)}
        </span>
      )}
    </div>
  )
}
