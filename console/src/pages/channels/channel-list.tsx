/** The channels as a list: one row for each, with what an operator can do to several of them at once. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Card } from '../../ui/card.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'
import { ExportButton, sortRows, Table, type Column } from '../../ui/table.tsx'
import { Age, Duration, Missing, Usd } from '../../ui/values.tsx'
import { readBoardSearch, type BoardSearch } from './address.ts'
import { OwnCost, StateBadge } from './badges.tsx'
import type { ModelBoard } from './board.ts'
import { BulkBar } from './bulk.tsx'
import { buildRows, errorShare, filterRows, sortValue, type ChannelRow } from './channel-rows.ts'
import { todayQuery, type Channel } from './queries.ts'
import { toneOf } from './states.ts'

interface ChannelListProps {
  readonly items: readonly Channel[]
  readonly board: readonly ModelBoard[]
  readonly search: BoardSearch
}

export function ChannelList({ items, board, search }: ChannelListProps) {
  const navigate = useNavigate({ from: '/channels' })
  const mayOperate = useMay('operator')
  const { data: today = [] } = useQuery(todayQuery())
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const { sort: by = 'state', order = 'asc' } = search
  const rows = filterRows(buildRows(items, board, today), search)
  const sorted = sortRows(rows, { by, order }, sortValue)
  const shown = sorted.filter(({ channel }) => chosen.has(channel.name))
  const choose = (name: string, isChosen: boolean): void => {
    const next = new Set(chosen)
    if (isChosen) next.add(name)
    else next.delete(name)
    setChosen(next)
  }
  if (rows.length === 0) return <NothingFits />
  return (
    <Card
      title={`${sorted.length} ${sorted.length === 1 ? 'channel' : 'channels'}`}
      hint="Errors, cost and margin of today (UTC)"
      isFlush
      actions={<ExportButton fileName="channels" columns={columns} readRows={() => sorted} />}
    >
      {mayOperate && (
        <BulkBar
          channels={shown.map(({ channel }) => channel)}
          isWhole={shown.length === sorted.length}
          onAll={() => setChosen(new Set(sorted.map(({ channel }) => channel.name)))}
          onNone={() => setChosen(new Set())}
        />
      )}
      <div className="channel-list">
        <Table
          caption="Channels"
          columns={mayOperate ? [chooser(chosen, choose), ...columns] : columns}
          rows={sorted}
          rowKey={({ channel }) => channel.name}
          rowTone={({ place }) => toneOf(place)}
          sort={{ by, order }}
          onSort={(next) =>
            void navigate({
              replace: true,
              search: (old) => readBoardSearch({ ...old, sort: next.by, order: next.order }),
            })
          }
        />
      </div>
    </Card>
  )
}

export function NothingFits() {
  return (
    <Empty title="No channel matches these filters.">
      <Link to="/channels" search={({ view }) => (view === undefined ? {} : { view })}>
        Show all channels
      </Link>
    </Empty>
  )
}

function chooser(
  chosen: ReadonlySet<string>,
  choose: (name: string, isChosen: boolean) => void,
): Column<ChannelRow> {
  return {
    name: 'Select',
    cell: ({ channel: { name } }) => (
      <input
        type="checkbox"
        className="channel-choose"
        aria-label={`Select ${name}`}
        checked={chosen.has(name)}
        onChange={({ target }) => choose(name, target.checked)}
      />
    ),
  }
}

const columns: readonly Column<ChannelRow>[] = [
  {
    name: 'Channel',
    sort: 'channel',
    cell: ({ channel: { name } }) => (
      <Link to="/channels/$channel" params={{ channel: name }}>
        {name}
      </Link>
    ),
    csv: ({ channel }) => channel.name,
  },
  {
    name: 'Vendor',
    sort: 'vendor',
    cell: ({ channel }) => <Vendor channel={channel} />,
    csv: ({ channel }) => channel.vendor,
  },
  {
    name: 'State',
    sort: 'state',
    cell: (row) => <ChannelState row={row} />,
    csv: ({ place }) => place,
  },
  {
    name: 'Running',
    sort: 'running',
    isNumber: true,
    cell: ({ running }) => formatCount(running),
    csv: ({ running }) => running,
  },
  {
    name: 'First event',
    sort: 'p50',
    isNumber: true,
    cell: ({ today }) => <Duration ms={today?.first_event_p50_ms ?? null} />,
    csv: ({ today }) => today?.first_event_p50_ms ?? null,
  },
  {
    name: 'Errors',
    sort: 'errors',
    isNumber: true,
    cell: (row) => <Errors row={row} />,
    csv: ({ today }) => today?.errors ?? null,
  },
  {
    name: 'Cost',
    sort: 'cost',
    isNumber: true,
    cell: ({ today }) => <OwnCost figures={today} />,
    csv: ({ today }) => today?.own_cost_usd ?? null,
  },
  {
    name: 'Margin',
    sort: 'margin',
    isNumber: true,
    cell: ({ today }) =>
      today === undefined ? <Missing why="No request today" /> : <Margin row={today} />,
    csv: ({ today }) => today?.known_margin_usd ?? null,
  },
  {
    name: 'Credential',
    sort: 'credential',
    cell: ({ channel }) => <Age at={channel.credential_set_at} />,
    csv: ({ channel }) => channel.credential_set_at,
  },
]

function Vendor({ channel: { vendor, rank, weight } }: { channel: Channel }) {
  return (
    <div className="channel-pair">
      <span>{vendor}</span>
      <span className="soft">
        rank {rank}
        {weight !== 1 && ` · weight ${weight}`}
      </span>
    </div>
  )
}

function ChannelState({ row: { place, placeCount, modelCount } }: { row: ChannelRow }) {
  return (
    <div className="channel-state">
      <StateBadge place={place} />
      {placeCount < modelCount && (
        <span className="soft">
          {placeCount} of {modelCount} models
        </span>
      )}
    </div>
  )
}

function Errors({ row: { today } }: { row: ChannelRow }) {
  const share = errorShare(today)
  if (today === undefined || share === undefined) return <Missing why="No request today" />
  return (
    <div className="channel-pair">
      <span className={today.errors > 0 ? 'bad' : undefined}>{formatShare(share)}</span>
      <span className="soft">
        {formatCount(today.errors)} of {formatCount(today.requests)}
      </span>
    </div>
  )
}

/** Of the requests whose own cost is known; a whole day of unknown cost has no margin. */
function Margin({ row }: { row: NonNullable<ChannelRow['today']> }) {
  if (row.requests > 0 && row.unknown_cost_requests === row.requests)
    return <Missing why="The catalogue has no cost prices for it" />
  return <Usd value={row.known_margin_usd} />
}
