/** The growth part as Markdown: a row for each store and size, then what letting go costs. */
import { formatFigure, formatTable, type Column } from '../report/table.ts'
import {
  historyShape,
  type Growth,
  type GrowthFigures,
  type GrowthStoreName,
  type RetentionFigures,
} from './figures.ts'

const storeTitles: Readonly<Record<GrowthStoreName, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
}

export interface GrowthMade {
  readonly command: string
  readonly date: string
  readonly commit: string
}

export function formatGrowth(growth: Growth, made: GrowthMade): string {
  const { accounts, keysPerAccount, models, requestsPerDay } = historyShape
  return (
    `Made by \`${made.command}\` on ${made.date}, commit ${made.commit}. Each store grows by ` +
    `${requestsPerDay.toLocaleString('en')} requests a day of ${accounts} accounts with ` +
    `${keysPerAccount} keys and ${models} models.\n\n` +
    `${formatTable(growthColumns, growth.figures)}\n` +
    `### Old exchanges go\n\n${formatTable(retentionColumns, growth.retention)}`
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
  figure('64 at once, µs each', (row) => row.chargeTogetherUs),
  figure('usage of a day, p50 µs', (row) => row.usageDayP50Us),
  figure('of a month', (row) => row.usageMonthP50Us),
  figure('in total', (row) => row.usageTotalP50Us),
  figure('hourly audit, ms', (row) => row.auditSinceMs),
  figure('full audit, s', (row) => row.auditFullSeconds),
  { heading: 'books', align: 'left', cell: (row) => (row.isClean ? 'agree' : '**DIFFER**') },
]

const retentionColumns: readonly Column<RetentionFigures>[] = [
  ...shared<RetentionFigures>('requests'),
  whole('months dropped', (row) => row.months),
  figure('gone after, ms', (row) => row.monthsMs),
  whole('rows removed', (row) => row.rows),
  figure('took, s', (row) => row.rowsSeconds),
  figure('a charge beside it, p50 ms', (row) => row.chargeP50Ms),
  figure('p99 ms', (row) => row.chargeP99Ms),
  figure('highest ms', (row) => row.chargeHighestMs),
]
