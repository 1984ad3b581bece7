/** The figures of the growth part and its report as Markdown. */
import { type Column, formatFigure, formatTable } from '../report/document.ts'
import type { HistoryShape } from './history.ts'

export const historyShape: HistoryShape = {
  accounts: 200,
  keysPerAccount: 3,
  models: 4,
  requestsPerDay: 27_400,
}

export type GrowthStoreName = 'sqlite' | 'postgres'

/** One store at one size. */
export interface GrowthFigures {
  readonly store: GrowthStoreName
  readonly requests: number
  readonly days: number
  /** Number of tables that contain the exchanges. */
  readonly tables: number
  readonly bytesPerRequest: number
  /** One charge after the other, from the hold to the durable charge. */
  readonly chargeP50Ms: number
  readonly chargeP99Ms: number
  /** Per charge, with 64 in parallel. */
  readonly chargeTogetherUs: number
  readonly usageDayP50Us: number
  readonly usageMonthP50Us: number
  readonly usageTotalP50Us: number
  /** The hourly audit at the end of a day, which reads two whole days. */
  readonly auditSinceMs: number
  /** NaN if the store is too large for a full audit in this run. */
  readonly auditFullSeconds: number
  readonly isClean: boolean
}

/** The cost of deleting old exchanges, and of a charge meanwhile. */
export interface RetentionFigures {
  readonly store: GrowthStoreName
  readonly requests: number
  /** Dropped as whole tables. */
  readonly months: number
  /** Time to drop them; NaN if there are none. */
  readonly monthsMs: number
  /** Removed one by one, in small transactions. */
  readonly rows: number
  readonly rowsSeconds: number
  readonly chargeP50Ms: number
  readonly chargeP99Ms: number
  readonly chargeHighestMs: number
}

export interface Growth {
  readonly figures: readonly GrowthFigures[]
  readonly retention: readonly RetentionFigures[]
}

const storeTitles: Readonly<Record<GrowthStoreName, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
}

export interface GrowthRun {
  readonly command: string
  readonly date: string
  readonly commit: string
}

export function formatGrowth(growth: Growth, made: GrowthRun): string {
  const { accounts, keysPerAccount, models, requestsPerDay } = historyShape
  return (
    `Made by \`${made.command}\` on ${made.date}, commit ${made.commit}. Each store grows by ` +
    `${requestsPerDay.toLocaleString('en')} requests a day of ${accounts} accounts with ` +
    `${keysPerAccount} keys and ${models} models.\n\n` +
    `${formatTable(growthColumns, growth.figures)}\n` +
    `### Deleting old exchanges\n\n${formatTable(retentionColumns, growth.retention)}`
  )
}

function figure<Row>(heading: string, valueOf: (row: Row) => number): Column<Row> {
  return { heading, align: 'right', cell: (row) => formatFigure(valueOf(row)) }
}

function shared<Row extends { readonly store: GrowthStoreName; readonly requests: number }>(
  heading: string,
): readonly Column<Row>[] {
  return [
    { heading: 'store', align: 'left', cell: (row) => storeTitles[row.store] },
    { heading, align: 'right', cell: (row) => row.requests.toLocaleString('en') },
  ]
}

function whole<Row>(heading: string, valueOf: (row: Row) => number): Column<Row> {
  return { heading, align: 'right', cell: (row) => valueOf(row).toLocaleString('en') }
}

const growthColumns: readonly Column<GrowthFigures>[] = [
  ...shared<GrowthFigures>('requests so far'),
  whole('days', (row) => row.days),
  whole('tables', (row) => row.tables),
  figure('bytes/request', (row) => row.bytesPerRequest),
  figure('a charge, p50 ms', (row) => row.chargeP50Ms),
  figure('p99 ms', (row) => row.chargeP99Ms),
  figure('64 in parallel, µs each', (row) => row.chargeTogetherUs),
  figure('usage of a day, p50 µs', (row) => row.usageDayP50Us),
  figure('of a month', (row) => row.usageMonthP50Us),
  figure('in total', (row) => row.usageTotalP50Us),
  figure('hourly audit, ms', (row) => row.auditSinceMs),
  figure('full audit, s', (row) => row.auditFullSeconds),
  { heading: 'audit', align: 'left', cell: (row) => (row.isClean ? 'clean' : '**FAILED**') },
]

const retentionColumns: readonly Column<RetentionFigures>[] = [
  ...shared<RetentionFigures>('requests'),
  whole('months dropped', (row) => row.months),
  figure('dropped in, ms', (row) => row.monthsMs),
  whole('rows removed', (row) => row.rows),
  figure('took, s', (row) => row.rowsSeconds),
  figure('a charge meanwhile, p50 ms', (row) => row.chargeP50Ms),
  figure('p99 ms', (row) => row.chargeP99Ms),
  figure('highest ms', (row) => row.chargeHighestMs),
]
