/**
 * The lines of a report: the sums of table report_day together with the gateway's own checks, in the order of
 * their keys, or ranked by a figure over the whole report. Page by page; what is read for one page does not
 * depend on its place.
 */
import { utcDay } from '../../base/clock.ts'
import type { CheckSum } from '../../channels/cluster/operator-cost-store.ts'
import { noReport, type ReportSums } from '../../ledger/report-day.ts'
import {
  readReportLines,
  type KeptValues,
  type ReportDimension,
  type ReportQuestion,
} from '../../ledger/report-store.ts'
import { invalidField } from '../operation.ts'
import { readCursorWords } from '../paging.ts'
import {
  addCheck,
  noChecks,
  reportFigures,
  type Checks,
  type ReportFigure,
} from './report-figures.ts'
import { daysOf, openBefore, type OpenReport } from './report-question.ts'

export interface Line {
  /** A value for each of `by`. */
  readonly key: readonly string[]
  readonly sums: ReportSums
  readonly checks: Checks
  /** Only in a ranked report. */
  readonly rank?: Rank
}

/** Null comes last in either order. */
type Rank = number | string | null

/** Which lines to read. */
type Part = Partial<Pick<ReportQuestion, 'after' | 'keys' | 'sums' | 'countMax'>>

/** Reads lines in the order of their keys. Where more than `countMax` follow, it may return some of them. */
export async function readLines(
  { snapshot, by, period, only, kept, checks }: OpenReport,
  part: Part,
): Promise<readonly Line[]> {
  const lines = await readReportLines(snapshot, { ...daysOf(period), by, only, kept, ...part })
  return addChecks(lines, checks, { by, kept, ...part })
}

/** Adds the checks to the lines, and lines for checks without requests; in order. */
function addChecks(
  lines: readonly { readonly key: readonly string[]; readonly sums: ReportSums }[],
  checks: readonly CheckSum[],
  { by, kept, after, keys }: Pick<ReportQuestion, 'by' | 'kept'> & Part,
): readonly Line[] {
  const asked = keys && new Set(keys.map(nameOf))
  const byKey = new Map<string, Line>()
  for (const line of lines) byKey.set(nameOf(line.key), { ...line, checks: noChecks })
  for (const check of checks) {
    const key = by.map((dimension) => keptValue(valueOf(check, dimension), dimension, kept))
    const name = nameOf(key)
    if ((after !== undefined && name <= nameOf(after)) || asked?.has(name) === false) continue
    const line = byKey.get(name) ?? { key, sums: noReport(), checks: noChecks }
    byKey.set(name, { ...line, checks: addCheck(line.checks, check) })
  }
  return [...byKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, line]) => line)
}

/** Sorts as the columns do: no value contains U+0000. */
function nameOf(key: readonly string[]): string {
  return key.join('\0')
}

function keptValue(value: string, dimension: ReportDimension, kept: KeptValues | undefined) {
  return kept?.dimension !== dimension || kept.values.includes(value) ? value : ''
}

function valueOf(check: CheckSum, dimension: ReportDimension): string {
  const isOfRequests = dimension === 'account' || dimension === 'key' || dimension === 'label'
  return isOfRequests ? '' : check[dimension]
}

/** Returns the lines with these keys, in the order of the keys. */
async function readThese(
  open: OpenReport,
  keys: readonly (readonly string[])[],
): Promise<readonly (Line | undefined)[]> {
  const lines = keys.length === 0 ? [] : await readLines(open, { keys })
  const byName = new Map(lines.map((line) => [nameOf(line.key), line]))
  return keys.map((key) => byName.get(nameOf(key)))
}

/** Returns what each line was in the period before; a day stands beside the day at its place then. */
export async function readBefore(
  open: OpenReport,
  lines: readonly Line[],
): Promise<readonly (Line | undefined)[]> {
  const place = open.by.indexOf('day')
  const shiftMs = open.period.untilMs - open.period.fromMs
  const earlier = (day: string): string => utcDay(Date.parse(day) - shiftMs)
  const keys = lines.map(({ key }) =>
    key.map((value, index) => (index === place ? earlier(value) : value)),
  )
  return readThese(await openBefore(open), keys)
}

// --- ranked ---------------------------------------------------------------------------------------

export interface Ranking {
  readonly sort: ReportFigure | ReportDimension
  readonly order: 'asc' | 'desc'
}

/** The names of accounts and keys, by their ids. */
export interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

type Ranked = Pick<Line, 'key'> & { readonly rank: Rank }

/** All lines of a report are sorted at once, by few of their sums each. */
const rankedMax = 50_000

/** Reads one page in the order of a figure or a key, and one line more where more follow. */
export async function readRanked(
  open: OpenReport,
  ranking: Ranking,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
  readNames: (lines: readonly Line[]) => Promise<Names>,
): Promise<readonly Line[]> {
  const compare = comparing(ranking.order)
  const ranked = (await rank(open, ranking, readNames)).toSorted(compare)
  const last = cursor === undefined ? undefined : readRankedKey(cursor, open, ranking, ranked)
  const rest = last === undefined ? ranked : ranked.filter((line) => compare(line, last) > 0)
  const shown = rest.slice(0, limit + 1)
  const keys = shown.map(({ key }) => key)
  const found = await readThese(open, keys)
  return shown.map((line, index) => ({ ...nothing, ...found[index], ...line }))
}

const nothing = { sums: noReport(), checks: noChecks }

async function rank(
  open: OpenReport,
  { sort }: Ranking,
  readNames: (lines: readonly Line[]) => Promise<Names>,
): Promise<readonly Ranked[]> {
  const figure = isFigure(sort) ? reportFigures[sort] : undefined
  const place = open.by.findIndex((dimension) => dimension === sort)
  if (figure === undefined && place < 0)
    throw invalidField('sort', 'must be a figure, or one of the keys in by')
  const lines = await readLines(open, { sums: figure?.sums ?? [], countMax: rankedMax + 1 })
  if (lines.length > rankedMax)
    throw invalidField('sort', `must be absent: the report has more than ${rankedMax} rows`)
  if (figure !== undefined)
    return lines.map(({ key, sums, checks }) => {
      const value = figure.of(sums, checks)
      return { key, rank: typeof value === 'bigint' ? Number(value) : value }
    })
  const { accounts, keys } = await readNames(lines)
  const names = sort === 'account' ? accounts : sort === 'key' ? keys : undefined
  return lines.map(({ key }) => {
    const value = key[place] ?? ''
    return { key, rank: names?.get(value) ?? value }
  })
}

function isFigure(word: string): word is ReportFigure {
  return Object.hasOwn(reportFigures, word)
}

function comparing(order: Ranking['order']): (one: Ranked, other: Ranked) => number {
  const factor = order === 'asc' ? 1 : -1
  return (one, other) => {
    const [left, right] = [one.rank, other.rank]
    if (left !== right) {
      if (left === null || right === null) return left === null ? 1 : -1
      return left < right ? -factor : factor
    }
    return nameOf(one.key) < nameOf(other.key) ? -1 : Number(nameOf(one.key) !== nameOf(other.key))
  }
}

/** Makes the sort key of a ranked line. A name is not in it: names may be as long as a cursor. */
export function rankedKey({ sort, order }: Ranking, { key, rank }: Line): string {
  return JSON.stringify([sort, order, typeof rank === 'number' ? String(rank) : '', ...key])
}

function readRankedKey(
  cursor: string,
  { by }: OpenReport,
  { sort, order }: Ranking,
  ranked: readonly Ranked[],
): Ranked {
  const [ofSort, ofOrder, number = '', ...key] = readCursorWords(cursor) ?? []
  const isOf = ofSort === sort && ofOrder === order && key.length === by.length
  if (isOf && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(number)) return { key, rank: Number(number) }
  const named = isOf ? ranked.find((line) => nameOf(line.key) === nameOf(key)) : undefined
  if (named !== undefined) return named
  throw invalidField('cursor', 'must be the next_cursor of a page in the same order')
}

/** Reads the cursor of a report in the order of its keys. */
export function readKeyCursor(
  cursor: string | undefined,
  by: readonly ReportDimension[],
): readonly string[] | undefined {
  if (cursor === undefined) return undefined
  const parsed = readCursorWords(cursor)
  if (parsed?.length === by.length && by.length > 0) return parsed
  throw invalidField('cursor', 'must be the next_cursor of a page of the same report')
}
