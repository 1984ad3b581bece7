/** The state of each model on one channel, and what its attempts have met. */
import { Link } from '@tanstack/react-router'
import { formatDuration } from '../../ui/format.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Age, Missing } from '../../ui/values.tsx'
import { FirstEvent, NextStep, State } from './badges.tsx'
import { sightsOf, type Sight } from './board.ts'
import type { ChannelDetail, Health } from './queries.ts'
import { failureMeaning, type Place } from './states.ts'

interface Row {
  readonly model: string
  readonly vendorName: string | null
  readonly place: Place
  readonly health: Health | undefined
  readonly sights: readonly Sight[]
}

export function ModelHealth({ detail }: { detail: ChannelDetail }) {
  const names = new Map(detail.nodes.map(({ id, name }) => [id, name]))
  const rows = Object.entries(detail.models).map(([model, vendorName]): Row => {
    const sights = sightsOf(detail, model, {
      nowMs: Date.parse(detail.at),
      names,
    })
    const [worst] = sights
    const place = worst?.place ?? (detail.enabled ? 'unknown' : 'disabled')
    const isSame = sights.every((sight) => sight.place === place)
    return {
      model,
      vendorName,
      place,
      health: worst?.health,
      sights: isSame ? [] : sights,
    }
  })
  return (
    <div className="channel-models">
      <Table
        caption="Models of this channel"
        columns={columnsOf(detail)}
        rows={rows}
        rowKey={({ model }) => model}
        rowTone={({ place }) => (place === 'off' || place === 'unknown' ? 'bad' : undefined)}
      />
    </div>
  )
}

function columnsOf({ is_live: isLive }: ChannelDetail): readonly Column<Row>[] {
  return [
    { name: 'Model', cell: (row) => <ModelName row={row} /> },
    { name: 'State', cell: (row) => <State {...row} /> },
    {
      name: 'First event',
      isNumber: true,
      cell: ({ health }) => <FirstEvent health={health} />,
    },
    { name: 'Moved after', cell: ({ health }) => <Waits health={health} /> },
    {
      name: 'Running',
      isNumber: true,
      cell: ({ health }) => health?.running ?? '–',
    },
    {
      name: 'Last answer',
      cell: ({ health }) =>
        health === undefined || health.last_ok_at === null ? (
          <Missing why="None since the gateway started" />
        ) : (
          <Age at={health.last_ok_at} />
        ),
    },
    {
      name: 'Failed since the start',
      cell: ({ health }) => <FailedAttempts health={health} />,
    },
    {
      name: 'Next',
      cell: ({ health }) => <NextStep health={health} isLive={isLive} />,
    },
  ]
}

function ModelName({ row: { model, vendorName, health } }: { row: Row }) {
  return (
    <div className="channel-name">
      <Link to="/channels" search={{ model }}>
        {model}
      </Link>
      {vendorName !== null && <span className="soft">{vendorName} at the vendor</span>}
      {health !== undefined && <CountNotes health={health} />}
    </div>
  )
}

/** What the counts of answers have shown. */
function CountNotes({ health }: { health: Health }) {
  const { ignored_limits: ignored, count_ratio: ratio, usage_refused: isRefused } = health
  return (
    <>
      {ignored.length > 0 && <span className="soft">does not keep {ignored.join(', ')}</span>}
      {isRefused && <span className="soft">refuses stream_options</span>}
      {ratio !== null && <span className="soft">counts {ratio} times the usual input</span>}
    </>
  )
}

const waitNames: Readonly<Record<Health['learned_waits'][number]['wait'], string>> = {
  head: 'without a head',
  output: 'without output',
}

/** After which silence another channel takes over, as the answers of a day have taught. */
function Waits({ health }: { health: Health | undefined }) {
  const waits = health?.learned_waits ?? []
  if (waits.length === 0) return <Missing why="No stream in a day" />
  return (
    <ul className="channel-failures">
      {waits.map(({ wait, reasoning, answers, longest_ms: longestMs, limit_ms: limitMs }) => (
        <li
          key={`${wait} ${String(reasoning)}`}
          data-tip={`Longest of ${answers} answers: ${formatDuration(longestMs)}`}
        >
          {limitMs === null ? 'not learned' : formatDuration(limitMs)}{' '}
          <span className="soft">
            {waitNames[wait]}
            {reasoning && ', reasoning'}
          </span>
        </li>
      ))}
    </ul>
  )
}

function FailedAttempts({ health }: { health: Health | undefined }) {
  if (health === undefined) return <Missing why="Not known" />
  if (health.failures.length === 0) return <span className="soft">none</span>
  return (
    <ul className="channel-failures">
      {health.failures.map(({ class: kind, count, last_at: lastAt }) => (
        <li key={kind}>
          <span data-tip={failureMeaning(kind).text}>
            {count} × {failureMeaning(kind).name}
          </span>{' '}
          <span className="soft">
            (last <Age at={lastAt} />)
          </span>
        </li>
      ))}
    </ul>
  )
}
