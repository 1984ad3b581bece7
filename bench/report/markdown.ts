/** Formats the report of one run as Markdown: machine, tables, money. */
import type { Figures, MoneyLine } from '../measure/figures.ts'
import { type AimResult, type BaselineRatio, compareWithBaseline } from './aims.ts'
import {
  summarize,
  type HealthSummary,
  type RequestSummary,
  type StreamSummary,
  type Summary,
} from './summary.ts'
import { formatFigure, formatRatio, formatTable, type Column } from './document.ts'

export function formatReport(figures: Figures, command: string): string {
  const summary = summarize(figures)
  return [
    `Made by \`${command}\` on ${figures.machine.date}, commit ${figures.machine.commit}.\n`,
    describeMachine(figures),
    section('Against the baseline', baselineTable(compareWithBaseline(summary))),
    section('Requests', requestTable(summary)),
    section('Streams', streamTable(summary)),
    section('`/health` while streams run', healthTable(summary)),
    section('Money', moneyList(figures.money)),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

export function section(title: string, content: string): string {
  return content === '' ? '' : `### ${title}\n\n${content}`
}

function describeMachine({ machine }: Figures): string {
  const programs = [
    `Node ${machine.node} (SQLite ${machine.sqlite})`,
    `nginx ${machine.nginx}`,
    ...(machine.haproxy === undefined ? [] : [`haproxy ${machine.haproxy}`]),
    ...(machine.portkey === undefined
      ? []
      : [`Portkey gateway ${machine.portkey} on the same Node with NODE_ENV=production`]),
  ]
  return (
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ` +
    `Linux ${machine.kernel}, store on ${machine.workFileSystem}. ${programs.join('; ')}.\n`
  )
}

export function aimTable(aims: readonly AimResult[]): string {
  if (aims.length === 0) return ''
  const columns: readonly Column<AimResult>[] = [
    { heading: 'aim', align: 'left', cell: (row) => row.aim },
    {
      heading: 'measured',
      align: 'right',
      cell: (row) => `${row.measured.toFixed(2)} ${row.unit}`,
    },
    { heading: 'met', align: 'left', cell: (row) => (row.isMet ? 'yes' : '**no**') },
  ]
  return formatTable(columns, aims)
}

function baselineTable(ratios: readonly BaselineRatio[]): string {
  if (ratios.length === 0) return ''
  const columns: readonly Column<BaselineRatio>[] = [
    { heading: 'measured in the same rounds', align: 'left', cell: (row) => row.what },
    { heading: 'this / baseline', align: 'right', cell: (row) => formatRatio(row.ratio) },
  ]
  return formatTable(columns, ratios)
}

function requestTable({ requests }: Summary): string {
  if (requests.length === 0) return ''
  const beside = (row: RequestSummary, proxy: RequestSummary['proxy']) =>
    requests.find((other) => other.proxy === proxy && other.connections === row.connections)
  const figure = (heading: string, valueOf: (row: RequestSummary) => number) =>
    ({
      heading,
      align: 'right',
      cell: (row: RequestSummary) => formatFigure(valueOf(row)),
    }) as const
  const columns: readonly Column<RequestSummary>[] = [
    { heading: 'proxy', align: 'left', cell: (row) => row.name },
    { heading: 'connections', align: 'right', cell: (row) => String(row.connections) },
    {
      heading: 'CPU / nginx',
      align: 'right',
      cell: (row) => formatRatio(row.cpuUs / (beside(row, 'nginx')?.cpuUs ?? Number.NaN)),
    },
    figure('CPU µs/request', (row) => row.cpuUs),
    {
      heading: 'lowest–highest',
      align: 'right',
      cell: (row) => `${formatFigure(row.cpuUsLowest)}–${formatFigure(row.cpuUsHighest)}`,
    },
    figure('busiest thread', (row) => row.busiestThreadUs),
    figure('requests/s', (row) => row.requestsPerSecond),
    {
      heading: 'requests/s / Portkey',
      align: 'right',
      cell: (row) =>
        formatRatio(
          row.requestsPerSecond / (beside(row, 'portkey')?.requestsPerSecond ?? Number.NaN),
        ),
    },
    { heading: 'core used', align: 'right', cell: (row) => formatShare(row.coreShare) },
    figure('p50 ms', (row) => row.p50Us / 1_000),
    figure('p99 ms', (row) => row.p99Us / 1_000),
    { heading: 'failed', align: 'right', cell: (row) => String(row.failures) },
  ]
  return formatTable(columns, requests)
}

const proxyTitles: Readonly<Partial<Record<StreamSummary['proxy'], string>>> = {
  none: 'no proxy',
  nginx: 'nginx proxy_pass',
  haproxy: 'haproxy',
  turnpike: 'Turnpike',
  baseline: 'baseline',
  portkey: 'Portkey gateway',
}

function streamTable({ streams }: Summary): string {
  if (streams.length === 0) return ''
  const cost = (heading: string, write: (row: StreamSummary) => string) =>
    // Without a proxy there is no proxy cost.
    ({
      heading,
      align: 'right',
      cell: (row) => (row.proxy === 'none' ? '–' : write(row)),
    }) satisfies Column<StreamSummary>
  const figure = (heading: string, valueOf: (row: StreamSummary) => number) =>
    ({
      heading,
      align: 'right',
      cell: (row) => formatFigure(valueOf(row)),
    }) satisfies Column<StreamSummary>
  const nginxCpuUs = (row: StreamSummary): number =>
    streams.find((other) => other.proxy === 'nginx' && other.streams === row.streams)?.cpuUs ??
    Number.NaN
  const columns: readonly Column<StreamSummary>[] = [
    { heading: 'proxy', align: 'left', cell: (row) => proxyTitles[row.proxy] ?? row.proxy },
    { heading: 'streams', align: 'right', cell: (row) => formatFigure(row.streams) },
    cost('CPU / nginx', (row) => formatRatio(row.cpuUs / nginxCpuUs(row))),
    cost('CPU µs/event', (row) => formatFigure(row.cpuUs)),
    figure('events/s', (row) => row.eventsPerSecond),
    cost('core used', (row) => formatShare(row.coreShare)),
    figure('delay p50 µs', (row) => row.delayP50Us),
    figure('p99 µs', (row) => row.delayP99Us),
    figure('first byte p50 ms', (row) => row.firstByteP50Us / 1_000),
    figure('p99 ms', (row) => row.firstByteP99Us / 1_000),
    cost('KB/stream', (row) => formatFigure(row.kilobytesPerStream)),
    { heading: 'slips', align: 'right', cell: (row) => String(row.slips) },
  ]
  return formatTable(columns, streams)
}

function healthTable({ health }: Summary): string {
  if (health.length === 0) return ''
  const milliseconds = (heading: string, valueOf: (row: HealthSummary) => number) =>
    ({
      heading,
      align: 'right',
      cell: (row: HealthSummary) => formatFigure(valueOf(row) / 1_000),
    }) as const
  const columns: readonly Column<HealthSummary>[] = [
    { heading: 'proxy', align: 'left', cell: (row) => proxyTitles[row.proxy] ?? row.proxy },
    { heading: 'streams', align: 'right', cell: (row) => formatFigure(row.streams) },
    milliseconds('p50 ms', (row) => row.p50Us),
    milliseconds('p99 ms', (row) => row.p99Us),
    milliseconds('highest ms', (row) => row.highestUs),
  ]
  return formatTable(columns, health)
}

export function moneyList(money: readonly MoneyLine[]): string {
  return money.map((line) => `- ${line.isRight ? 'right' : '**WRONG**'}: ${line.what}\n`).join('')
}

function formatShare(share: number): string {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : '–'
}
