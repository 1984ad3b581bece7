/** The states of one channel: of each model now, over time as bands, and every change with its reason. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useList } from '../../api/list.ts'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Badge, Card } from '../../ui/card.tsx'
import { formatDuration } from '../../ui/format.ts'
import { defineList, type ListDefinition } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { RangePicker } from '../../ui/range.tsx'
import { StateTimeline } from '../../ui/state-timeline.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Age, Missing, Time } from '../../ui/values.tsx'
import { standingOf, type Standing } from './board.ts'
import { firstEventColumn, nextColumn, Noted, stateColumn } from './cells.tsx'
import { bandsOf, pastPresets, usualPast, windowOf } from './past.ts'
import {
  operatorsQuery,
  pastQuery,
  readChangesOf,
  type Change,
  type ChannelDetail,
  type Health,
} from './queries.ts'
import { failureMeaning, places, placeTones, reasonText, rowToneOf } from './states.ts'

interface ModelRow extends Standing {
  readonly model: string
  readonly vendorName: string | null
}

export function ModelHealth({ detail }: { detail: ChannelDetail }) {
  const rows = Object.entries(detail.models).map(([model, vendorName]): ModelRow => ({
    model,
    vendorName,
    ...standingOf(detail, model, detail),
  }))
  return (
    <List
      of={modelList(detail.is_live)}
      list={{ rows }}
      title={t('channels.models')}
      hint={t('channels.modelsHint')}
    />
  )
}

function modelList(isLive: boolean): ListDefinition<ModelRow> {
  return defineList({
    name: 'models-of-channel',
    caption: t('channels.modelTable'),
    rowKey: ({ model }) => model,
    rowName: ({ model }) => model,
    rowTone: ({ place }) => rowToneOf(place),
    isRoomy: true,
    opensFacts: true,
    columns: [
      {
        id: 'model',
        name: t('channels.model'),
        place: 'name',
        cell: ({ model, vendorName, health }) => (
          <Noted note={modelNotes(vendorName, health)}>
            <Link to="/channels" search={{ model }}>
              {model}
            </Link>
          </Noted>
        ),
      },
      stateColumn,
      { ...firstEventColumn, place: 'amount' },
      { id: 'moved', name: t('channels.movedAfter'), cell: Waits },
      {
        id: 'running',
        name: t('channels.running'),
        isNumber: true,
        cell: ({ health }) => health?.running ?? '–',
      },
      {
        id: 'answer',
        name: t('channels.lastAnswer'),
        cell: ({ health }) =>
          health === undefined || health.last_ok_at === null ? (
            <Missing why={t('channels.noAnswerYet')} />
          ) : (
            <Age at={health.last_ok_at} />
          ),
      },
      { id: 'failed', name: t('channels.failedSinceStart'), cell: FailedAttempts },
      nextColumn(isLive),
    ],
    empty: <Empty title={t('channels.noModels')} />,
  })
}

/** Its other name, and what the counts of answers have shown. */
function modelNotes(vendorName: string | null, health: Health | undefined) {
  const { ignored_limits: ignored = [], count_ratio: ratio = null } = health ?? {}
  const notes = [
    vendorName === null ? [] : t('channels.atVendor', { name: vendorName }),
    ignored.length === 0 ? [] : t('channels.ignoresLimits', { names: ignored.join(', ') }),
    health?.usage_refused === true ? t('channels.refusesUsage') : [],
    ratio === null ? [] : t('channels.countsMore', { ratio: String(ratio) }),
  ].flat()
  return notes.length === 0 ? undefined : notes.map((note) => <div key={note}>{note}</div>)
}

/** After which silence another channel takes over, as the answers of a day have taught. */
function Waits({ health }: ModelRow) {
  const waits = health?.learned_waits ?? []
  if (waits.length === 0) return <Missing why={t('channels.noStream')} />
  return waits.map(({ wait, reasoning, answers, longest_ms: longestMs, limit_ms: limitMs }) => (
    <div
      key={`${wait} ${String(reasoning)}`}
      className="small"
      data-tip={t('channels.longestOf', { count: answers, time: formatDuration(longestMs) })}
    >
      {limitMs === null ? t('channels.notLearned') : formatDuration(limitMs)}{' '}
      <span className="soft">
        {t(`channels.waits.${wait}`)}
        {reasoning && t('channels.reasoning')}
      </span>
    </div>
  ))
}

function FailedAttempts({ health }: ModelRow) {
  if (health === undefined) return <Missing why={t('ui.value.unknown')} />
  if (health.failures.length === 0) return <span className="soft">{t('channels.none')}</span>
  return health.failures.map(({ class: kind, count, last_at: lastAt }) => (
    <div key={kind} className="small" data-tip={failureMeaning(kind).text}>
      {count} × {failureMeaning(kind).name}{' '}
      <span className="soft">{t.rich('channels.last', { age: () => <Age at={lastAt} /> })}</span>
    </div>
  ))
}

export function PastStates({ detail }: { detail: ChannelDetail }) {
  const search = useSearch({ from: '/shell/channels/$channel' })
  const navigate = useNavigate({ from: '/channels/$channel' })
  const window = windowOf(search, Date.parse(detail.at))
  const past = useQuery(pastQuery(detail.name, search, window.fromMs))
  const { data: operators } = useQuery(operatorsQuery)
  return (
    <Card
      title={t('channels.overTime')}
      hint={t('channels.overTimeHint')}
      actions={
        <RangePicker
          value={search}
          unit="moment"
          presets={pastPresets}
          quick={['24h', '7d', '30d']}
          usual={usualPast}
          onChange={(range) =>
            void navigate({ search: compact(range), replace: true, resetScroll: false })
          }
        />
      }
    >
      <Shown query={past} rows={3}>
        {(data) => (
          <StateTimeline
            label={t('channels.overTimeLabel')}
            bands={bandsOf(detail, { ...data, operators: operators ?? new Map() }, window)}
            {...window}
          />
        )}
      </Shown>
    </Card>
  )
}

export function Changes({ detail: { name, nodes } }: { detail: ChannelDetail }) {
  const { data: operators } = useQuery(operatorsQuery)
  const definition = useMemo(() => {
    const gateways = nodes.map((node) => [node.id, node.name] as const)
    return changeList(new Map([...gateways, ...(operators ?? [])]))
  }, [nodes, operators])
  return (
    <List
      of={definition}
      list={useList(['channels', 'changes', name], readChangesOf(name))}
      title={t('channels.changes')}
      hint={t('channels.changesHint')}
      csv={`/admin/v1/channels/${encodeURIComponent(name)}/history?format=csv`}
    />
  )
}

/** `names` are those of gateways and operators by their ids. */
function changeList(names: ReadonlyMap<string, string>): ListDefinition<Change> {
  return defineList({
    name: 'channel-changes',
    caption: t('channels.changesCaption'),
    rowKey: (row) => `${row.at} ${row.model ?? ''} ${row.to} ${row.node ?? ''}`,
    empty: <Empty title={t('channels.noChange')}>{t('channels.alwaysOn')}</Empty>,
    columns: [
      {
        id: 'time',
        name: t('channels.time'),
        place: 'name',
        cell: ({ at }) => <Time at={at} />,
      },
      {
        id: 'model',
        name: t('channels.model'),
        cell: ({ model }) => model ?? t('channels.allModels'),
      },
      {
        id: 'change',
        name: t('channels.change'),
        place: 'state',
        cell: ({ from, to }) => (
          <>
            <span className="soft">{stateOf(from).name} →</span>{' '}
            <Badge tone={stateOf(to).tone}>{stateOf(to).name}</Badge>
          </>
        ),
      },
      {
        id: 'reason',
        name: t('channels.reason'),
        place: 'note',
        cell: (change) => <Reason change={change} />,
      },
      {
        id: 'by',
        name: t('channels.by'),
        cell: ({ actor, node }) =>
          actor === null
            ? (names.get(node ?? '') ?? t('channels.earlierGateway'))
            : (names.get(actor) ?? actor),
      },
    ],
  })
}

/** An operator's "enable" is no state of the health. */
function stateOf(state: string) {
  const place = places.find((each) => each === state)
  return place === undefined
    ? ({ name: t('channels.enabled'), tone: 'good' } as const)
    : { name: t(`channels.places.${place}`), tone: placeTones[place] }
}

/** The reason, and the figures that the gateway had at that moment. */
function Reason({ change }: { change: Change }) {
  const { why, failures, first_event_ms: now, usual_first_event_ms: usual } = change
  const isAboutTime = why === 'slower_than_usual' || why === 'as_fast_as_usual'
  return (
    <>
      {reasonText(why)}
      {failures.map(({ class: kind, count }) => (
        <div key={kind} className="soft small" data-tip={failureMeaning(kind).text}>
          {count} × {failureMeaning(kind).name}
        </div>
      ))}
      {isAboutTime && now !== null && usual !== null && (
        <div className="soft small">
          {t('channels.timeAndUsual', {
            time: formatDuration(now.p50),
            usual: formatDuration(usual.p50),
          })}
        </div>
      )}
    </>
  )
}
