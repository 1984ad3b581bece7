/**
 * Reads what accounts have spent by day: charges less refunds, by the day of the charge, from table
 * report_day. Reads sums of days only, along an index, so a page costs the same in any year.
 */
import { zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import { dayCost, places, readSum, sumOf } from './usage.ts'

export interface SpendQuestion {
  readonly accountIds: readonly string[]
  /** `YYYY-MM-DD`, UTC, in order and without gaps. */
  readonly days: readonly string[]
}

/** Returns an amount for each of the days, by account. An account without requests is missing. */
export async function readSpendByDay(
  database: Queryable,
  { accountIds, days }: SpendQuestion,
): Promise<ReadonlyMap<string, readonly Picos[]>> {
  if (accountIds.length === 0) return new Map()
  const rows = await database.query(
    `SELECT account_id, day, ${sumOf(dayCost)} FROM report_day
      WHERE day >= $1 AND day <= $2 AND account_id IN (${places(3, accountIds)})
      GROUP BY account_id, day`,
    [days[0] ?? '', days.at(-1) ?? '', ...accountIds],
  )
  const byAccount = new Map<string, Picos[]>()
  for (const row of rows) {
    const accountId = String(row['account_id'])
    const amounts = byAccount.get(accountId) ?? days.map(() => zeroPicos)
    amounts[days.indexOf(String(row['day']))] = readSum(row)
    byAccount.set(accountId, amounts)
  }
  return byAccount
}
