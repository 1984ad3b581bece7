/**
 * Reads the use of keys: charges less refunds, today, this month and in all. All code that shows or judges
 * the use of a key asks here. Reads daily and monthly sums only, so a list costs the same in any year.
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import type { KeyLimits } from '../base/key-limits.ts'
import { addPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row, SqlValue } from '../storage/database.ts'
import type { UsagePeriod } from './ledger.ts'
import { dayCost, readPicos, totalMonth } from './usage.ts'

/** The periods of a key's limits in USD, and of what counts toward each. */
export interface KeyUsage {
  readonly dayPicos: Picos
  readonly monthPicos: Picos
  readonly totalPicos: Picos
}

export const noKeyUsage: KeyUsage = {
  dayPicos: zeroPicos,
  monthPicos: zeroPicos,
  totalPicos: zeroPicos,
}

/** A limit of a key in USD, and what counts toward it. */
export interface KeyBudget {
  readonly period: UsagePeriod
  /** Zero = no limit. */
  readonly limitPicos: Picos
  readonly usedPicos: Picos
}

type Budgets = Pick<KeyLimits, 'dailyPicos' | 'monthlyPicos' | 'totalPicos'>

const usedOf = { day: 'dayPicos', month: 'monthPicos', total: 'totalPicos' } as const
const limitOf = { day: 'dailyPicos', month: 'monthlyPicos', total: 'totalPicos' } as const

export function keyBudget(period: UsagePeriod, limits: Budgets, used: KeyUsage): KeyBudget {
  return { period, limitPicos: limits[limitOf[period]], usedPicos: used[usedOf[period]] }
}

/** Returns the limits of a key for the day, the month and in all, with their use. */
export function keyBudgets(limits: Budgets, used: KeyUsage): readonly KeyBudget[] {
  return (['day', 'month', 'total'] as const).map((period) => keyBudget(period, limits, used))
}

export interface KeyUsageQuestion {
  /** Keys without an account, and those that send no requests, use nothing. */
  readonly keys: readonly { readonly id: string; readonly accountId: string | undefined }[]
  /** Wall time; decides which UTC day and month are the current ones. */
  readonly atMs: number
}

/** Returns the use by key; keys without any are missing. */
export async function readKeyUsage(
  database: Queryable,
  question: KeyUsageQuestion,
): Promise<ReadonlyMap<string, KeyUsage>> {
  if (question.keys.every(({ accountId }) => accountId === undefined)) return new Map()
  const { days, months } = keyUsageStatements(question)
  return sumKeyUsage(await database.query(...days), await database.query(...months))
}

type Statement = readonly [sql: string, parameters: readonly SqlValue[]]

/** For an engine that asks its own connection; `sumKeyUsage` takes the rows. */
export function keyUsageStatements({ keys, atMs }: KeyUsageQuestion): {
  readonly days: Statement
  readonly months: Statement
} {
  const pairs = keys.flatMap(({ id, accountId = '' }) => [accountId, id])
  const asked = (from: number): string =>
    `WITH asked (account_id, key_id) AS (VALUES ${keys
      .map((_, index) => `($${from + 2 * index}, $${from + 2 * index + 1})`)
      .join(', ')})`
  return {
    days: [
      `${asked(2)} SELECT report_day.key_id, ${dayCost} AS cost_picos
         FROM asked JOIN report_day ON report_day.account_id = asked.account_id
          AND report_day.day = $1 AND report_day.key_id = asked.key_id`,
      [utcDay(atMs), ...pairs],
    ],
    months: [
      `${asked(3)} SELECT usage_key_month.key_id, month, cost_picos
         FROM asked JOIN usage_key_month ON usage_key_month.account_id = asked.account_id
          AND usage_key_month.key_id = asked.key_id AND month IN ($1, $2)`,
      [utcMonth(atMs), totalMonth, ...pairs],
    ],
  }
}

export function sumKeyUsage(
  days: readonly Row[],
  months: readonly Row[],
): ReadonlyMap<string, KeyUsage> {
  const byKey = new Map<string, KeyUsage>()
  const add = (row: Row, part: keyof KeyUsage): void => {
    const keyId = String(row['key_id'])
    const usage = byKey.get(keyId) ?? noKeyUsage
    byKey.set(keyId, { ...usage, [part]: addPicos(usage[part], readPicos(row, 'cost_picos')) })
  }
  for (const row of days) add(row, 'dayPicos')
  for (const row of months) add(row, row['month'] === totalMonth ? 'totalPicos' : 'monthPicos')
  return byKey
}
