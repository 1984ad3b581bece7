/**
 * Reads what keys have used: charges less refunds, today, this month and in all. Reads daily and monthly
 * sums only, so a list costs the same in any year.
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import { readPicos, totalMonth } from './usage.ts'

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

export interface KeyUsageQuestion {
  readonly accountId: string
  /** Ids of keys, in order. */
  readonly keyIds: readonly string[]
  /** Wall time; decides which UTC day and month are the current ones. */
  readonly atMs: number
}

/** Returns the use by key; keys without any are missing. */
export async function readKeyUsage(
  database: Queryable,
  { accountId, keyIds, atMs }: KeyUsageQuestion,
): Promise<ReadonlyMap<string, KeyUsage>> {
  const first = keyIds[0]
  const last = keyIds.at(-1)
  if (first === undefined || last === undefined) return new Map()
  const days = await database.query(
    `SELECT key_id, cost_picos FROM usage_day
      WHERE account_id = $1 AND day = $2 AND key_id >= $3 AND key_id <= $4`,
    [accountId, utcDay(atMs), first, last],
  )
  const months = await database.query(
    `SELECT key_id, month, cost_picos FROM usage_key_month
      WHERE account_id = $1 AND key_id >= $2 AND key_id <= $3 AND month IN ($4, $5)`,
    [accountId, first, last, utcMonth(atMs), totalMonth],
  )
  const byKey = new Map<string, KeyUsage>()
  const add = (keyId: string, part: keyof KeyUsage, costPicos: Picos): void => {
    const usage = byKey.get(keyId) ?? noKeyUsage
    byKey.set(keyId, { ...usage, [part]: addPicos(usage[part], costPicos) })
  }
  for (const row of days) add(String(row['key_id']), 'dayPicos', readPicos(row, 'cost_picos'))
  for (const row of months) {
    const part = row['month'] === totalMonth ? 'totalPicos' : 'monthPicos'
    add(String(row['key_id']), part, readPicos(row, 'cost_picos'))
  }
  return byKey
}
