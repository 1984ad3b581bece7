/**
 * The figures of table report_day: its columns, and what one exchange adds to them. Shared by what
 * writes the table and what audits it. A figure of an exchange that is not charged counts too.
 */
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import { promptTokensOf, type Usage } from '../metering/usage.ts'
import type { Row } from '../storage/database.ts'
import { parseUsage } from './stored-usage.ts'
import { readPicos, type Figures } from './usage.ts'

/** Upper bounds of the time to the first event, in milliseconds; the last bucket is above all of them. */
export const firstEventBoundsMs = [
  100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000, 60_000,
] as const

export const reportKeyColumns = ['day', 'account_id', 'key_id', 'model', 'channel'] as const

/** A column for each bucket, in the order of the bounds. */
export const firstEventColumns = [
  ...firstEventBoundsMs.map((boundMs) => `first_event_le_${boundMs}` as const),
  'first_event_above' as const,
]

export const reportCountColumns = [
  'requests' as const,
  'charged_requests' as const,
  'errors' as const,
  'failovers' as const,
  'known_cost_requests' as const,
  'input_tokens' as const,
  'output_tokens' as const,
  'cache_read_tokens' as const,
  'cache_write_tokens' as const,
  'prompt_tokens' as const,
  ...firstEventColumns,
]

export const reportAmountColumns = [
  'revenue_picos',
  'own_cost_picos',
  'lost_cost_picos',
  'refunded_picos',
  'unknown_cost_revenue_picos',
] as const

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

/** All input that the vendor has counted, from its cache or not: formats count it apart, or inside. */
export function promptTokens({ parts, reported }: Usage): number {
  const counted = parts.reduce((sum, part) => sum + promptTokensOf(part), 0)
  return Math.min(counted, reported.inputTokens + reported.cacheTokens)
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
    /** All input, that of the cache too. */
    readonly prompt: number
  }
}

/** A figure for each column. */
export type ReportFigures = Record<(typeof reportCountColumns)[number], number> &
  Record<(typeof reportAmountColumns)[number], Picos>

const nothing = Object.fromEntries([
  ...reportCountColumns.map((column) => [column, 0]),
  ...reportAmountColumns.map((column) => [column, zeroPicos]),
]) as Readonly<ReportFigures>

export function noReport(): ReportFigures {
  return { ...nothing }
}

/** Returns the figures in the order of the columns: counts, then amounts. */
export function reportValues(figures: Readonly<ReportFigures>): (number | Picos)[] {
  return [...reportCountColumns, ...reportAmountColumns].map((column) => figures[column])
}

/** `refundedPicos`: the refunded part of the charge. */
export function addExchange(
  figures: ReportFigures,
  exchange: ReportedExchange,
  refundedPicos: Picos = zeroPicos,
): void {
  const { ending, attemptCount, tokens, amountPicos, isOwnCostKnown } = exchange
  figures.requests++
  if (amountPicos > 0n) figures.charged_requests++
  if (ending !== 'completed' && ending !== 'client_left') figures.errors++
  figures.failovers += Math.max(attemptCount - 1, 0)
  if (isOwnCostKnown) figures.known_cost_requests++
  figures.input_tokens += tokens.input
  figures.output_tokens += tokens.output
  figures.cache_read_tokens += tokens.cache - tokens.cacheWrite
  figures.cache_write_tokens += tokens.cacheWrite
  figures.prompt_tokens += tokens.prompt
  const bucket = firstEventColumns[firstEventBucket(exchange.firstEventMs) ?? -1]
  if (bucket !== undefined) figures[bucket]++
  const add = (column: (typeof reportAmountColumns)[number], amount: Picos): void => {
    figures[column] = addPicos(figures[column], amount)
  }
  add('revenue_picos', amountPicos)
  add('own_cost_picos', exchange.ownCostPicos)
  add('lost_cost_picos', exchange.operatorCostPicos)
  add('refunded_picos', refundedPicos)
  if (!isOwnCostKnown) add('unknown_cost_revenue_picos', subtractPicos(amountPicos, refundedPicos))
}

/** Returns what an account is shown of them. */
export function usageOf(figures: Readonly<ReportFigures>): Figures {
  return {
    requests: figures.charged_requests,
    inputTokens: figures.input_tokens,
    outputTokens: figures.output_tokens,
    cacheTokens: figures.cache_read_tokens + figures.cache_write_tokens,
    costPicos: subtractPicos(figures.revenue_picos, figures.refunded_picos),
  }
}

/** Returns what the figures have grown by since an earlier moment. */
export function subtractReport(
  later: Readonly<ReportFigures>,
  earlier: Readonly<ReportFigures>,
): ReportFigures {
  const grown = { ...later }
  for (const column of reportCountColumns) grown[column] -= earlier[column]
  for (const column of reportAmountColumns)
    grown[column] = subtractPicos(grown[column], earlier[column])
  return grown
}

export function readReport(row: Row): ReportFigures {
  const figures = noReport()
  for (const column of reportCountColumns) figures[column] = Number(row[column])
  for (const column of reportAmountColumns) figures[column] = readPicos(row, column)
  return figures
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
      prompt: parsed === undefined ? 0 : promptTokens(parsed),
    },
  }
}
