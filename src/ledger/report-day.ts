/**
 * The figures of table report_day: its columns, and what one exchange adds to them. Shared by what
 * writes the table and what audits it. A figure of an exchange that is not charged counts too.
 */
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Usage } from '../metering/usage.ts'
import type { Row } from '../storage/database.ts'
import { parseUsage } from './stored-usage.ts'
import { readPicos } from './usage.ts'

/** Upper bounds of the time to the first event, in milliseconds; the last bucket is above all of them. */
export const firstEventBoundsMs: readonly number[] = [
  100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000, 60_000,
]

export const reportKeyColumns = ['day', 'account_id', 'key_id', 'model', 'channel'] as const

export const reportCountColumns: readonly string[] = [
  'requests',
  'charged_requests',
  'errors',
  'failovers',
  'known_cost_requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  ...firstEventBoundsMs.map((boundMs) => `first_event_le_${boundMs}`),
  'first_event_above',
]

export const reportAmountColumns = [
  'revenue_picos',
  'own_cost_picos',
  'lost_cost_picos',
  'refunded_picos',
  'unknown_cost_revenue_picos',
] as const

const firstBucketIndex = reportCountColumns.indexOf('first_event_le_100')

/** The index of the bucket that counts this time; undefined where there was no first event. */
export function firstEventBucket(firstEventMs: number | null): number | undefined {
  if (firstEventMs === null) return undefined
  const index = firstEventBoundsMs.findIndex((boundMs) => firstEventMs <= boundMs)
  return index === -1 ? firstEventBoundsMs.length : index
}

/** The cache tokens that were written; the rest of `reported.cacheTokens` was read. */
export function cacheWriteTokens({ parts, reported }: Usage): number {
  let tokens = 0
  for (const { counts } of parts)
    tokens += (counts.cache_write_5m ?? 0) + (counts.cache_write_1h ?? 0)
  return Math.min(tokens, reported.cacheTokens)
}

/** What the figures need of an exchange. */
export interface ReportedExchange {
  readonly ending: string
  readonly attemptCount: number
  readonly amountPicos: Picos
  readonly operatorCostPicos: Picos
  readonly ownCostPicos: Picos
  readonly isOwnCostKnown: boolean
  readonly firstEventMs: number | null
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cache: number
    /** Of `cache`. */
    readonly cacheWrite: number
  }
}

/** Both in the order of their columns. */
export interface ReportFigures {
  readonly counts: number[]
  readonly amounts: Picos[]
}

export function noReport(): ReportFigures {
  return {
    counts: reportCountColumns.map(() => 0),
    amounts: reportAmountColumns.map(() => zeroPicos),
  }
}

/** `refundedPicos`: what was given back of the charge. */
export function addExchange(
  { counts, amounts }: ReportFigures,
  exchange: ReportedExchange,
  refundedPicos: Picos = zeroPicos,
): void {
  const { ending, attemptCount, tokens } = exchange
  const isError = ending !== 'completed' && ending !== 'client_left'
  const bucket = firstEventBucket(exchange.firstEventMs)
  const added = [
    1,
    exchange.amountPicos > 0n ? 1 : 0,
    isError ? 1 : 0,
    Math.max(attemptCount - 1, 0),
    exchange.isOwnCostKnown ? 1 : 0,
    tokens.input,
    tokens.output,
    tokens.cache - tokens.cacheWrite,
    tokens.cacheWrite,
  ]
  for (const [index, value] of added.entries()) counts[index] = (counts[index] ?? 0) + value
  if (bucket !== undefined) {
    const index = firstBucketIndex + bucket
    counts[index] = (counts[index] ?? 0) + 1
  }
  const { amountPicos, ownCostPicos, operatorCostPicos, isOwnCostKnown } = exchange
  for (const [index, amount] of [
    amountPicos,
    ownCostPicos,
    operatorCostPicos,
    refundedPicos,
    isOwnCostKnown ? zeroPicos : subtractPicos(amountPicos, refundedPicos),
  ].entries())
    amounts[index] = addPicos(amounts[index] ?? zeroPicos, amount)
}

/** Returns what the figures have grown by since an earlier moment. */
export function subtractReport(later: ReportFigures, earlier: ReportFigures): ReportFigures {
  return {
    counts: later.counts.map((count, index) => count - (earlier.counts[index] ?? 0)),
    amounts: later.amounts.map((amount, index) =>
      subtractPicos(amount, earlier.amounts[index] ?? zeroPicos),
    ),
  }
}

export function readReport(row: Row): ReportFigures {
  return {
    counts: reportCountColumns.map((column) => Number(row[column])),
    amounts: reportAmountColumns.map((column) => readPicos(row, column)),
  }
}

/** A stored exchange. The usage may be of any age: what it does not say counts as zero. */
export function readReportedExchange(row: Row): ReportedExchange {
  const usage = row['usage']
  const parsed = typeof usage === 'string' ? parseUsage(usage) : undefined
  const firstEventMs = row['first_event_ms']
  return {
    ending: String(row['ending']),
    attemptCount: Number(row['attempt_count']),
    amountPicos: readPicos(row, 'amount_picos'),
    operatorCostPicos: readPicos(row, 'operator_cost_picos'),
    ownCostPicos: readPicos(row, 'own_cost_picos'),
    isOwnCostKnown: Number(row['is_own_cost_known']) !== 0,
    firstEventMs: typeof firstEventMs === 'bigint' ? Number(firstEventMs) : null,
    tokens: {
      input: parsed?.reported.inputTokens ?? 0,
      output: parsed?.reported.outputTokens ?? 0,
      cache: parsed?.reported.cacheTokens ?? 0,
      cacheWrite: parsed === undefined ? 0 : cacheWriteTokens(parsed),
    },
  }
}
