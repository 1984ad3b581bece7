/** One model of the board: how well it is served, and its channels in the order in which they are tried. */
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { Badge, type Tone } from '../../ui/card.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Missing } from '../../ui/values.tsx'
import { FailedLately, FirstEvent, NextStep, OwnCost, State, StateBadge } from './badges.tsx'
import type { ModelBoard, Row, Service } from './board.ts'
import { places, toneOf } from './states.ts'

const services: Readonly<Record<Service, { tone: Tone; text: string }>> = {
  none: { tone: 'bad', text: 'No usable channel' },
  reserve: { tone: 'bad', text: 'Only a reserve serves it' },
  part: { tone: 'warn', text: 'Served, not by all channels' },
  full: { tone: 'good', text: 'Served by all channels' },
}

interface ModelCardProps {
  readonly board: ModelBoard
  readonly isLive: boolean
  /** Whether it is open before the reader opens or closes it. */
  readonly isOpenAtFirst: boolean
}

export function ModelCard({ board, isLive, isOpenAtFirst }: ModelCardProps) {
  const { model, service, rows, requestsToday } = board
  const [chosen, setChosen] = useState<boolean>()
  const id = useId()
  const isOpen = chosen ?? isOpenAtFirst
  const Icon = isOpen ? ChevronDown : ChevronRight
  const { tone, text } = services[service]
  return (
    <section className="card channel-model" aria-labelledby={id}>
      <h2 id={id}>
        <button
          type="button"
          className="channel-model-head"
          aria-expanded={isOpen}
          onClick={() => setChosen(!isOpen)}
        >
          <Icon aria-hidden />
          <span className="channel-model-name">{model}</span>
          <Badge tone={tone}>{text}</Badge>
          <span className="channel-model-counts">
            {isOpen ? null : <PlaceCounts rows={rows} />}
            <span className="soft">
              {formatCount(requestsToday)} {requestsToday === 1 ? 'request' : 'requests'} today
            </span>
          </span>
        </button>
      </h2>
      {isOpen && (
        <Table
          caption={`Channels of ${model}`}
          columns={columnsOf(isLive)}
          rows={rows}
          rowKey={({ id: row }) => row}
          rowTone={({ place }) => toneOf(place)}
        />
      )}
    </section>
  )
}

/** How many channels are in each state, in place of the table. */
function PlaceCounts({ rows }: { rows: readonly Row[] }) {
  return places.map((place) => {
    const count = rows.filter((row) => row.place === place).length
    if (count === 0) return null
    return (
      <span key={place} className="channel-count">
        {count} <StateBadge place={place} />
      </span>
    )
  })
}

function columnsOf(isLive: boolean): readonly Column<Row>[] {
  return [
    { name: 'Channel', cell: (row) => <ChannelName row={row} /> },
    { name: 'State', cell: (row) => <State {...row} /> },
    { name: 'Share now', cell: (row) => <Share row={row} /> },
    {
      name: 'First event',
      isNumber: true,
      cell: ({ health }) => <FirstEvent health={health} />,
    },
    {
      name: 'Failed, 10 min',
      isNumber: true,
      cell: ({ traffic }) => <FailedLately traffic={traffic} />,
    },
    {
      name: 'Cost today',
      isNumber: true,
      cell: ({ traffic }) => <OwnCost figures={traffic?.today} />,
    },
    {
      name: 'Next',
      cell: ({ health }) => <NextStep health={health} isLive={isLive} />,
    },
  ]
}

function ChannelName({ row: { channel } }: { row: Row }) {
  const { name, vendor, rank, weight } = channel
  return (
    <div className="channel-name">
      <Link to="/channels/$channel" params={{ channel: name }}>
        {name}
      </Link>
      <span className="soft">
        {vendor} · rank {rank}
        {weight !== 1 && ` · weight ${weight}`}
      </span>
    </div>
  )
}

/** The expected part of the requests now, as a bar, and the part that it had. */
function Share({ row: { share, traffic } }: { row: Row }) {
  const recent = traffic?.recent?.share ?? null
  const today = traffic?.today.share ?? null
  const past =
    today === null
      ? 'No requests today'
      : `${formatShare(today)} of today's requests, ${recent === null ? 'none' : formatShare(recent)} in ten minutes`
  if (share === 0 && today === null) return <Missing why={past} />
  return (
    <div className="channel-share" data-tip={`By weight and state now. ${past}.`}>
      <span>{formatShare(share)}</span>
      <div className="channel-bar" aria-hidden>
        <div style={{ width: `${share * 100}%` }} />
      </div>
      <span className="soft">
        {recent === null ? <Today share={today} /> : `${formatShare(recent)} in 10 min`}
      </span>
    </div>
  )
}

function Today({ share }: { share: number | null }) {
  return share === null ? <>none today</> : <>{formatShare(share)} today</>
}
