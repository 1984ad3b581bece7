/**
 * Finds the ids of a period's exchanges. A period selects by the end of an exchange, an id contains
 * its beginning, and both are wall time: after a clock was set, an exchange can end before it began,
 * or days later. Ids within a day on both sides nearly always suffice; where they do not, the sums
 * show it, because sums are booked by the end alone.
 */
import { dayMs, utcDay } from '../base/clock.ts'
import { subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import { firstExchangeIdAt, longestExchangeMs } from './entry-store.ts'
import { readSum, sumOf } from './usage.ts'

/** Neither bound is an id itself. */
export interface IdRange {
  readonly after: string
  readonly before: string
}

/** Exchanges of an account that ended in it; from inclusive, to exclusive. */
export interface AccountPeriod {
  readonly accountId: string
  readonly fromMs: number
  readonly toMs: number
}

const everyId: IdRange = { after: '', before: firstExchangeIdAt(Infinity) }

/** Ids of exchanges that began at about the time of a period. */
export function nearbyIds(period: AccountPeriod): IdRange {
  const { fromMs, toMs } = wholeDays(period)
  return {
    after: firstExchangeIdAt(Math.max(0, fromMs - longestExchangeMs)),
    before: firstExchangeIdAt(toMs + longestExchangeMs),
  }
}

/** All other ids. */
export function distantIds(period: AccountPeriod): readonly IdRange[] {
  const { after, before } = nearbyIds(period)
  return [
    { after: everyId.after, before: after },
    { after: before, before: everyId.before },
  ]
}

/** Returns a range with every charged exchange of a period: the nearby ids, or else all. */
export async function findIds(snapshot: Queryable, period: AccountPeriod): Promise<IdRange> {
  return (await readNearbyCharges(snapshot, period)).hasDistant ? everyId : nearbyIds(period)
}

/** The charges with nearby ids. */
interface NearbyCharges {
  /** They are less than all charges on the days of the period. */
  readonly hasDistant: boolean
  /** The highest of their numbers; zero where there are none. */
  readonly lastSequence: number
}

export async function readNearbyCharges(
  snapshot: Queryable,
  period: AccountPeriod,
): Promise<NearbyCharges> {
  const days = wholeDays(period)
  const [row] = await snapshot.query(
    `SELECT ${sumOf('revenue_picos')} FROM report_day
      WHERE account_id = $1 AND day >= $2 AND day <= $3`,
    [days.accountId, utcDay(days.fromMs), utcDay(days.toMs - 1)],
  )
  const charged = row === undefined ? zeroPicos : readSum(row)
  const { sum, lastSequence } = await sumEntries(snapshot, days, nearbyIds(period))
  return { hasDistant: charged !== subtractPicos(zeroPicos, sum), lastSequence }
}

/** Sums the charges of a period from the entries; negative. */
export async function sumCharges(
  snapshot: Queryable,
  period: AccountPeriod,
): Promise<{ readonly sum: Picos; readonly count: number }> {
  return sumEntries(snapshot, period, await findIds(snapshot, period))
}

async function sumEntries(
  snapshot: Queryable,
  { accountId, fromMs, toMs }: AccountPeriod,
  { after, before }: IdRange,
): Promise<{ readonly sum: Picos; readonly count: number; readonly lastSequence: number }> {
  const [row] = await snapshot.query(
    `SELECT ${sumOf('amount_picos')}, COUNT(*) AS charges, COALESCE(MAX(sequence), 0) AS last
       FROM entry
      WHERE account_id = $1 AND kind = 'charge' AND reference > $2 AND reference < $3
        AND created_at_ms >= $4 AND created_at_ms < $5`,
    [accountId, after, before, fromMs, toMs],
  )
  return row === undefined
    ? { sum: zeroPicos, count: 0, lastSequence: 0 }
    : { sum: readSum(row), count: Number(row['charges']), lastSequence: Number(row['last']) }
}

/** Sums are by UTC day. */
function wholeDays({ accountId, fromMs, toMs }: AccountPeriod): AccountPeriod {
  return {
    accountId,
    fromMs: Math.floor(fromMs / dayMs) * dayMs,
    toMs: Math.ceil(toMs / dayMs) * dayMs,
  }
}
