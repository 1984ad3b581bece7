/**
 * Reads an account's figures: what GET /v1/usage and the usage command show. Reads rollups only,
 * so a call costs the same in any year. Works on either store, inside or outside a transaction.
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import type { ModelFigures, UsageFigures, UsagePeriod } from './ledger.ts'

export interface UsageQuestion {
  readonly accountId: string
  readonly period: UsagePeriod
  /** Wall time; decides which UTC day and month are the current ones. */
  readonly atMs: number
}

/** Month that stands for all time in table usage_month. */
export const totalMonth = 'total'

/** Undefined where there is no such account. */
export async function readUsage(
  database: Queryable,
  question: UsageQuestion,
): Promise<UsageFigures | undefined> {
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

async function readDay(
  database: Queryable,
  accountId: string,
  day: string,
): Promise<ModelFigures[]> {
  // One row per key and model; summed here, because engines differ in the type of a sum.
  const rows = await database.query(
    `SELECT model, requests, input_tokens, output_tokens, cache_tokens, cost_picos
       FROM usage_day WHERE account_id = $1 AND day = $2`,
    [accountId, day],
  )
  const byModel = new Map<string, ModelFigures>()
  for (const row of rows) {
    const figures = readFigures(row)
    const known = byModel.get(figures.model)
    byModel.set(figures.model, known === undefined ? figures : addFigures(known, figures))
  }
  return [...byModel.values()].sort(byCost)
}

async function readMonth(database: Queryable, question: UsageQuestion): Promise<ModelFigures[]> {
  const month = question.period === 'total' ? totalMonth : utcMonth(question.atMs)
  const rows = await database.query(
    `SELECT model, requests, input_tokens, output_tokens, cache_tokens, cost_picos
       FROM usage_month WHERE account_id = $1 AND month = $2`,
    [question.accountId, month],
  )
  return rows.map(readFigures).sort(byCost)
}

function readFigures(row: Row): ModelFigures {
  return {
    model: String(row['model']),
    requests: Number(row['requests']),
    inputTokens: Number(row['input_tokens']),
    outputTokens: Number(row['output_tokens']),
    cacheTokens: Number(row['cache_tokens']),
    costPicos: readPicos(row, 'cost_picos'),
  }
}

function addFigures(left: ModelFigures, right: ModelFigures): ModelFigures {
  return {
    model: left.model,
    requests: left.requests + right.requests,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheTokens: left.cacheTokens + right.cacheTokens,
    costPicos: picos(left.costPicos + right.costPicos),
  }
}

/** Highest cost first; equal costs by name, so that the order is always the same. */
function byCost(left: ModelFigures, right: ModelFigures): number {
  if (left.costPicos !== right.costPicos) return left.costPicos > right.costPicos ? -1 : 1
  return left.model < right.model ? -1 : 1
}

/** An amount column; every engine hands integers over as bigint. */
export function readPicos(row: Row, column: string): Picos {
  const value = row[column]
  invariant(typeof value === 'bigint', `column ${column} holds an amount`)
  return picos(value)
}

/**
 * A sum of amounts in two halves, `high` and `low`: added up in whatever order an engine takes, a
 * plain one could pass 64 bits on the way. `readSum` joins them.
 */
export function sumOf(column: string): string {
  return `COALESCE(SUM(${column} >> 32), 0) AS high, COALESCE(SUM(${column} & 4294967295), 0) AS low`
}

export function readSum(row: Row): Picos {
  return picos(BigInt(String(row['high'])) * 2n ** 32n + BigInt(String(row['low'])))
}
