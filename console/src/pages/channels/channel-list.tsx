/** The lists of channels as declarations: all of them, and those of a model. */
import { Link } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { formatCount } from '../../ui/format.ts'
import { defineList, type ListDefinition, type ListFilter } from '../../ui/list/define.ts'
import { Empty } from '../../ui/states.tsx'
import { Age, Duration } from '../../ui/values.tsx'
import { ChannelLink } from '../links.tsx'
import { boardStates } from './address.ts'
import { errorShare, type ChannelRow, type Row } from './board.ts'
import {
  Errors,
  FailedLately,
  firstEventColumn,
  Margin,
  nextColumn,
  Noted,
  OwnCost,
  routeText,
  Share,
  StateBadge,
  stateColumn,
} from './cells.tsx'
import { rowToneOf, urgencyOf } from './states.ts'

type FilterName = 'model' | 'channel' | 'vendor' | 'state'

/** Each view looks for what its rows are. */
export function filtersOf(
  view: 'models' | 'channels',
  vendors: readonly string[],
): readonly ListFilter<FilterName>[] {
  const isList = view === 'channels'
  return [
    {
      kind: 'text',
      name: isList ? 'channel' : 'model',
      label: t(isList ? 'channels.channel' : 'channels.model'),
      placeholder: t(isList ? 'channels.partOfName' : 'channels.partOfId'),
    },
    {
      kind: 'choice',
      name: 'vendor',
      label: t('channels.vendor'),
      any: t('channels.all'),
      options: vendors.map((vendor) => [vendor, vendor] as const),
    },
    {
      kind: 'choice',
      name: 'state',
      label: t('channels.state'),
      any: t('channels.all'),
      options: boardStates.map((state) => [state, t(`channels.places.${state}`)] as const),
    },
  ]
}

export function NothingFits() {
  return (
    <Empty title={t('channels.nothingFits')}>
      <Link to="/channels" search={({ view }) => (view === undefined ? {} : { view })}>
        {t('channels.showAll')}
      </Link>
    </Empty>
  )
}

export const channelList = defineList<ChannelRow, FilterName>({
  name: 'channels',
  caption: t('channels.title'),
  rowKey: ({ channel }) => channel.name,
  rowTone: ({ place }) => rowToneOf(place),
  empty: <NothingFits />,
  columns: [
    {
      id: 'channel',
      name: t('channels.channel'),
      sort: 'channel',
      place: 'name',
      value: ({ channel }) => channel.name,
      cell: ({ channel }) => <ChannelLink name={channel.name} />,
    },
    {
      id: 'vendor',
      name: t('channels.vendor'),
      sort: 'vendor',
      place: 'note',
      value: ({ channel }) => channel.vendor,
      cell: ({ channel }) => (
        <>
          {channel.vendor} <span className="soft">· {routeText(channel)}</span>
        </>
      ),
    },
    {
      id: 'state',
      csv: ({ place }) => place,
      name: t('channels.state'),
      sort: 'state',
      place: 'state',
      value: ({ place }) => urgencyOf(place),
      cell: ({ place, placeCount, modelCount }) => (
        <Noted
          note={
            placeCount < modelCount
              ? t('channels.ofModels', { part: placeCount, count: modelCount })
              : undefined
          }
        >
          <StateBadge place={place} />
        </Noted>
      ),
    },
    {
      id: 'running',
      name: t('channels.running'),
      sort: 'running',
      isNumber: true,
      value: ({ running }) => running,
      cell: ({ running }) => formatCount(running),
    },
    {
      id: 'p50',
      name: t('channels.firstEvent'),
      sort: 'p50',
      isNumber: true,
      value: ({ today }) => today?.first_event_p50_ms ?? null,
      cell: ({ today }) => <Duration ms={today?.first_event_p50_ms ?? null} />,
    },
    {
      id: 'errors',
      csv: ({ today }) => today?.errors ?? null,
      name: t('channels.errors'),
      sort: 'errors',
      isNumber: true,
      value: ({ today }) => errorShare(today),
      cell: Errors,
    },
    {
      id: 'cost',
      csv: ({ today }) => today?.own_cost_usd ?? null,
      name: t('channels.cost'),
      sort: 'cost',
      isNumber: true,
      value: ({ today }) => (today === undefined ? null : Number(today.own_cost_usd)),
      cell: ({ today }) => <OwnCost figures={today} />,
    },
    {
      id: 'margin',
      csv: ({ today }) => today?.known_margin_usd ?? null,
      name: t('margin.margin'),
      sort: 'margin',
      isNumber: true,
      place: 'amount',
      value: ({ today }) => (today === undefined ? null : Number(today.known_margin_usd)),
      cell: Margin,
    },
    {
      id: 'credential',
      csv: ({ channel }) => channel.credential_set_at,
      name: t('channels.credential'),
      sort: 'credential',
      value: ({ channel }) => Date.parse(channel.credential_set_at),
      cell: ({ channel }) => <Age at={channel.credential_set_at} />,
    },
  ],
})

/** The channels of a model, in the order in which the gateway tries them. */
export function modelList(model: string, isLive: boolean): ListDefinition<Row> {
  return {
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
      { id: 'share', name: t('channels.shareNow'), place: 'amount', cell: Share },
      firstEventColumn,
      { id: 'failed', name: t('channels.failedLately'), isNumber: true, cell: FailedLately },
      {
        id: 'cost',
        name: t('channels.costToday'),
        isNumber: true,
        cell: ({ traffic }) => <OwnCost figures={traffic?.today} />,
      },
      nextColumn(isLive),
    ],
    empty: null,
  }
}
