/**
 * Reads the sums of table report_day for reports: grouped by any of its keys, over whole days, page by
 * page. Sums are exact. Writes nothing; settling and refunds do (report-day.ts).
 */
import { picos, type Picos } from '../base/money.ts'
import { Conditions } from '../storage/conditions.ts'
import type { Queryable, Row } from '../storage/database.ts'
import {
  firstEventBoundsMs,
  firstEventColumns,
  noReport,
  reportAmountColumns,
  reportCountColumns,
  type ReportSums,
} from './report-day.ts'

/** What a report can be grouped by, and the column of each. */
export const reportDimensions = {
  day: 'day',
  account: 'account_id',
  key: 'key_id',
  model: 'model',
  channel: 'channel',
  label: 'label',
} as const

export type ReportDimension = keyof typeof reportDimensions

export interface ReportQuestion {
  /** Rows are in this order; empty = one row for everything. */
  readonly by: readonly ReportDimension[]
  /** `YYYY-MM-DD`; from inclusive, to exclusive. */
  readonly fromDay: string
  readonly toDay: string
  /** Only rows with these values. */
  readonly only: Readonly<Partial<Record<ReportDimension, string>>>
  /** Other values of this key than these are added up under an empty one. */
  readonly kept?: KeptValues | undefined
  /** The key of the last row of the page before. */
  readonly after?: readonly string[] | undefined
  /** Only the rows with these keys. */
  readonly keys?: readonly (readonly string[])[] | undefined
  /** Only these sums, all others as zero; all of them where it is absent. */
  readonly sums?: readonly (keyof ReportSums)[] | undefined
  readonly countMax?: number | undefined
}

export interface KeptValues {
  readonly dimension: ReportDimension
  readonly values: readonly string[]
}

export interface ReportLine {
  /** A value for each of `by`. */
  readonly key: readonly string[]
  readonly sums: ReportSums
}

export async function readReportLines(
  queryable: Queryable,
  { by, kept, after, keys, sums, countMax, ...rows }: ReportQuestion,
): Promise<readonly ReportLine[]> {
  const conditions = conditionsOf(rows)
  const columns = by.map((dimension) =>
    dimension === kept?.dimension
      ? keptColumn(reportDimensions[dimension], conditions.placesOf(kept.values))
      : reportDimensions[dimension],
  )
  conditions.follow(columns, after)
  if (keys !== undefined && columns.length > 0) {
    const values = keys.map((key) => `(${conditions.placesOf(key)})`)
    conditions.add(`(${columns.join(', ')}) IN (VALUES ${values.join(', ')})`)
  }
  const order = columns.map((_, index) => index + 1).join(', ')
  const asked = sums === undefined ? parts : partsOf(sums)
  const { table, summed } = sourceOf(by, { conditions: conditions.text, parts: asked })
  const shown = columns.map((column, index) => `${column} AS key_${index}`)
  const found = await queryable.query(
    `SELECT ${[...shown, ...(summed === parts ? reportSums : sumsOf(summed))].join(', ')} FROM ${table}
      ${columns.length === 0 ? '' : `GROUP BY ${order} ORDER BY ${order}`}
      ${countMax === undefined ? '' : `LIMIT ${conditions.place(countMax)}`}`,
    conditions.values,
  )
  return found.map((row) => ({
    key: columns.map((_, index) => String(row[`key_${index}`])),
    sums: readSums(row),
  }))
}

function keptColumn(column: string, kept: string): string {
  return kept === ''
    ? "CAST('' AS TEXT)"
    : `CASE WHEN ${column} IN (${kept}) THEN ${column} ELSE '' END`
}

/** Values to add up, by the name of their sum. */
type Parts = Readonly<Record<string, string>>

/**
 * Returns what to add up, and from where. The table is in the order of days and models, so it adds up each
 * day of each model without sorting, and only these few sums are sorted for the report.
 */
function sourceOf(
  by: readonly ReportDimension[],
  { conditions, parts }: { readonly conditions: string; readonly parts: Parts },
): { readonly table: string; readonly summed: Parts } {
  const rows = `report_day WHERE ${conditions}`
  const isOfModels = by.includes('model') && by.every((key) => key === 'day' || key === 'model')
  if (!isOfModels) return { table: rows, summed: parts }
  const sums = Object.entries(parts).map(([name, part]) => `SUM(${part}) AS ${name}`)
  return {
    table: `(SELECT ${['day', 'model', ...sums].join(', ')} FROM ${rows} GROUP BY day, model) AS model_day`,
    summed: Object.fromEntries(Object.keys(parts).map((name) => [name, name])),
  }
}

function sumsOf(parts: Parts): readonly string[] {
  return Object.entries(parts).map(
    ([name, part]) => `CAST(COALESCE(SUM(${part}), 0) AS BIGINT) AS ${name}`,
  )
}

type Rows = Pick<ReportQuestion, 'fromDay' | 'toDay' | 'only'>

function conditionsOf({ fromDay, toDay, only }: Rows): Conditions {
  const conditions = new Conditions()
  conditions.compare('day >=', fromDay)
  conditions.compare('day <', toDay)
  for (const [dimension, name] of Object.entries(reportDimensions))
    conditions.compare(`${name} =`, only[dimension as ReportDimension])
  return conditions
}

/** The sums by which the values of a key are ranked. Only the order comes from them: the sums stay exact. */
const ranks = {
  revenue: 'revenue_picos * 1.0',
  requests: 'requests',
  tokens: 'prompt_tokens + output_tokens',
} as const

export type ReportRank = keyof typeof ranks

/** Returns the values of a key with the most of a sum, the largest first; never the empty value. */
export async function listLargest(
  queryable: Queryable,
  {
    dimension,
    rank,
    countMax,
    ...rows
  }: Rows & {
    readonly dimension: ReportDimension
    readonly rank: ReportRank
    readonly countMax: number
  },
): Promise<readonly string[]> {
  const conditions = conditionsOf(rows)
  const column = reportDimensions[dimension]
  conditions.add(`${column} <> ''`)
  const { table, summed } = sourceOf([dimension], {
    conditions: conditions.text,
    parts: { ranked: ranks[rank] },
  })
  const ranking = Object.values(summed).map((part) => `SUM(${part}) DESC`)
  const found = await queryable.query(
    `SELECT ${column} AS value FROM ${table}
      GROUP BY ${column} ORDER BY ${[...ranking, column].join(', ')} LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return found.map((row) => String(row['value']))
}

/** Sums of the requests of one model on one channel in a day. */
export interface DayTraffic {
  readonly model: string
  readonly channel: string
  readonly requests: number
  readonly errors: number
  readonly knownCostRequests: number
  readonly ownCostPicos: Picos
  readonly lostCostPicos: Picos
}

/** Sums one day by model and channel. It reads few columns, because boards ask for it every few seconds. */
export async function readDayTraffic(
  queryable: Queryable,
  day: string,
): Promise<readonly DayTraffic[]> {
  const rows = await queryable.query(
    `SELECT model, channel, ${trafficSums} FROM report_day
      WHERE day = $1 GROUP BY model, channel`,
    [day],
  )
  return rows.map((row) => ({
    model: String(row['model']),
    channel: String(row['channel']),
    requests: Number(row['requests']),
    errors: Number(row['errors']),
    knownCostRequests: Number(row['known_cost_requests']),
    ownCostPicos: readAmountSum(row, 'own_cost_picos'),
    lostCostPicos: readAmountSum(row, 'lost_cost_picos'),
  }))
}

function countParts(columns: readonly string[]): Parts {
  return Object.fromEntries(columns.map((column) => [column, column]))
}

/** In two halves: a plain sum could exceed 64 bits. */
function amountParts(columns: readonly string[]): Parts {
  return Object.fromEntries(
    columns.flatMap((column) => [
      [`${column}_high`, `${column} >> 32`],
      [`${column}_low`, `${column} & 4294967295`],
    ]),
  )
}

const parts = partsOf([...reportCountColumns, ...reportAmountColumns])

function partsOf(sums: readonly (keyof ReportSums)[]): Parts {
  const isAsked = (column: keyof ReportSums): boolean => sums.includes(column)
  return {
    ...countParts(reportCountColumns.filter(isAsked)),
    ...amountParts(reportAmountColumns.filter(isAsked)),
  }
}

/** The overview asks for these every few seconds. */
const reportSums = sumsOf(parts)
const trafficSums = sumsOf(
  partsOf(['requests', 'errors', 'known_cost_requests', 'own_cost_picos', 'lost_cost_picos']),
).join(', ')

function readSums(row: Row): ReportSums {
  const sums = noReport()
  for (const column of reportCountColumns) sums[column] = Number(row[column] ?? 0)
  for (const column of reportAmountColumns) sums[column] = readAmountSum(row, column)
  return sums
}

function readAmountSum(row: Row, column: string): Picos {
  const high = BigInt(String(row[`${column}_high`] ?? 0))
  return picos(high * 2n ** 32n + BigInt(String(row[`${column}_low`] ?? 0)))
}

/**
 * Returns the time to the first event, in whole milliseconds, that this share of the requests (0 to 1)
 * does not exceed; null without any. Within its bucket it is interpolated; above all bounds it is the last.
 */
export function firstEventQuantile(sums: Readonly<ReportSums>, share: number): number | null {
  let total = 0
  for (const column of firstEventColumns) total += sums[column]
  if (total === 0) return null
  let left = share * total
  let lowerMs = 0
  for (const [index, column] of firstEventColumns.entries()) {
    const count = sums[column]
    const upperMs = firstEventBoundsMs[index] ?? lowerMs
    if (count > 0 && left <= count)
      return Math.round(lowerMs + (upperMs - lowerMs) * (left / count))
    left -= count
    lowerMs = upperMs
  }
  return lowerMs
}
