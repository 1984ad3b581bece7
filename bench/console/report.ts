/** The tables of the console: how soon its pages are there, and what open consoles cost the relay. */
import { formatFigure, formatTable, type Column } from '../report/document.ts'
import { median } from '../measure/statistics.ts'

export interface PageRow {
  readonly page: string
  /** Loaded from its address, with an empty cache. */
  readonly firstPaintMs: number
  readonly firstPaintHighestMs: number
  /** As they came over the wire. */
  readonly scriptBytes: number
  /** Opened by its link: from the click to the frame with its first row. */
  readonly shownMs: number
  readonly shownHighestMs: number
  /** The longest call of the admin API in all rounds. */
  readonly slowestCallMs: number
  readonly slowestCall: string
}

export interface RelayRound {
  readonly consoles: number
  /** Of all threads of the gateway. */
  readonly cpuUsPerRequest: number
  readonly requestsPerSecond: number
  /** To the last byte, beyond the time that the vendor takes. */
  readonly addedP50Ms: number
  readonly addedP99Ms: number
}

export interface ConsoleFigures {
  readonly store: {
    readonly requests: number
    readonly accounts: number
    readonly channels: number
  }
  readonly pages: readonly PageRow[]
  readonly relay: readonly RelayRound[]
}

const range = (middle: number, highest: number): string =>
  `${formatFigure(middle)} (${formatFigure(highest)})`

const pageColumns: readonly Column<PageRow>[] = [
  { heading: 'page', align: 'left', cell: ({ page }) => page },
  {
    heading: 'first paint, ms',
    align: 'right',
    cell: (row) => range(row.firstPaintMs, row.firstPaintHighestMs),
  },
  {
    heading: 'scripts, kB',
    align: 'right',
    cell: ({ scriptBytes }) => formatFigure(scriptBytes / 1_000),
  },
  {
    heading: 'first row, ms',
    align: 'right',
    cell: (row) => range(row.shownMs, row.shownHighestMs),
  },
  {
    heading: 'slowest call, ms',
    align: 'right',
    cell: ({ slowestCallMs }) => formatFigure(slowestCallMs),
  },
  { heading: 'which', align: 'left', cell: ({ slowestCall }) => `\`${slowestCall}\`` },
]

const relayColumns: readonly Column<RelayRound>[] = [
  { heading: 'open consoles', align: 'right', cell: ({ consoles }) => String(consoles) },
  {
    heading: 'CPU µs/request',
    align: 'right',
    cell: ({ cpuUsPerRequest }) => formatFigure(cpuUsPerRequest),
  },
  {
    heading: 'requests/s',
    align: 'right',
    cell: ({ requestsPerSecond }) => formatFigure(requestsPerSecond),
  },
  {
    heading: 'added p50, ms',
    align: 'right',
    cell: ({ addedP50Ms }) => formatFigure(addedP50Ms),
  },
  {
    heading: 'added p99, ms',
    align: 'right',
    cell: ({ addedP99Ms }) => formatFigure(addedP99Ms),
  },
]

export function formatConsole(
  { store, pages, relay }: ConsoleFigures,
  made: { readonly command: string; readonly date: string },
): string {
  const bySetting = Map.groupBy(relay, ({ consoles }) => consoles)
  return [
    `\`${made.command}\` on ${made.date}, with ${countText(store.requests)} requests, ${countText(store.accounts)} ` +
      `accounts and ${store.channels} channels in the store. Medians; in brackets the highest.`,
    formatTable(pageColumns, pages).trimEnd(),
    'The relay, medians of the rounds:',
    formatTable(relayColumns, [...bySetting.values()].map(middleOf)),
  ].join('\n\n')
}

function countText(count: number): string {
  return count.toLocaleString('en')
}

function middleOf(rounds: readonly RelayRound[]): RelayRound {
  const middle = (read: (round: RelayRound) => number): number => median(rounds.map(read))
  return {
    consoles: middle(({ consoles }) => consoles),
    cpuUsPerRequest: middle(({ cpuUsPerRequest }) => cpuUsPerRequest),
    requestsPerSecond: middle(({ requestsPerSecond }) => requestsPerSecond),
    addedP50Ms: middle(({ addedP50Ms }) => addedP50Ms),
    addedP99Ms: middle(({ addedP99Ms }) => addedP99Ms),
  }
}
