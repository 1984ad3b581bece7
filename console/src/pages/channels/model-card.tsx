/** One model of the board: how well it is served, and its channels in the order in which they are tried. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { t } from '../../messages/t.ts'
import { Badge, type Tone } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { ListTable } from '../../ui/list/list.tsx'
import type { ModelBoard, Row, Service } from './board.ts'
import {
  FailedLately,
  FirstEvent,
  nextColumn,
  Noted,
  OwnCost,
  routeText,
  Share,
  stateColumn,
  StateBadge,
} from './cells.tsx'
import { places, rowToneOf } from './states.ts'
import { ChannelLink } from '../links.tsx'

const serviceTones: Readonly<Record<Service, Tone>> = {
  none: 'bad',
  reserve: 'bad',
  part: 'warn',
  full: 'good',
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
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>
        <button
          type="button"
          className="row channel-model"
          aria-expanded={isOpen}
          onClick={() => setChosen(!isOpen)}
        >
          <Icon aria-hidden />
          <span className="break">{model}</span>
          <Badge tone={serviceTones[service]}>{t(`channels.services.${service}`)}</Badge>
          <span className="row">
            {!isOpen && <PlaceCounts rows={rows} />}
            <span className="soft">{t('channels.requestsToday', { count: requestsToday })}</span>
          </span>
        </button>
      </h2>
      {isOpen && <ListTable of={listOf(model, isLive)} rows={rows} />}
    </section>
  )
}

/** How many channels are in each state, in place of the table. */
function PlaceCounts({ rows }: { rows: readonly Row[] }) {
  return places.map((place) => {
    const count = rows.filter((row) => row.place === place).length
    if (count === 0) return null
    return (
      <span key={place}>
        {count} <StateBadge place={place} />
      </span>
    )
  })
}

function listOf(model: string, isLive: boolean) {
  return defineList<Row>({
    name: 'channels-of-model',
    caption: t('channels.channelsOf', { model }),
    rowKey: ({ id }) => id,
    rowTone: ({ place }) => rowToneOf(place),
    isRoomy: true,
    columns: [
      {
        id: 'channel',
        name: t('channels.channel'),
        place: 'name',
        cell: ({ channel }) => (
          <Noted note={`${channel.vendor} · ${routeText(channel)}`}>
            <ChannelLink name={channel.name} />
          </Noted>
        ),
      },
      stateColumn,
      {
        id: 'share',
        name: t('channels.shareNow'),
        place: 'amount',
        cell: (row) => <Share row={row} />,
      },
      {
        id: 'first',
        name: t('channels.firstEvent'),
        isNumber: true,
        cell: ({ health }) => <FirstEvent health={health} />,
      },
      {
        id: 'failed',
        name: t('channels.failedLately'),
        isNumber: true,
        cell: ({ traffic }) => <FailedLately traffic={traffic} />,
      },
      {
        id: 'cost',
        name: t('channels.costToday'),
        isNumber: true,
        cell: ({ traffic }) => <OwnCost figures={traffic?.today} />,
      },
      nextColumn(isLive),
    ],
    empty: null,
  })
}
