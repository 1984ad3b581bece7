/**
 * The audit's part about exchanges: each one kept is compared with the entry that charges it and
 * with its own price lines and counts. Holds one page at a time.
 */
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import { usageClasses, type Usage, type UsageCounts } from '../metering/usage.ts'
import type { Queryable, Row } from '../storage/database.ts'
import { firstReference, type EntryRange } from './audit-entries.ts'
import { report, usd, type DifferenceKind, type Findings } from './audit-findings.ts'
import { readPicos } from './usage.ts'

const pageSize = 1_000

/** What price lines say. */
export interface AuditedBill {
  /** Added up again. */
  readonly amountPicos: Picos
  /** By part of the answer. */
  readonly counts: readonly UsageCounts[]
}

export interface ExchangeAudit {
  readonly findings: Findings
  /** Adds up the price lines of a charge again; may throw where they cannot be read. */
  readonly readBill: (priceLines: string) => AuditedBill
}

type Complain = (kind: DifferenceKind, text: string, stored: string, derived: string) => void

/** Every exchange of the range that ended at or after `fromMs`, with the entry that charges it. */
export async function* eachExchange(
  snapshot: Queryable,
  range: EntryRange & { readonly fromMs: number },
): AsyncGenerator<Row> {
  let last = firstReference(range)
  for (;;) {
    const rows = await snapshot.query(
      `SELECT x.account_id, x.exchange_id, x.key_id, x.model, x.ended_at_ms, x.ending,
              x.attempt_count, x.channel, x.amount_picos, x.usage, x.marks, x.price_lines, e.kind,
              e.amount_picos AS entry_picos
         FROM exchange x
         LEFT JOIN entry e ON e.account_id = x.account_id AND e.reference = x.exchange_id
        WHERE x.account_id = $1 AND x.exchange_id > $2 AND x.ended_at_ms >= $3
        ORDER BY x.exchange_id LIMIT $4`,
      [range.accountId, last, range.fromMs, pageSize],
    )
    yield* rows
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['exchange_id'])
  }
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
  const complain: Complain = (kind, text, stored, derived) => {
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
    complain('exchange_without_charge', text, isCharged ? 'an entry' : 'no entry', usd(amount))
    return
  }
  if (!isCharged) return
  const charged = picos(-BigInt(readPicos(row, 'entry_picos')))
  if (charged !== amount) {
    const text = `exchange ${exchangeId} was charged another amount than it cost`
    complain('amount', text, usd(charged), usd(amount))
  }
  if (!hasAnswer(row)) {
    const text = `exchange ${exchangeId} was charged although no channel answered it`
    complain('attempts', text, usd(amount), usd(zeroPicos))
  }
  auditBill(row, audit, complain)
}

function auditBill(row: Row, audit: ExchangeAudit, complain: Complain): void {
  const exchangeId = String(row['exchange_id'])
  const amount = readPicos(row, 'amount_picos')
  const bill = readBill(row, audit)
  if (typeof bill === 'string' || bill.amountPicos !== amount) {
    const text = `the price lines of exchange ${exchangeId} do not add up to its amount`
    const derived = typeof bill === 'string' ? bill : usd(bill.amountPicos)
    complain('price_lines', text, usd(amount), derived)
  }
  if (typeof bill === 'string' || row['usage'] === null) return
  const used = describeUsage(String(row['usage']))
  const billed = describeCounts(bill.counts)
  if (used !== billed) {
    const text = `the price lines of exchange ${exchangeId} have other counts than its usage`
    complain('counts', text, used, billed)
  }
}

function describeUsage(text: string): string {
  try {
    const { parts } = JSON.parse(text) as Usage
    return describeCounts(parts.map(({ counts }) => counts))
  } catch {
    return 'a usage that cannot be read'
  }
}

/** The same text for the same counts: by part, in the order of the classes, without what is zero. */
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

/** The bill, or why there is none. */
function readBill(row: Row, audit: ExchangeAudit): AuditedBill | string {
  try {
    return audit.readBill(String(row['price_lines']))
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no reason given'
    return `price lines that cannot be read (${reason})`
  }
}
