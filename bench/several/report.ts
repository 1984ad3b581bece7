/** The tables of one process and several: medians of the rounds, and their ratio. */
import type { Machine } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import { median } from '../measure/statistics.ts'
import type { ProcessesPlan } from '../options.ts'
import { formatFigure, formatRatio, formatTable, type Column } from '../report/document.ts'
import { moneyList, section } from '../report/markdown.ts'
import type { SlowRound } from '../slow/figures.ts'

export interface SeveralRound extends SlowRound {
  readonly processCount: number
}

/** A gateway without requests. */
export interface IdleProcesses {
  readonly processCount: number
  readonly cpuMsPerSecond: number
  /** Of all its processes. */
  readonly bytes: number
  /** NaN where there is none. */
  readonly supervisorBytes: number
}

export interface SeveralFigures {
  readonly machine: Machine
  readonly plan: ProcessesPlan
  readonly server: string
  readonly idle: readonly IdleProcesses[]
  readonly rounds: readonly SeveralRound[]
  readonly money: readonly MoneyLine[]
}

interface Row {
  readonly load: string
  readonly processCount: number
  /** Of one event of a stream, or of one request. */
  readonly cpuUs: number
  /** The median of the ratios to one process in the same round. */
  readonly ratio: number
  readonly storeCpuUs: number
  /** For each request. */
  readonly transactions: number
  readonly lastP50Us: number
  readonly failures: number
}

const columns: readonly Column<Row>[] = [
  { heading: 'load', align: 'left', cell: (row) => row.load },
  { heading: 'processes', align: 'right', cell: (row) => String(row.processCount) },
  { heading: 'CPU µs', align: 'right', cell: (row) => formatFigure(row.cpuUs) },
  { heading: 'of one process', align: 'right', cell: (row) => formatRatio(row.ratio) },
  { heading: 'PostgreSQL µs', align: 'right', cell: (row) => formatFigure(row.storeCpuUs) },
  {
    heading: 'commits/request',
    align: 'right',
    cell: (row) => formatFigure(row.transactions),
  },
  {
    heading: 'last byte p50 ms',
    align: 'right',
    cell: (row) => formatFigure(row.lastP50Us / 1_000),
  },
  { heading: 'failed', align: 'right', cell: (row) => String(row.failures) },
]

const idleColumns: readonly Column<IdleProcesses>[] = [
  { heading: 'processes', align: 'right', cell: (row) => String(row.processCount) },
  { heading: 'CPU ms/s', align: 'right', cell: (row) => formatFigure(row.cpuMsPerSecond) },
  { heading: 'MB', align: 'right', cell: (row) => formatFigure(row.bytes / 1e6) },
  {
    heading: 'supervisor MB',
    align: 'right',
    cell: (row) => formatFigure(row.supervisorBytes / 1e6),
  },
]

export function formatSeveral(figures: SeveralFigures, command: string): string {
  const { machine, server, idle, rounds, money } = figures
  return [
    `Made by \`${command}\` on ${machine.date}, commit ${machine.commit}. ${machine.processor}, ` +
      `${machine.cores} cores, Linux ${machine.kernel}, PostgreSQL ${server}.\n`,
    formatTable(columns, summarize(rounds)),
    section('Without requests', formatTable(idleColumns, idle)),
    section('Money of one process and of two', moneyList(money)),
  ].join('\n')
}

function summarize(rounds: readonly SeveralRound[]): readonly Row[] {
  const groups = Map.groupBy(rounds, ({ load, processCount }) => `${load}, ${processCount}`)
  return [...groups.values()].flatMap((ofOne) => {
    const [first] = ofOne
    if (first === undefined) return []
    const { load, part, processCount } = first
    const single = rounds.filter((one) => one.load === load && one.processCount === 1)
    const ratios = ofOne.map((one, index) => costOf(one) / costOf(single[index] ?? one))
    return {
      load: part === 'short-streams' ? `events, ${load}` : `requests, ${load}`,
      processCount,
      cpuUs: median(ofOne.map(costOf)),
      ratio: median(ratios),
      storeCpuUs: median(ofOne.map((one) => one.storeCpuUs / unitsOf(one))),
      transactions: median(ofOne.map(({ transactions, requests }) => transactions / requests)),
      lastP50Us: median(ofOne.map(({ lastP50Us }) => lastP50Us)),
      failures: ofOne.reduce((sum, { failures }) => sum + failures, 0),
    }
  })
}

/** The unit of a load: events of streams, or requests. */
function unitsOf({ part, events, requests }: SeveralRound): number {
  return part === 'short-streams' ? events : requests
}

function costOf(round: SeveralRound): number {
  return round.proxyCpuUs / unitsOf(round)
}
