/**
 * Reads an account's usage for GET /v1/usage and the usage command. Reads daily and monthly sums
 * only, so a call costs the same in any year. Works on either store, inside or outside a transaction.
 * The sums of a day are those of its report, added up over the channels.
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import type { ModelUsage, UsageSummary, UsagePeriod } from './ledger.ts'

export interface UsageQuestion {
  readonly accountId: string
  readonly period: UsagePeriod
  /** Wall time; decides which UTC day and month are the current ones. */
  readonly atMs: number
}

/** The month in table usage_month that means all time. */
export const totalMonth = 'total'

/** Undefined where there is no such account. */
export async function readUsage(
  database: Queryable,
  question: UsageQuestion,
): Promise<UsageSummary | undefined> {
  const { accountId, atMs } = question
  const [account] = await database.query(
    `SELECT balance_picos, daily_limit_picos, rpm, window_minutes FROM account WHERE id = $1`,
    [accountId],
  )
  if (account === undefined) return undefined
  const today = await readDay(database, accountId, utcDay(atMs))
  return {
    balancePicos: readPicos(account, 'balance_picos'),
    dailyLimitPicos: readPicos(account, 'daily_limit_picos'),
    dailyUsedPicos: today.reduce((sum, model) => picos(sum + model.costPicos), zeroPicos),
    windowMinutes: Number(account['window_minutes']),
    rpm: Number(account['rpm']),
    byModel: question.period === 'day' ? today : await readMonth(database, question),
  }
}

/** What counts toward limits and what an account is shown: charges less refunds, by the day of the charge. */
export const dayCost = 'revenue_picos - refunded_picos'

async function readDay(database: Queryable, accountId: string, day: string): Promise<ModelUsage[]> {
  const question = { accountIds: [accountId], from: day, to: day, by: 'model' } as const
  const days = await readDays(database, question)
  return days
    .map(({ accountId: _account, day: _day, of: model, ...sums }) => ({ model, ...sums }))
    .sort(byCost)
}

async function readMonth(database: Queryable, question: UsageQuestion): Promise<ModelUsage[]> {
  const month = question.period === 'total' ? totalMonth : utcMonth(question.atMs)
  const rows = await database.query(
    `SELECT model, requests, input_tokens, output_tokens, cache_tokens, cost_picos
       FROM usage_month WHERE account_id = $1 AND month = $2`,
    [question.accountId, month],
  )
  return rows.map((row) => ({ model: String(row['model']), ...readUsageSums(row) })).sort(byCost)
}

/** Sums of a day or month, of one model or in total. */
export interface UsageSums {
  requests: number
  inputTokens: number
  outputTokens: number
  cacheTokens: number
  costPicos: Picos
}

export const noUsage: Readonly<UsageSums> = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheTokens: 0,
  costPicos: zeroPicos,
}

/** Where it is false, all of them are zero. */
export function isUsed({ requests, inputTokens, outputTokens, cacheTokens }: UsageSums): boolean {
  return requests + inputTokens + outputTokens + cacheTokens > 0
}

export function readUsageSums(row: Row): UsageSums {
  return { ...readCounts(row), costPicos: readPicos(row, 'cost_picos') }
}

function readCounts(row: Row): Omit<UsageSums, 'costPicos'> {
  return {
    requests: Number(row['requests']),
    inputTokens: Number(row['input_tokens']),
    outputTokens: Number(row['output_tokens']),
    cacheTokens: Number(row['cache_tokens']),
  }
}

export function addUsage(sum: UsageSums, added: Readonly<UsageSums>): void {
  sum.requests += added.requests
  sum.inputTokens += added.inputTokens
  sum.outputTokens += added.outputTokens
  sum.cacheTokens += added.cacheTokens
  sum.costPicos = picos(sum.costPicos + added.costPicos)
}

/** Highest cost first; equal costs by name, so that the order is always the same. */
function byCost(left: ModelUsage, right: ModelUsage): number {
  if (left.costPicos !== right.costPicos) return left.costPicos > right.costPicos ? -1 : 1
  return left.model < right.model ? -1 : 1
}

/** `$3, $4`: the places of these parameters, of which the first one is number `from`. */
export function places(from: number, parameters: readonly unknown[]): string {
  return parameters.map((_, index) => `$${from + index}`).join(', ')
}

/** What one key has spent on one day. */
export interface KeySpend extends Pick<DayUsage, 'accountId' | 'day' | 'requests' | 'costPicos'> {
  readonly keyId: string
}

type SpendQuestion = Pick<DaysQuestion, 'accountIds' | 'from' | 'to'>

/** Reads what each key of these accounts has spent on each of these days. */
export async function readSpend(
  database: Queryable,
  question: SpendQuestion,
): Promise<readonly KeySpend[]> {
  const days = await readDays(database, { ...question, by: 'key' })
  return days.map(({ of: keyId, ...sums }) => ({ keyId, ...sums }))
}

/** Reads what each account has spent on each of these days; a day without requests is missing. */
export async function readSpendByDay(
  database: Queryable,
  question: SpendQuestion,
): Promise<ReadonlyMap<string, ReadonlyMap<string, Picos>>> {
  const days = await readDays(database, { ...question, by: undefined })
  const byAccount = Map.groupBy(days, ({ accountId }) => accountId)
  return new Map(
    [...byAccount].map(([accountId, ofAccount]) => [
      accountId,
      new Map(ofAccount.map(({ day, costPicos }) => [day, costPicos])),
    ]),
  )
}

/** An amount column; every engine hands integers over as bigint. */
export function readPicos(row: Row, column: string): Picos {
  const value = row[column]
  invariant(typeof value === 'bigint', `column ${column} holds an amount`)
  return picos(value)
}

/**
 * Returns SQL that sums amounts in two halves, `high` and `low`: a plain sum could exceed 64 bits on
 * the way, depending on the order. `readSum` joins the halves.
 */
export function sumOf(column: string): string {
  return `COALESCE(SUM((${column}) >> 32), 0) AS high,
    COALESCE(SUM((${column}) & 4294967295), 0) AS low`
}

export function readSum(row: Row): Picos {
  return picos(BigInt(String(row['high'])) * 2n ** 32n + BigInt(String(row['low'])))
}

/** What an account has used on one day: in all, or of one key or model. */
export interface DayUsage extends UsageSums {
  readonly accountId: string
  readonly day: string
  /** The key's id, the model or the label; empty for all together. */
  readonly of: string
}

export interface DaysQuestion {
  readonly accountIds: readonly string[]
  /** Both days are included. */
  readonly from: string
  readonly to: string
  readonly by: keyof typeof groupColumns | undefined
  /** All without it. */
  readonly rowsMax?: number
}

const cacheTokens = 'cache_read_tokens + cache_write_tokens'
const groupColumns = { key: ', key_id', model: ', model', label: ', label' } as const

/**
 * Reads sums of days, which the store adds up along an index: by account, by day and then by key or model.
 * Refused and failed requests are missing.
 */
export async function readDays(
  database: Queryable,
  { accountIds, from, to, by, rowsMax = Number.MAX_SAFE_INTEGER }: DaysQuestion,
): Promise<readonly DayUsage[]> {
  if (accountIds.length === 0) return []
  const of = by === undefined ? '' : groupColumns[by]
  const rows = await database.query(
    `SELECT account_id, day${of}, SUM(charged_requests) AS requests,
            SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens,
            SUM(${cacheTokens}) AS cache_tokens, ${sumOf(dayCost)}
       FROM report_day
      WHERE day >= $1 AND day <= $2 AND account_id IN (${places(4, accountIds)})
      GROUP BY account_id, day${of}
     HAVING SUM(charged_requests + input_tokens + output_tokens + ${cacheTokens}) > 0
      ORDER BY account_id, day${of} LIMIT $3`,
    [from, to, rowsMax, ...accountIds],
  )
  return rows.map((row) => ({
    accountId: String(row['account_id']),
    day: String(row['day']),
    of: String(row['key_id'] ?? row['model'] ?? row['label'] ?? ''),
    ...readCounts(row),
    costPicos: readSum(row),
  }))
}
