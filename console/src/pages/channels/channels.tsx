/** The live board of channels by model, the models with trouble first. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { compact } from '../../search.ts'
import { Button } from '../../ui/button.tsx'
import { Figure, Figures, Notice } from '../../ui/card.tsx'
import { formatAge, formatUsd } from '../../ui/format.ts'
import { sumUsd } from '../../ui/exact.ts'
import { moneyTerms } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, Usd } from '../../ui/values.tsx'
import { EntryDialog } from '../entries/entry-dialog.tsx'
import type { BoardSearch } from './address.ts'
import { BoardFilters } from './board-filters.tsx'
import { buildBoard, filterBoard, type ModelBoard } from './board.ts'
import { ChannelList, NothingFits } from './channel-list.tsx'
import { ModelCard } from './model-card.tsx'
import { boardQuery, type Board } from './queries.ts'
import './channels.css'

/**
 * Longer boards show open only the models that no main route serves, the first ones of them up to this number
 * of rows; a narrow screen is long soon.
 */
const openRowsMax = matchMedia('(max-width: 640px)').matches ? 8 : 40

export function Channels() {
  const search = useSearch({ from: '/shell/channels' })
  const { data } = useSuspenseQuery(boardQuery)
  const board = useMemo(() => buildBoard(data), [data])
  return (
    <Page title="Channels" hint={<Source board={data} />} actions={<NewButton />}>
      <NotLive board={data} />
      {data.items.length === 0 ? (
        <Empty title="There are no channels.">
          <p>
            Add them to the catalogue under <Link to="/models">Models and prices</Link>.
          </p>
        </Empty>
      ) : (
        <>
          <Summary board={board} />
          <div className="row">
            <ViewSwitch search={search} />
            <BoardFilters key={search.view} search={search} vendors={vendorsOf(data)} />
          </div>
          {search.view === 'channels' ? (
            <ChannelList items={data.items} board={board} search={search} />
          ) : (
            <ByModel board={filterBoard(board, search)} isLive={data.is_live} />
          )}
        </>
      )}
    </Page>
  )
}

function NewButton() {
  const mayChange = useMay('owner')
  const [isOpen, setIsOpen] = useState(false)
  if (!mayChange) return null
  return (
    <>
      <Button look="primary" onClick={() => setIsOpen(true)}>
        <Plus aria-hidden /> New channel
      </Button>
      {isOpen && <EntryDialog asked={{ kind: 'new channel' }} onClose={() => setIsOpen(false)} />}
    </>
  )
}

/** Two views of the same channels; vendor and state stay chosen. */
function ViewSwitch({ search: { view = 'models', vendor, state } }: { search: BoardSearch }) {
  const filters = compact({ vendor, state })
  return (
    <nav className="channel-ranges channel-views" aria-label="View">
      <Link
        to="/channels"
        search={filters}
        activeOptions={{ exact: true }}
        aria-current={view === 'models' ? 'page' : undefined}
      >
        By model
      </Link>
      <Link
        to="/channels"
        search={{ ...filters, view: 'channels' }}
        activeOptions={{ exact: true }}
        aria-current={view === 'channels' ? 'page' : undefined}
      >
        By channel
      </Link>
    </nav>
  )
}

function ByModel({
  board,
  isLive,
}: {
  readonly board: readonly ModelBoard[]
  readonly isLive: boolean
}) {
  const openAtFirst = modelsToOpen(board)
  if (board.length === 0) return <NothingFits />
  return (
    <div className="channel-board">
      {board.map((each) => (
        <ModelCard
          key={each.model}
          board={each}
          isLive={isLive}
          isOpenAtFirst={openAtFirst.has(each.model)}
        />
      ))}
    </div>
  )
}

function modelsToOpen(shown: readonly ModelBoard[]): ReadonlySet<string> {
  const rowCount = shown.reduce((sum, { rows }) => sum + rows.length, 0)
  const isShort = rowCount <= openRowsMax
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
function Source({ board: { nodes, is_live: isLive } }: { board: Board }) {
  const checker = nodes.find(({ makes_checks: makesChecks }) => makesChecks)
  if (!isLive) return <>By model, in the order in which the gateway tries them</>
  const names = nodes.map(({ name }) => name).join(', ')
  const gateways = nodes.length === 1 ? 'the gateway' : `${nodes.length} gateways:`
  return (
    <>
      As seen by {gateways} {names}
      {checker !== undefined && nodes.length > 1 && `; ${checker.name} sends the regular checks`}
    </>
  )
}

function NotLive({ board: { nodes, is_live: isLive } }: { board: Board }) {
  if (isLive) return null
  const [last] = nodes
  return (
    <Notice tone="warn">
      {last === undefined
        ? 'No gateway has run on this store yet, so no state is known.'
        : `No gateway is running. You see the last known state, of ${last.name}, from ${formatAge(last.age_ms)}.`}
    </Notice>
  )
}

function Summary({ board }: { board: readonly ModelBoard[] }) {
  const rows = board.flatMap((model) => model.rows)
  const countOf = (service: ModelBoard['service']): number =>
    board.filter((model) => model.service === service).length
  const troubled = new Set(
    rows.flatMap(({ place, channel }) => (place === 'on' ? [] : [channel.name])),
  )
  const today = rows.flatMap(({ traffic }) => traffic?.today ?? [])
  const sum = (field: 'requests' | 'errors' | 'unknown_cost_requests'): number =>
    today.reduce((total, figures) => total + figures[field], 0)
  const lost = formatUsd(sumUsd(today.map((figures) => figures.estimated_cost_usd)))
  const lostText = `and ${lost} for ${moneyTerms.estimated_cost_usd.name.toLowerCase()}`
  return (
    <Figures>
      <Figure
        label="Models served"
        value={`${board.length - countOf('none')} of ${board.length}`}
        note={`${countOf('reserve')} only by a reserve, ${countOf('part')} in part`}
      />
      <Figure
        label="Channels not fully on"
        value={troubled.size}
        note={`of ${new Set(rows.map(({ channel }) => channel.name)).size} channels`}
      />
      <Figure
        label="Errors today"
        value={<Count value={sum('errors')} />}
        note={
          <>
            of <Count value={sum('requests')} /> requests
          </>
        }
      />
      <Figure
        label={`${moneyTerms.own_cost_usd.name} today`}
        value={<Usd value={sumUsd(today.map((figures) => figures.own_cost_usd))} />}
        note={
          sum('unknown_cost_requests') > 0
            ? `without requests of unknown cost: ${sum('unknown_cost_requests')}`
            : lostText
        }
      />
    </Figures>
  )
}
