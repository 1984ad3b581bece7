/** The figures of the stores part, every round of them, and its report as Markdown. */
import type { Machine } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import { median } from '../measure/statistics.ts'
import type { StoresPlan } from '../options.ts'
import { type Column, formatFigure, formatTable } from '../report/document.ts'

const storeSetupNames = ['sqlite', 'postgres', 'postgres-two'] as const
export type StoreSetupName = (typeof storeSetupNames)[number]

/**
 * Measured for comparison: `none` sends the load directly to the upstream; `free` sends the gateway requests
 * that it does not charge, so that everything but the ledger works.
 */
type FloorName = 'none' | 'nginx' | 'free'

export interface StoreRound {
  readonly place: StoreSetupName | FloorName
  /** The number of accounts that send requests in turn; 0 if there are none. */
  readonly accounts: number
  readonly connections: number
  readonly requests: number
  readonly failures: number
  readonly requestsPerSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** Of all gateways together; 0 without a gateway. */
  readonly gatewayCpuUs: number
  /** Of PostgreSQL's processes. */
  readonly serverCpuUs: number
  /** Writing transactions of the whole store; NaN without a store. */
  readonly transactions: number
}

export interface StoreFigures {
  readonly machine: Machine
  readonly plan: StoresPlan
  readonly server: string
  readonly rounds: readonly StoreRound[]
  readonly money: readonly MoneyLine[]
}

const addedByMoneyP50MsMax = 2
const rateRatioMin = 0.5

/** Medians of the rounds of one row. */
export interface StoreRow {
  readonly place: StoreRound['place']
  readonly accounts: number
  readonly connections: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly gatewayCpuUs: number
  readonly serverCpuUs: number
  readonly requestsPerTransaction: number
  readonly failures: number
}

export interface StoreAim {
  readonly aim: string
  readonly measured: string
  readonly isMet: boolean
}

export function summarizeStores(rounds: readonly StoreRound[]): readonly StoreRow[] {
  const keyOf = ({ place, accounts, connections }: StoreRound): string =>
    [connections, place, accounts].join(' ')
  const keys = [...new Set(rounds.map(keyOf))]
  return keys.flatMap((key) => {
    const group = rounds.filter((round) => keyOf(round) === key)
    const [first] = group
    if (first === undefined) return []
    const middle = (valueOf: (round: StoreRound) => number): number => median(group.map(valueOf))
    return [
      {
        place: first.place,
        accounts: first.accounts,
        connections: first.connections,
        requestsPerSecond: middle((round) => round.requestsPerSecond),
        p50Ms: middle((round) => round.p50Us / 1_000),
        p99Ms: middle((round) => round.p99Us / 1_000),
        gatewayCpuUs: middle((round) => round.gatewayCpuUs / round.requests),
        serverCpuUs: middle((round) => round.serverCpuUs / round.requests),
        requestsPerTransaction: middle((round) => round.requests / round.transactions),
        failures: group.reduce((sum, round) => sum + round.failures, 0),
      },
    ]
  })
}

/** Compares latency at one and at few connections, and the rate at many, for one gateway per store. */
export function compareStoreAims(
  rows: readonly StoreRow[],
  [one, few, many]: StoreFigures['plan']['connections'],
): readonly StoreAim[] {
  const find = (place: StoreRow['place'], connections: number, accounts: number) =>
    rows.find(
      (row) => row.place === place && row.connections === connections && row.accounts === accounts,
    )
  const accountCounts = new Set(rows.map(({ accounts }) => accounts).filter((count) => count > 0))
  return [...accountCounts].flatMap((accounts): StoreAim[] => {
    const who = describeAccounts(accounts)
    const latencies = [one, few].map((connections): StoreAim => {
      const floorMs = find('free', connections, 0)?.p50Ms ?? Number.NaN
      const addedMs = (find('postgres', connections, accounts)?.p50Ms ?? Number.NaN) - floorMs
      return {
        aim: `${who}: money on PostgreSQL adds at most ${addedByMoneyP50MsMax} ms (p50, connections: ${connections})`,
        measured: `${addedMs.toFixed(2)} ms`,
        isMet: addedMs <= addedByMoneyP50MsMax,
      }
    })
    const ratio =
      (find('postgres', many, accounts)?.requestsPerSecond ?? Number.NaN) /
      (find('sqlite', many, accounts)?.requestsPerSecond ?? Number.NaN)
    return [
      ...latencies,
      {
        aim: `${who}: on PostgreSQL at least half the requests/s of SQLite (connections: ${many})`,
        measured: `${ratio.toFixed(2)} ×`,
        isMet: ratio >= rateRatioMin,
      },
    ]
  })
}

export function formatStores(figures: StoreFigures, command: string): string {
  const { machine, plan } = figures
  const rows = summarizeStores(figures.rounds)
  const aims: readonly Column<StoreAim>[] = [
    { heading: 'aim', align: 'left', cell: (row) => row.aim },
    { heading: 'measured', align: 'right', cell: (row) => row.measured },
    { heading: 'met', align: 'left', cell: (row) => (row.isMet ? 'yes' : '**no**') },
  ]
  return [
    `Made by \`${command}\` on ${machine.date}, commit ${machine.commit}.\n`,
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, Linux ` +
      `${machine.kernel}, both stores on ${machine.workFileSystem}. Node ${machine.node} (SQLite ` +
      `${machine.sqlite}), PostgreSQL ${figures.server}, nginx ${machine.nginx}.\n`,
    formatTable(aims, compareStoreAims(rows, plan.connections)),
    formatTable(columnsOf(rows), rows),
    figures.money
      .map((line) => `- ${line.isRight ? 'right' : '**WRONG**'}: ${line.what}\n`)
      .join(''),
  ].join('\n')
}

const titles: Readonly<Record<StoreRow['place'], string>> = {
  none: 'no proxy',
  nginx: 'nginx proxy_pass',
  free: 'gateway, nothing charged',
  sqlite: 'SQLite',
  postgres: 'PostgreSQL, one gateway',
  'postgres-two': 'PostgreSQL, two gateways',
}

function columnsOf(rows: readonly StoreRow[]): readonly Column<StoreRow>[] {
  const figure = (heading: string, valueOf: (row: StoreRow) => number) =>
    ({
      heading,
      align: 'right',
      cell: (row: StoreRow) => formatFigure(valueOf(row)),
    }) satisfies Column<StoreRow>
  const addedMs = (row: StoreRow, valueOf: (row: StoreRow) => number): number => {
    const floor = rows.find(
      (other) => other.place === 'none' && other.connections === row.connections,
    )
    return row === floor || floor === undefined ? Number.NaN : valueOf(row) - valueOf(floor)
  }
  /** A row without a process of that kind has no such cost. */
  const cost = (us: number): number => (us === 0 ? Number.NaN : us)
  return [
    { heading: 'store', align: 'left', cell: (row) => titles[row.place] },
    { heading: 'accounts', align: 'left', cell: (row) => describeAccounts(row.accounts) },
    { heading: 'connections', align: 'right', cell: (row) => String(row.connections) },
    figure('requests/s', (row) => row.requestsPerSecond),
    figure('p50 ms', (row) => row.p50Ms),
    figure('p99 ms', (row) => row.p99Ms),
    figure('p50 added', (row) => addedMs(row, ({ p50Ms }) => p50Ms)),
    figure('p99 added', (row) => addedMs(row, ({ p99Ms }) => p99Ms)),
    figure('requests/commit', (row) => row.requestsPerTransaction),
    figure('commits/request', (row) => 1 / row.requestsPerTransaction),
    figure('gateway CPU µs/request', (row) => cost(row.gatewayCpuUs)),
    figure('PostgreSQL CPU µs/request', (row) =>
      row.place.startsWith('postgres') ? row.serverCpuUs : Number.NaN,
    ),
    { heading: 'failed', align: 'right', cell: (row) => String(row.failures) },
  ]
}

function describeAccounts(accounts: number): string {
  if (accounts === 0) return '–'
  return accounts === 1 ? 'one, busy' : accounts.toLocaleString('en')
}
