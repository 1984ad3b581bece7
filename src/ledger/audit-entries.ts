/**
 * The audit's part about entries: what they come to by day, whether those that operators booked are
 * as they were booked, and charges that nothing explains. Holds one page and one sum for each day.
 */
import { utcDay } from '../base/clock.ts'
import { picos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import { report, usd, type Findings } from './audit-findings.ts'
import { firstExchangeIdAt, hashCreditLike, longestExchangeMs, readEntry } from './entry-store.ts'
import { readPicos, readSum, sumOf } from './usage.ts'

const dayMs = 86_400_000
const pageSize = 1_000

/** Which entries of an account are looked at: those with a time at or after `sinceMs`. */
export interface EntryRange {
  readonly accountId: string
  /** 00:00 UTC of some day; 0 = all. */
  readonly sinceMs: number
}

export interface DaySum {
  readonly charges: number
  /** What was charged, as a positive amount. */
  readonly chargedPicos: Picos
}

/** Smaller than every reference that a charge of the range can have. */
export function firstReference({ sinceMs }: EntryRange): string {
  return sinceMs === 0 ? '' : firstExchangeIdAt(Math.max(0, sinceMs - longestExchangeMs))
}

/** What was charged on each UTC day, by the entries alone. */
export async function sumCharges(
  snapshot: Queryable,
  range: EntryRange,
): Promise<ReadonlyMap<string, DaySum>> {
  const rows = await snapshot.query(
    `SELECT created_at_ms / ${dayMs} AS day, COUNT(*) AS charges, ${sumOf('amount_picos')}
       FROM entry WHERE account_id = $1 AND kind = 'charge' AND reference > $2
        AND created_at_ms >= $3
      GROUP BY created_at_ms / ${dayMs}`,
    [range.accountId, firstReference(range), range.sinceMs],
  )
  return new Map(
    rows.map((row) => [
      utcDay(Number(row['day']) * dayMs),
      { charges: Number(row['charges']), chargedPicos: subtractPicos(zeroPicos, readSum(row)) },
    ]),
  )
}

export interface OperatorSums {
  readonly entries: number
  readonly sumPicos: Picos
  /** What of it has a time before `untilMs`. */
  readonly sumBeforePicos: Picos
  readonly hasNegative: boolean
}

/** Credits, adjustments and refunds, each judged by itself. */
export async function auditOperatorEntries(
  snapshot: Queryable,
  range: EntryRange & { readonly untilMs: number },
  findings: Findings,
): Promise<OperatorSums> {
  let entries = 0
  let sum: bigint = 0n
  let sumBefore: bigint = 0n
  let hasNegative = false
  for await (const row of eachOperatorEntry(snapshot, range.accountId)) {
    const atMs = Number(row['created_at_ms'])
    if (atMs < range.sinceMs) continue
    entries++
    const amount = readPicos(row, 'amount_picos')
    sum += amount
    if (atMs < range.untilMs) sumBefore += amount
    if (amount < 0n) hasNegative = true
    auditOperatorEntry(row, findings)
  }
  return { entries, sumPicos: picos(sum), sumBeforePicos: picos(sumBefore), hasNegative }
}

async function* eachOperatorEntry(snapshot: Queryable, accountId: string): AsyncGenerator<Row> {
  let last = 0n
  for (;;) {
    const rows = await snapshot.query(
      `SELECT * FROM entry WHERE account_id = $1 AND kind <> 'charge' AND sequence > $2
        ORDER BY sequence LIMIT $3`,
      [accountId, last, pageSize],
    )
    yield* rows
    if (rows.length < pageSize) return
    last = BigInt(String(rows.at(-1)?.['sequence']))
  }
}

function auditOperatorEntry(row: Row, findings: Findings): void {
  const entry = readEntry(row)
  const place = { accountId: entry.accountId, row: `entry ${entry.reference}` }
  const isOutOfPlace = entry.kind !== 'adjustment' && entry.amountPicos <= 0n
  if (isOutOfPlace)
    report(findings, {
      kind: 'entry_sign',
      ...place,
      text: `a ${entry.kind} takes money away`,
      stored: usd(entry.amountPicos),
      derived: 'more than 0 USD',
    })
  const stored = String(row['input_hash'])
  const derived = hashCreditLike(stored, entry)
  if (stored !== derived)
    report(findings, {
      kind: 'entry_hash',
      ...place,
      text: `${entry.kind} ${entry.reference} is not what was booked under this reference`,
      stored,
      derived,
    })
}

/** Charges that no exchange explains, though exchanges of their time are kept. */
export async function auditStrays(
  snapshot: Queryable,
  range: EntryRange & { readonly cutMs: number },
  findings: Findings,
): Promise<void> {
  let last = firstReference(range)
  for (;;) {
    // That the exchange is as late as its charge goes without saying, but not for PostgreSQL, which
    // would plan a look into the table of every month there is.
    const rows = await snapshot.query(
      `SELECT e.reference, e.amount_picos FROM entry e
        WHERE e.account_id = $1 AND e.kind = 'charge' AND e.reference > $2
          AND e.created_at_ms >= $3
          AND NOT EXISTS (SELECT 1 FROM exchange x
                           WHERE x.account_id = e.account_id AND x.exchange_id = e.reference
                             AND x.exchange_id > $2)
        ORDER BY e.reference LIMIT $4`,
      [range.accountId, last, Math.max(range.sinceMs, range.cutMs), pageSize],
    )
    for (const row of rows)
      report(findings, {
        kind: 'charge_without_exchange',
        accountId: range.accountId,
        row: `entry ${String(row['reference'])}`,
        text: `charge ${String(row['reference'])} belongs to no recorded exchange`,
        stored: usd(readPicos(row, 'amount_picos')),
        derived: 'nothing',
      })
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['reference'])
  }
}

/** The sum of what was charged, of all days or of those before `untilDay`. */
export function chargedOf(days: ReadonlyMap<string, DaySum>, untilDay?: string): Picos {
  let sum = zeroPicos
  for (const [day, { chargedPicos }] of days)
    if (untilDay === undefined || day < untilDay) sum = picos(sum + chargedPicos)
  return sum
}
