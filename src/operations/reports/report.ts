/**
 * Reports: requests, tokens, revenue, own cost, margin and times by day, account, key, model and channel.
 * Every sum comes from table report_day, written with each charge, so a report adds up to the ledger
 * exactly, also for days whose requests are no longer kept. The gateway's own checks belong to no account.
 */
import { z } from 'zod'
import { readKeyNames } from '../../access/key-store.ts'
import { dayMs, utcDay, type Clock } from '../../base/clock.ts'
import { addPicos, formatUsd, picos, zeroPicos, type Picos } from '../../base/money.ts'
import { sumChecks, type CheckSum } from '../../channels/cluster/operator-cost-store.ts'
import { readAccountNames } from '../../ledger/account-store.ts'
import { hitRate } from '../../ledger/cache-use.ts'
import { noReport, type ReportSums } from '../../ledger/report-day.ts'
import {
  firstEventQuantile,
  listLargest,
  readReportLines,
  reportDimensions,
  type KeptValues,
  type ReportDimension,
  type ReportQuestion,
} from '../../ledger/report-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { pageForm, usd, type Answer } from '../answer-forms.ts'
import { accountReference, fromTime, largestCount, untilTime } from '../input.ts'
import { invalidField, operation, type OperationContext } from '../operation.ts'
import { pageFields, pageOf, readCursorWords } from '../paging.ts'

const defaultDays = 30
const daysMax = 3_660

const dimensionNames = Object.keys(reportDimensions) as readonly ReportDimension[]
const dimensionForm = `(${dimensionNames.join('|')})`
const byRule = `must be total, or a list of ${dimensionNames.join(', ')} with commas`

const dimensions = z
  .string(byRule)
  .default('day')
  .transform((text, context): readonly ReportDimension[] => {
    const names = text.trim() === 'total' ? [] : text.split(',').map((name) => name.trim())
    const known = dimensionNames.filter((name) => names.includes(name))
    if (known.length === names.length)
      return names.flatMap((name) => known.filter((one) => one === name))
    context.addIssue({ code: 'custom', message: byRule })
    return z.NEVER
  })
  .meta({
    pattern: `^(total|${dimensionForm}(,${dimensionForm}){0,${dimensionNames.length - 1}})$`,
  })

export const reportFields = {
  by: dimensions.describe(`What each line is for: total, or any of ${dimensionNames.join(',')}.`),
  from: fromTime.optional().describe('First day (UTC); 30 days up to today without it.'),
  to: untilTime.optional().describe('Last day (UTC, included); today without it.'),
  account: accountReference.optional().describe('Only this account, by name or id.'),
  key: z.string().min(1, 'must be the id of a key').optional().describe('Only this key, by id.'),
  model: z.string().min(1, 'must be the id of a model').optional().describe('Only this model.'),
  channel: z
    .string()
    .min(1, 'must be the name of a channel')
    .optional()
    .describe('Only this channel.'),
  /** All others are added up under an empty value. */
  largest: largestCount
    .optional()
    .describe('Only so many values of the last dimension, the largest; all others as one row.'),
  /** Chooses nothing where `largest` is not given. */
  largest_by: z
    .enum(['revenue', 'requests', 'tokens'])
    .optional()
    .describe('By which figure they are the largest; revenue without it.'),
}

type ReportInput = z.output<z.ZodObject<typeof reportFields>>

export const firstEventMs = z
  .int()
  .nullable()
  .meta({ description: 'Null without any first event.' })
const grouped = z.string().nullable().meta({ description: 'Null where the report is not by it.' })

const groupFields = {
  day: grouped,
  /** Empty for the gateway's own checks. */
  account_id: grouped,
  account: grouped,
  key_id: grouped,
  key: grouped,
  model: grouped,
  /** Empty where no channel answered. */
  channel: grouped,
}

export const cacheHitRate = z.number().nullable().meta({
  description: "The part of all input that came from the vendor's cache; null without input.",
})

export const totalTokens = z
  .int()
  .min(0)
  .meta({ description: 'All input, from the cache or not, and output; each token counts once.' })

export const sumFields = {
  requests: z.int(),
  charged_requests: z.int(),
  errors: z.int(),
  failovers: z.int(),
  checks: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  total_tokens: totalTokens,
  cache_hit_rate: cacheHitRate,
  /** Charges, before refunds. */
  revenue_usd: usd,
  refunded_usd: usd,
  own_cost_usd: usd.meta({ description: 'Exact: what vendors counted, at cost prices.' }),
  estimated_cost_usd: usd.meta({ description: 'Estimated: lost attempts, and checks.' }),
  /** Their own cost is not known, and in neither of these two. */
  unknown_cost_requests: z.int(),
  unknown_cost_revenue_usd: usd.meta({
    description: 'Charges of requests whose own cost is unknown, less refunds.',
  }),
  margin_usd: usd
    .nullable()
    .meta({ description: 'Null where the own cost of a request is unknown.' }),
  known_margin_usd: usd.meta({
    description: 'Margin without the requests whose own cost is unknown.',
  }),
  first_event_p50_ms: firstEventMs,
  first_event_p95_ms: firstEventMs,
}

const sumsForm = z.strictObject(sumFields)
const rowForm = z.strictObject({ ...groupFields, ...sumFields })

export type ReportSumsView = Answer<typeof sumsForm>
export type ReportRow = Answer<typeof rowForm>

const pagedInput = z.strictObject({
  ...reportFields,
  ...pageFields,
  /** `csv` is the whole report; see report-text.ts. */
  format: z.enum(['json', 'csv']).default('json'),
})

export const readReport = operation(
  { input: pagedInput, answer: pageForm(rowForm) },
  (context, input) =>
    context.database.snapshot(async (snapshot) => {
      const { cursor, limit, ...question } = input
      const after = readCursor(cursor, question.by)
      const lines = await readReportPage({ ...context, snapshot }, question, { after, limit })
      return pageOf(lines, {
        limit,
        cursorOf: ({ key }) => JSON.stringify(key),
        view: ({ row }) => row(),
      })
    }),
)

export interface ReportLine {
  /** A value for each of `by`. */
  readonly key: readonly string[]
  /** Makes the row: a whole report has many, and they are made in turns of the event loop. */
  readonly row: () => ReportRow
}

/** Reads one line more than `limit`, or several, where more follow. */
export async function readReportPage(
  { clock, snapshot }: Pick<OperationContext, 'clock'> & { readonly snapshot: Queryable },
  input: ReportInput,
  { after, limit }: { readonly after?: readonly string[] | undefined; readonly limit: number },
): Promise<readonly ReportLine[]> {
  const { by } = input
  const period = periodOf(clock, input)
  const rows = {
    fromDay: utcDay(period.fromMs),
    toDay: utcDay(period.untilMs),
    only: await filtersOf(snapshot, input),
  }
  const kept = await findKept(snapshot, input, rows)
  const lines = await readReportLines(snapshot, { ...rows, by, kept, after, countMax: limit + 1 })
  // Checks belong to no account and no key.
  const hasChecks = input.account === undefined && input.key === undefined
  const checks = hasChecks ? await sumChecks(snapshot, period) : []
  const merged = addChecks(lines, selectChecks(checks, input), { by, kept, after })
  const names = await readNames(snapshot, by, merged)
  return merged.map((line) => ({ key: line.key, row: () => viewLine(line, by, names) }))
}

function periodOf(
  clock: Clock,
  { from, to }: ReportInput,
): { readonly fromMs: number; readonly untilMs: number } {
  const todayMs = Math.floor(clock.now() / dayMs) * dayMs
  const untilMs = to ?? todayMs + dayMs
  const fromMs = from ?? untilMs - defaultDays * dayMs
  if (fromMs % dayMs !== 0) throw invalidField('from', 'must be a whole day (UTC)')
  if (untilMs % dayMs !== 0) throw invalidField('to', 'must be a whole day (UTC)')
  if (fromMs >= untilMs) throw invalidField('to', 'must not be before from')
  if (untilMs - fromMs > daysMax * dayMs)
    throw invalidField('from', `must be at most ${daysMax} days before to`)
  return { fromMs, untilMs }
}

async function filtersOf(snapshot: Queryable, { account, key, model, channel }: ReportInput) {
  const found = account === undefined ? undefined : await getAccount(snapshot, account)
  return {
    ...(found !== undefined && { account: found.id }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
  }
}

async function findKept(
  snapshot: Queryable,
  { by, largest, largest_by: rank }: ReportInput,
  rows: Pick<ReportQuestion, 'fromDay' | 'toDay' | 'only'>,
): Promise<KeptValues | undefined> {
  if (largest === undefined) return undefined
  const dimension = by.at(-1)
  if (dimension === undefined) throw invalidField('largest', 'must come with a key in by')
  const values = await listLargest(snapshot, {
    ...rows,
    dimension,
    rank: rank ?? 'revenue',
    countMax: largest,
  })
  return { dimension, values }
}

function readCursor(
  cursor: string | undefined,
  by: readonly ReportDimension[],
): readonly string[] | undefined {
  if (cursor === undefined) return undefined
  const parsed = readCursorWords(cursor)
  if (parsed?.length === by.length && by.length > 0) return parsed
  throw invalidField('cursor', 'must be the next_cursor of a page of the same report')
}

// --- checks ---------------------------------------------------------------------------------------

interface Checks {
  readonly count: number
  readonly knownPicos: Picos
  readonly estimatedPicos: Picos
}

interface Line {
  readonly key: readonly string[]
  readonly sums: ReportSums
  readonly checks: Checks
}

const noChecks: Checks = { count: 0, knownPicos: zeroPicos, estimatedPicos: zeroPicos }

function addCheck(sum: Checks, check: CheckSum): Checks {
  return {
    count: sum.count + check.checks,
    knownPicos: addPicos(sum.knownPicos, check.knownPicos),
    estimatedPicos: addPicos(sum.estimatedPicos, check.estimatedPicos),
  }
}

function selectChecks(
  checks: readonly CheckSum[],
  { model, channel }: ReportInput,
): readonly CheckSum[] {
  return checks.filter(
    (check) =>
      (model === undefined || check.model === model) &&
      (channel === undefined || check.channel === channel),
  )
}

/** Adds the checks to the lines of a page, and lines for checks without requests; in order. */
function addChecks(
  lines: readonly { readonly key: readonly string[]; readonly sums: ReportSums }[],
  checks: readonly CheckSum[],
  { by, kept, after }: Pick<ReportQuestion, 'by' | 'kept' | 'after'>,
): readonly Line[] {
  const byKey = new Map<string, Line>()
  for (const line of lines) byKey.set(nameOf(line.key), { ...line, checks: noChecks })
  for (const check of checks) {
    const key = by.map((dimension) => keptValue(valueOf(check, dimension), dimension, kept))
    if (after !== undefined && nameOf(key) <= nameOf(after)) continue
    const line = byKey.get(nameOf(key)) ?? { key, sums: noReport(), checks: noChecks }
    byKey.set(nameOf(key), { ...line, checks: addCheck(line.checks, check) })
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
  return dimension === 'account' || dimension === 'key' ? '' : check[dimension]
}

// --- view -----------------------------------------------------------------------------------------

interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

async function readNames(
  snapshot: Queryable,
  by: readonly ReportDimension[],
  lines: readonly Line[],
): Promise<Names> {
  const rangeOf = (dimension: ReportDimension) => {
    const index = by.indexOf(dimension)
    const ids = lines.map(({ key }) => key[index] ?? '').filter((id) => id !== '')
    const [first, ...others] = ids.sort()
    return index < 0 || first === undefined ? undefined : { first, last: others.at(-1) ?? first }
  }
  const accounts = rangeOf('account')
  const keys = rangeOf('key')
  return {
    accounts: accounts === undefined ? new Map() : await readAccountNames(snapshot, accounts),
    keys: keys === undefined ? new Map() : await readKeyNames(snapshot, keys),
  }
}

/** Shows sums and checks as a report by `total` does. */
export function viewTotal(sums: ReportSums, checks: readonly CheckSum[]): ReportSumsView {
  return viewSums(sums, checks.reduce(addCheck, noChecks))
}

function viewLine(
  { key, sums, checks }: Line,
  by: readonly ReportDimension[],
  { accounts, keys }: Names,
): ReportRow {
  const dimension = (name: ReportDimension): string | null => key[by.indexOf(name)] ?? null
  const accountId = dimension('account')
  const keyId = dimension('key')
  return {
    day: dimension('day'),
    account_id: accountId,
    account: accountId === null ? null : (accounts.get(accountId) ?? ''),
    key_id: keyId,
    key: keyId === null ? null : (keys.get(keyId) ?? ''),
    model: dimension('model'),
    channel: dimension('channel'),
    ...viewSums(sums, checks),
  }
}

function viewSums(sums: ReportSums, checks: Checks): ReportSumsView {
  const { revenue_picos: revenue, refunded_picos: refunded } = sums
  const unknown = sums.requests - sums.known_cost_requests
  const ownCost = addPicos(sums.own_cost_picos, checks.knownPicos)
  const estimated = addPicos(sums.lost_cost_picos, checks.estimatedPicos)
  const unknownRevenue = sums.unknown_cost_revenue_picos
  const margin = picos(revenue - refunded - unknownRevenue - ownCost - estimated)
  const marginUsd = formatUsd(margin)
  return {
    requests: sums.requests,
    charged_requests: sums.charged_requests,
    errors: sums.errors,
    failovers: sums.failovers,
    checks: checks.count,
    input_tokens: sums.input_tokens,
    output_tokens: sums.output_tokens,
    cache_read_tokens: sums.cache_read_tokens,
    cache_write_tokens: sums.cache_write_tokens,
    total_tokens: sums.prompt_tokens + sums.output_tokens,
    cache_hit_rate: hitRate({
      promptTokens: sums.prompt_tokens,
      cacheReadTokens: sums.cache_read_tokens,
    }),
    revenue_usd: formatUsd(revenue),
    refunded_usd: formatUsd(refunded),
    own_cost_usd: formatUsd(ownCost),
    estimated_cost_usd: formatUsd(estimated),
    unknown_cost_requests: unknown,
    unknown_cost_revenue_usd: formatUsd(unknownRevenue),
    margin_usd: unknown > 0 ? null : marginUsd,
    known_margin_usd: marginUsd,
    first_event_p50_ms: firstEventQuantile(sums, 0.5),
    first_event_p95_ms: firstEventQuantile(sums, 0.95),
  }
}
