/**
 * Audits the entries and exchanges of one account: the sum of each day, each operator entry, each
 * exchange against its charge, price lines and counts, and charges without an exchange. Keeps one
 * page and one sum per day in memory.
 */
import { dayMs, utcDay } from '../../base/clock.ts'
import { picos, type Picos, subtractPicos, zeroPicos } from '../../base/money.ts'
import { eachRow, type Queryable, type Row } from '../../storage/database.ts'
import { type DifferenceKind, type Findings, report, usd } from './findings.ts'
import { firstExchangeIdAt, hashBooking, longestExchangeMs, readEntry } from '../entry-store.ts'
import { parseUsage } from '../stored-usage.ts'
import { readPicos, readSum, sumOf } from '../usage.ts'
import { usageClasses, type UsageCounts } from '../../metering/usage.ts'

const pageSize = 1_000

/** The audited entries of an account: those with a time at or after `sinceMs`. */
export interface EntryRange {
  readonly accountId: string
  /** 00:00 UTC of a day; 0 = all. */
  readonly sinceMs: number
}

export interface DaySum {
  readonly charges: number
  /** The charged amount; positive. */
  readonly chargedPicos: Picos
}

/** Returns a reference that is smaller than that of any charge of the range. */
function firstReference({ sinceMs }: EntryRange): string {
  return sinceMs === 0 ? '' : firstExchangeIdAt(Math.max(0, sinceMs - longestExchangeMs))
}

/** Sums the charges of each UTC day from the entries alone. */
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
  /** The sum of entries with a time before `untilMs`. */
  readonly sumBeforePicos: Picos
  readonly hasNegative: boolean
}

/** Audits credits, adjustments and refunds one by one. */
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

function eachOperatorEntry(snapshot: Queryable, accountId: string): AsyncGenerator<Row> {
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT * FROM entry WHERE account_id = $1 AND kind <> 'charge' AND sequence > $2
        ORDER BY sequence LIMIT $3`,
      [accountId, last?.['sequence'] ?? 0n, pageSize],
    ),
  )
}

function auditOperatorEntry(row: Row, findings: Findings): void {
  const entry = readEntry(row)
  const place = { accountId: entry.accountId, row: `entry ${entry.reference}` }
  const hasWrongSign = entry.kind !== 'adjustment' && entry.amountPicos <= 0n
  if (hasWrongSign)
    report(findings, {
      kind: 'entry_sign',
      ...place,
      text: `a ${entry.kind} takes money away`,
      stored: usd(entry.amountPicos),
      derived: 'more than 0 USD',
    })
  const stored = String(row['input_hash'])
  const derived = hashBooking(entry)
  if (stored !== derived)
    report(findings, {
      kind: 'entry_hash',
      ...place,
      text: `${entry.kind} ${entry.reference} differs from the request that was booked under this reference`,
      stored,
      derived,
    })
}

/** Finds charges without an exchange, where exchanges of that time are still kept. */
export async function auditUnexplained(
  snapshot: Queryable,
  range: EntryRange & { readonly cutMs: number },
  findings: Findings,
): Promise<void> {
  const first = firstReference(range)
  // The bound on x.exchange_id follows from the join, but PostgreSQL does not derive it and would
  // search the partition of every month.
  const charges = eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT e.reference, e.amount_picos FROM entry e
        WHERE e.account_id = $1 AND e.kind = 'charge' AND e.reference > $2
          AND e.created_at_ms >= $3
          AND NOT EXISTS (SELECT 1 FROM exchange x
                           WHERE x.account_id = e.account_id AND x.exchange_id = e.reference
                             AND x.exchange_id > $2)
        ORDER BY e.reference LIMIT $4`,
      [
        range.accountId,
        last?.['reference'] ?? first,
        Math.max(range.sinceMs, range.cutMs),
        pageSize,
      ],
    ),
  )
  for await (const row of charges)
    report(findings, {
      kind: 'charge_without_exchange',
      accountId: range.accountId,
      row: `entry ${String(row['reference'])}`,
      text: `charge ${String(row['reference'])} belongs to no recorded exchange`,
      stored: usd(readPicos(row, 'amount_picos')),
      derived: 'nothing',
    })
}

/** Sums the charges of all days, or of those before `untilDay`. */
export function chargedOf(days: ReadonlyMap<string, DaySum>, untilDay?: string): Picos {
  let sum = zeroPicos
  for (const [day, { chargedPicos }] of days)
    if (untilDay === undefined || day < untilDay) sum = picos(sum + chargedPicos)
  return sum
}

/** The price lines of a charge, summed again. */
export interface AuditedBill {
  readonly amountPicos: Picos
  /** By part of the answer. */
  readonly counts: readonly UsageCounts[]
}

export interface ExchangeAudit {
  readonly findings: Findings
  /** Adds up the price lines of a charge again; may throw where they cannot be read. */
  readonly readBill: (priceLines: string) => AuditedBill
}

type Report = (kind: DifferenceKind, text: string, stored: string, derived: string) => void

/** Every exchange of the range that ended at or after `fromMs`, with the entry that charges it. */
export function eachExchange(
  snapshot: Queryable,
  range: EntryRange & { readonly fromMs: number },
): AsyncGenerator<Row> {
  const first = firstReference(range)
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT x.account_id, x.exchange_id, x.key_id, x.model, x.ended_at_ms, x.ending,
              x.attempt_count, x.channel, x.label, x.amount_picos, x.usage, x.marks, x.price_lines,
              x.operator_cost_picos, x.first_event_ms, x.own_cost_picos, x.is_own_cost_known, e.kind,
              e.amount_picos AS entry_picos
         FROM exchange x
         LEFT JOIN entry e ON e.account_id = x.account_id AND e.reference = x.exchange_id
        WHERE x.account_id = $1 AND x.exchange_id > $2 AND x.ended_at_ms >= $3
        ORDER BY x.exchange_id LIMIT $4`,
      [range.accountId, last?.['exchange_id'] ?? first, range.fromMs, pageSize],
    ),
  )
}

const chargedEndings: readonly unknown[] = [
  'completed',
  'client_left',
  'upstream_cut',
  'gateway_cut',
]

export function auditExchange(row: Row, audit: ExchangeAudit): void {
  const exchangeId = String(row['exchange_id'])
  const amount = readPicos(row, 'amount_picos')
  const reportIt: Report = (kind, text, stored, derived) => {
    const accountId = String(row['account_id'])
    report(audit.findings, {
      kind,
      accountId,
      row: `exchange ${exchangeId}`,
      text,
      stored,
      derived,
    })
  }
  const isCharged = row['kind'] === 'charge'
  if (isCharged) audit.findings.counts.charges++
  if (isCharged !== amount > 0n) {
    const text = `exchange ${exchangeId} and the ledger disagree whether it was charged`
    reportIt('exchange_without_charge', text, isCharged ? 'an entry' : 'no entry', usd(amount))
    return
  }
  if (!isCharged) return
  const charged = picos(-BigInt(readPicos(row, 'entry_picos')))
  if (charged !== amount) {
    const text = `exchange ${exchangeId} was charged another amount than it cost`
    reportIt('amount', text, usd(charged), usd(amount))
  }
  if (!hasAnswer(row)) {
    const text = `exchange ${exchangeId} was charged although no channel answered it`
    reportIt('attempts', text, usd(amount), usd(zeroPicos))
  }
  auditBill(row, audit, reportIt)
}

function auditBill(row: Row, audit: ExchangeAudit, reportIt: Report): void {
  const exchangeId = String(row['exchange_id'])
  const amount = readPicos(row, 'amount_picos')
  const bill = readBill(row, audit)
  if (typeof bill === 'string' || bill.amountPicos !== amount) {
    const text = `the price lines of exchange ${exchangeId} do not add up to its amount`
    const derived = typeof bill === 'string' ? bill : usd(bill.amountPicos)
    reportIt('price_lines', text, usd(amount), derived)
  }
  if (typeof bill === 'string' || row['usage'] === null) return
  const used = describeUsage(String(row['usage']))
  const billed = describeCounts(bill.counts)
  if (used !== billed) {
    const text = `the price lines of exchange ${exchangeId} have other counts than its usage`
    reportIt('counts', text, used, billed)
  }
}

function describeUsage(text: string): string {
  try {
    const { parts } = parseUsage(text)
    return describeCounts(parts.map(({ counts }) => counts))
  } catch {
    return 'a usage that cannot be read'
  }
}

/** Returns the same text for the same counts: by part, in the order of the classes, without zeros. */
function describeCounts(parts: readonly UsageCounts[]): string {
  const texts = parts.map((counts) =>
    usageClasses
      .filter((usageClass) => (counts[usageClass] ?? 0) > 0)
      .map((usageClass) => `${counts[usageClass]} ${usageClass}`)
      .join(' + '),
  )
  return `[${texts.join('; ')}]`
}

function hasAnswer(row: Row): boolean {
  return (
    Number(row['attempt_count']) >= 1 &&
    row['channel'] !== null &&
    row['usage'] !== null &&
    chargedEndings.includes(row['ending'])
  )
}

/** Returns the bill, or the reason why there is none. */
function readBill(row: Row, audit: ExchangeAudit): AuditedBill | string {
  try {
    return audit.readBill(String(row['price_lines']))
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no reason given'
    return `price lines that cannot be read (${reason})`
  }
}
