/** One model of the board: how well it is served, and its channels in the order in which they are tried. */
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { Badge, type Tone } from '../../ui/card.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Missing } from '../../ui/values.tsx'
import { Errors, FirstEvent, NextStep, OwnCost, State, StateBadge } from './badges.tsx'
import type { ModelBoard, Row, Service } from './board.ts'
import { places, type Place } from './states.ts'

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
          rowTone={toneOf}
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

function toneOf({ place }: Row): 'bad' | 'warn' | undefined {
  const tones: Partial<Record<Place, 'bad' | 'warn'>> = {
    off: 'bad',
    unknown: 'bad',
    trial: 'warn',
    doubted: 'warn',
    waiting: 'warn',
    slow: 'warn',
  }
  return tones[place]
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
      name: 'Errors today',
      isNumber: true,
      cell: ({ figures }) => <Errors figures={figures} />,
    },
    {
      name: 'Cost today',
      isNumber: true,
      cell: ({ figures }) => <OwnCost figures={figures} />,
    },
    {
      name: 'Next',
      cell: ({ place, health, channel: { check } }) => (
        <NextStep place={place} health={health} check={check} isLive={isLive} />
      ),
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
        {vendor} · priority {rank}
        {weight !== 1 && ` · weight ${weight}`}
      </span>
    </div>
  )
}

/** The expected part of the requests now, as a bar, and the part of today's. */
function Share({ row: { share, shareToday } }: { row: Row }) {
  const today =
    shareToday === undefined
      ? 'No requests today'
      : `${formatShare(shareToday)} of today's requests`
  if (share === 0 && shareToday === undefined) return <Missing why={today} />
  return (
    <div className="channel-share" data-tip={`By weight and state now. ${today}.`}>
      <span>{formatShare(share)}</span>
      <div className="channel-bar" aria-hidden>
        <div style={{ width: `${share * 100}%` }} />
      </div>
      <span className="soft">
        {shareToday === undefined ? 'none today' : `${formatShare(shareToday)} today`}
      </span>
    </div>
  )
}
