/** All channels: by model in the order in which the gateway tries them, or one row for each channel. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { ChevronDown, ChevronRight, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Figure, Figures, Notice, type Tone } from '../../ui/card.tsx'
import { sumUsd } from '../../ui/exact.ts'
import { formatAge, formatUsd } from '../../ui/format.ts'
import { useListAddress } from '../../ui/list/address.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List, ListTable } from '../../ui/list/list.tsx'
import { moneyTerms } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Usd } from '../../ui/values.tsx'
import { EntryButton } from '../entries/entry-dialog.tsx'
import type { BoardSearch } from './address.ts'
import {
  buildBoard,
  buildRows,
  filterBoard,
  filterRows,
  type ModelBoard,
  type Row,
  type Service,
} from './board.ts'
import { StateBadge } from './cells.tsx'
import { channelList, filtersOf, modelList, NothingFits } from './channel-list.tsx'
import { boardQuery, todayQuery, type Board } from './queries.ts'
import { places } from './states.ts'
import { BulkButtons } from './work.tsx'
import './channels.css'

export function Channels() {
  const search = useSearch({ from: '/shell/channels' })
  const { change } = useListAddress(search)
  const { data } = useSuspenseQuery(boardQuery)
  const board = useMemo(() => buildBoard(data), [data])
  const { view = 'models' } = search
  return (
    <Page
      title={t('channels.title')}
      hint={sourceOf(data)}
      actions={
        <EntryButton look="primary" asked={{ kind: 'new channel' }}>
          <Plus aria-hidden /> {t('entries.channel.new')}
        </EntryButton>
      }
    >
      <NotLive board={data} />
      {data.items.length === 0 ? (
        <Empty title={t('channels.noneTitle')}>
          <p>{t.rich('channels.addThem', { link: (text) => <Link to="/models">{text}</Link> })}</p>
        </Empty>
      ) : (
        <>
          <Summary board={board} />
          <ViewSwitch search={search} />
          <Filters
            key={view}
            filters={filtersOf(view, vendorsOf(data))}
            values={search}
            onChange={change}
          />
          {view === 'channels' ? (
            <ByChannel data={data} board={board} search={search} />
          ) : (
            <ByModel board={filterBoard(board, search)} isLive={data.is_live} />
          )}
        </>
      )}
    </Page>
  )
}

/** Two views of the same channels; vendor and state stay chosen. */
function ViewSwitch({ search: { view = 'models', vendor, state } }: { search: BoardSearch }) {
  const filters = compact({ vendor, state })
  return (
    <nav className="tabs" aria-label={t('channels.view')}>
      {(['models', 'channels'] as const).map((each) => (
        <Link
          key={each}
          to="/channels"
          search={each === 'models' ? filters : { ...filters, view: each }}
          className="tab"
          activeOptions={{ exact: true }}
          aria-current={each === view ? 'page' : undefined}
        >
          {t(`channels.views.${each}`)}
        </Link>
      ))}
    </nav>
  )
}

interface ByChannelProps {
  readonly data: Board
  readonly board: readonly ModelBoard[]
  readonly search: BoardSearch
}

function ByChannel({ data, board, search }: ByChannelProps) {
  const { list } = useListAddress(search, { by: 'state', order: 'asc' })
  const mayOperate = useMay('operator')
  const { data: today = [] } = useQuery(todayQuery())
  const rows = filterRows(buildRows(data.items, board, today), search)
  return (
    <List
      of={channelList}
      list={{ rows }}
      {...list}
      title={t('channels.count', { count: rows.length })}
      hint={t('channels.listHint')}
      file="channels"
      bulk={
        mayOperate
          ? {
              mayChoose: () => true,
              actions: (chosen) => <BulkButtons channels={chosen.map(({ channel }) => channel)} />,
            }
          : undefined
      }
    />
  )
}

const serviceTones: Readonly<Record<Service, Tone>> = {
  none: 'bad',
  reserve: 'bad',
  part: 'warn',
  full: 'good',
}

/**
 * Longer boards show open only the models that no main route serves, the first ones of them up to this number
 * of rows; a narrow screen is long soon.
 */
const openRowsMax = matchMedia('(max-width: 640px)').matches ? 8 : 40

interface ByModelProps {
  readonly board: readonly ModelBoard[]
  readonly isLive: boolean
}

function ByModel({ board, isLive }: ByModelProps) {
  const openAtFirst = modelsToOpen(board)
  if (board.length === 0) return <NothingFits />
  return board.map((each) => (
    <ModelCard
      key={each.model}
      board={each}
      isLive={isLive}
      isOpenAtFirst={openAtFirst.has(each.model)}
    />
  ))
}

interface ModelCardProps {
  readonly board: ModelBoard
  readonly isLive: boolean
  /** Whether it is open before the reader opens or closes it. */
  readonly isOpenAtFirst: boolean
}

function ModelCard({ board, isLive, isOpenAtFirst }: ModelCardProps) {
  const { model, service, rows, requestsToday } = board
  const [chosen, setChosen] = useState<boolean>()
  const isOpen = chosen ?? isOpenAtFirst
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <Card
      isFlush
      title={
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setChosen(!isOpen)}>
          <Icon aria-hidden /> <span className="break">{model}</span>
        </Button>
      }
      actions={
        <>
          {!isOpen && <PlaceCounts rows={rows} />}
          <Badge tone={serviceTones[service]}>{t(`channels.services.${service}`)}</Badge>
          <span className="soft small">
            {t('channels.requestsToday', { count: requestsToday })}
          </span>
        </>
      }
    >
      {isOpen && <ListTable of={modelList(model, isLive)} rows={rows} />}
    </Card>
  )
}

/** How many channels are in each state, in place of the table. */
function PlaceCounts({ rows }: { rows: readonly Row[] }) {
  return places.map((place) => {
    const count = rows.filter((row) => row.place === place).length
    if (count === 0) return null
    return (
      <span key={place} className="small">
        {count} <StateBadge place={place} />
      </span>
    )
  })
}

function modelsToOpen(shown: readonly ModelBoard[]): ReadonlySet<string> {
  const isShort = shown.reduce((sum, { rows }) => sum + rows.length, 0) <= openRowsMax
  const open = new Set<string>()
  let openRows = 0
  for (const { model, service, rows } of shown) {
    const isBad = service === 'none' || service === 'reserve'
    if (!isShort && (!isBad || openRows >= openRowsMax)) continue
    open.add(model)
    openRows += rows.length
  }
  return open
}

function vendorsOf({ items }: Board): readonly string[] {
  return [...new Set(items.map(({ vendor }) => vendor))].sort()
}

/** Which gateways the states come from. */
function sourceOf({ nodes, is_live: isLive }: Board): string {
  const checker = nodes.find(({ makes_checks: makesChecks }) => makesChecks)
  if (!isLive) return t('channels.inOrder')
  const names = nodes.map(({ name }) => name).join(', ')
  const seen = t('channels.seenBy', { count: nodes.length, names })
  return checker === undefined || nodes.length === 1
    ? seen
    : t('channels.checkedBy', { seen, name: checker.name })
}

function NotLive({ board: { nodes, is_live: isLive } }: { board: Board }) {
  if (isLive) return null
  const [last] = nodes
  return (
    <Notice tone="warn">
      {last === undefined
        ? t('channels.neverRun')
        : t('channels.lastKnown', { name: last.name, age: formatAge(last.age_ms) })}
    </Notice>
  )
}

function Summary({ board }: { board: readonly ModelBoard[] }) {
  const rows = board.flatMap((model) => model.rows)
  const countOf = (service: Service): number =>
    board.filter((model) => model.service === service).length
  const namesOf = (some: typeof rows) => new Set(some.map(({ channel }) => channel.name))
  const today = rows.flatMap(({ traffic }) => traffic?.today ?? [])
  const sum = (field: 'requests' | 'errors' | 'unknown_cost_requests'): number =>
    today.reduce((total, figures) => total + figures[field], 0)
  const unknown = sum('unknown_cost_requests')
  return (
    <Figures>
      <Figure
        label={t('channels.modelsServed')}
        value={t('channels.servedOf', {
          served: board.length - countOf('none'),
          count: board.length,
        })}
        note={t('channels.servedNote', { reserve: countOf('reserve'), part: countOf('part') })}
      />
      <Figure
        label={t('channels.notFullyOn')}
        value={namesOf(rows.filter(({ place }) => place !== 'on')).size}
        note={t('channels.ofChannels', { count: namesOf(rows).size })}
      />
      <Figure
        label={t('channels.errorsToday')}
        value={<Count value={sum('errors')} />}
        note={t.rich('channels.ofRequests', { requests: () => <Count value={sum('requests')} /> })}
      />
      <Figure
        label={t('channels.today', { name: moneyTerms.own_cost_usd.name })}
        value={<Usd value={sumUsd(today.map((figures) => figures.own_cost_usd))} />}
        note={
          unknown > 0
            ? t('channels.unknownToday', { count: unknown })
            : t('channels.lostToday', {
                amount: formatUsd(sumUsd(today.map((figures) => figures.estimated_cost_usd))),
                name: moneyTerms.estimated_cost_usd.name.toLowerCase(),
              })
        }
      />
    </Figures>
  )
}
