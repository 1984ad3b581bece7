/** Formats the report of the relay's measurements as Markdown: one table for each part. */
import type { RelayPartName } from '../options.ts'
import {
  count,
  figure,
  formatChecks,
  formatFigure,
  formatRatio,
  formatTable,
  text,
  type Column,
} from '../table.ts'
import { summarize, type IdleRound, type RelayFigures, type Row } from './rounds.ts'

export const picturePath = 'pictures/performance.svg'

const titles: Readonly<Record<RelayPartName, readonly [title: string, load: string]>> = {
  slow: ['Answers after half a second', 'requests'],
  alone: ['One request at a time', 'load'],
  'short-streams': ['Streams that begin and end', 'format'],
  sizes: ['Large and small bodies', 'body'],
  requests: ['A vendor that answers at once', 'load'],
  'idle-streams': ['At rest, and with mostly idle streams', 'streams'],
}

export function formatRelay(figures: RelayFigures, command: string): string {
  const { machine, rounds, idle, money, mode, roundCount } = figures
  const rows = summarize(rounds)
  const parts = Object.entries(titles).map(([part, [title]]) => {
    const ofPart = rows.filter((row) => row.part === part)
    return section(title, formatTable(columnsOf(part as RelayPartName), ofPart))
  })
  return [
    `Made by \`${command}\` on ${machine.date}, commit ${machine.commit}; rounds: ${roundCount}.\n`,
    mode === 'quick' ? 'A quick run, with fewer rounds, rates and peers: less exact.\n' : '',
    describeMachine(figures),
    rows.some(({ part }) => part === 'slow')
      ? `![Requests of one core, by gateway](../../docs/${picturePath})\n`
      : '',
    ...parts,
    section(titles['idle-streams'][0], formatTable(idleColumns, idle)),
    section('Money of this run', formatChecks(money)),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function section(title: string, content: string): string {
  return content === '' ? '' : `### ${title}\n\n${content}`
}

function describeMachine({ machine, postgres }: RelayFigures): string {
  return (
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ` +
    `Linux ${machine.kernel}, store on ${machine.workFileSystem}. Node ${machine.node} (SQLite ` +
    `${machine.sqlite}), nginx ${machine.nginx}, PostgreSQL ${postgres ?? 'not measured'}, ` +
    'other peers at the versions of bench/peers.\n'
  )
}

/** Without a proxy there is no cost of a proxy. */
function cost(heading: string, cell: (row: Row) => string): Column<Row> {
  return {
    heading,
    align: 'right',
    cell: (row) => (row.target === 'none' ? '–' : cell(row)),
  }
}

function added(heading: string, valueOf: (row: Row) => number): Column<Row> {
  return cost(heading, (row) => formatFigure(valueOf(row)))
}

function columnsOf(part: RelayPartName): readonly Column<Row>[] {
  const isStream = part === 'short-streams'
  const unit = isStream ? 'event' : 'request'
  return [
    text(titles[part][1], (row) => row.load),
    text('gateway', (row) => row.title),
    figure(isStream ? 'streams/s' : 'requests/s', (row) => row.requestsPerSecond),
    ...(isStream ? [figure<Row>('events/s', (row) => row.eventsPerSecond)] : []),
    cost('CPU / nginx', (row) => formatRatio(row.cpuRatio)),
    cost('CPU / lean', (row) => formatRatio(row.leanRatio)),
    cost(`CPU µs/${unit}`, (row) => formatFigure(row.cpuUs)),
    cost(
      'lowest–highest',
      (row) => `${formatFigure(row.cpuUsLowest)}–${formatFigure(row.cpuUsHighest)}`,
    ),
    added('of it PostgreSQL', (row) => row.storeCpuUs || Number.NaN),
    ...(isStream
      ? [
          added('first byte added p50 ms', (row) => row.firstAddedP50Ms),
          added('p99 ms', (row) => row.firstAddedP99Ms),
        ]
      : []),
    added('last byte added p50 ms', (row) => row.lastAddedP50Ms),
    added('p99 ms', (row) => row.lastAddedP99Ms),
    figure(isStream ? 'commits/stream' : 'commits/request', (row) => row.commitsPerRequest),
    count('failed', (row) => row.failures),
    count('slips', (row) => row.slips),
  ]
}

const idleColumns: readonly Column<IdleRound>[] = [
  text('gateway', (row) => row.title),
  figure('at rest, MB', (row) => row.restBytes / 1e6),
  figure('CPU, ms/s', (row) => row.restCpuMs),
  count('streams', (row) => row.streams),
  figure('in all, MB', (row) => row.runningBytes / 1e6),
  figure('KB/stream', (row) => (row.runningBytes - row.restBytes) / row.streams / 1e3),
  figure('after them, MB', (row) => row.afterBytes / 1e6),
]
