/**
 * The sums of table report_day: its columns, and the part of one exchange in them. Shared by the code that
 * writes the table and the code that audits it. An exchange that is not charged counts too.
 */
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import { promptTokensOf, type Usage } from '../metering/usage.ts'
import type { Row } from '../storage/database.ts'
import { parseUsage } from './stored-usage.ts'
import { readPicos, type UsageSums } from './usage.ts'

/** Upper bounds of the time to the first event, in milliseconds; the last bucket is above all of them. */
export const firstEventBoundsMs = [
  100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000, 60_000,
] as const

export const reportKeyColumns = [
  'day',
  'account_id',
  'key_id',
  'model',
  'channel',
  'label',
] as const

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
function firstEventBucket(firstEventMs: number | null): number | undefined {
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

/** The facts of an exchange that its sums need. */
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

/** A sum for each column. */
export type ReportSums = Record<(typeof reportCountColumns)[number], number> &
  Record<(typeof reportAmountColumns)[number], Picos>

const nothing = Object.fromEntries([
  ...reportCountColumns.map((column) => [column, 0]),
  ...reportAmountColumns.map((column) => [column, zeroPicos]),
]) as Readonly<ReportSums>

export function noReport(): ReportSums {
  return { ...nothing }
}

/** Returns the sums in the order of the columns: counts, then amounts. So `noReport` has made them. */
export function reportValues(sums: Readonly<ReportSums>): (number | Picos)[] {
  return Object.values(sums)
}

/** `refundedPicos`: the refunded part of the charge. */
export function addExchange(
  sums: ReportSums,
  exchange: ReportedExchange,
  refundedPicos: Picos = zeroPicos,
): void {
  const { ending, attemptCount, tokens, amountPicos, isOwnCostKnown } = exchange
  sums.requests++
  if (amountPicos > 0n) sums.charged_requests++
  if (ending !== 'completed' && ending !== 'client_left') sums.errors++
  sums.failovers += Math.max(attemptCount - 1, 0)
  if (isOwnCostKnown) sums.known_cost_requests++
  sums.input_tokens += tokens.input
  sums.output_tokens += tokens.output
  sums.cache_read_tokens += tokens.cache - tokens.cacheWrite
  sums.cache_write_tokens += tokens.cacheWrite
  sums.prompt_tokens += tokens.prompt
  const bucket = firstEventColumns[firstEventBucket(exchange.firstEventMs) ?? -1]
  if (bucket !== undefined) sums[bucket]++
  sums.revenue_picos = addPicos(sums.revenue_picos, amountPicos)
  sums.own_cost_picos = addPicos(sums.own_cost_picos, exchange.ownCostPicos)
  sums.lost_cost_picos = addPicos(sums.lost_cost_picos, exchange.operatorCostPicos)
  sums.refunded_picos = addPicos(sums.refunded_picos, refundedPicos)
  if (isOwnCostKnown) return
  const netPicos = subtractPicos(amountPicos, refundedPicos)
  sums.unknown_cost_revenue_picos = addPicos(sums.unknown_cost_revenue_picos, netPicos)
}

/** Returns what an account is shown of them. */
export function usageOf(sums: Readonly<ReportSums>): UsageSums {
  return {
    requests: sums.charged_requests,
    inputTokens: sums.input_tokens,
    outputTokens: sums.output_tokens,
    cacheTokens: sums.cache_read_tokens + sums.cache_write_tokens,
    costPicos: subtractPicos(sums.revenue_picos, sums.refunded_picos),
  }
}

/** Returns what the sums have grown by since an earlier moment. */
export function subtractReport(
  later: Readonly<ReportSums>,
  earlier: Readonly<ReportSums>,
): ReportSums {
  const grown = { ...later }
  for (const column of reportCountColumns) grown[column] -= earlier[column]
  for (const column of reportAmountColumns)
    grown[column] = subtractPicos(grown[column], earlier[column])
  return grown
}

export function readReport(row: Row): ReportSums {
  const sums = noReport()
  for (const column of reportCountColumns) sums[column] = Number(row[column])
  for (const column of reportAmountColumns) sums[column] = readPicos(row, column)
  return sums
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
