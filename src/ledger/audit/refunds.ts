/**
 * Reads the refunds of one account that are tied to a charge, and audits each against its charge. A
 * refund lowers the sums of the day on which its charge was booked.
 */
import { utcDay } from '../../base/clock.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import { eachRow, type Queryable, type Row } from '../../storage/database.ts'
import { readPicos } from '../usage.ts'
import { type Findings, report, usd } from './findings.ts'

/** Refunds by the exchange that was charged and by the day of its charge. */
export interface Refunds {
  readonly byExchange: ReadonlyMap<string, Picos>
  readonly byDay: ReadonlyMap<string, Picos>
}

const prefix = 'refund:'
const pageSize = 1_000

export async function auditRefunds(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<Refunds> {
  const byExchange = new Map<string, Picos>()
  const byDay = new Map<string, Picos>()
  for await (const row of eachRefund(snapshot, accountId)) {
    const reference = String(row['reference'])
    const exchangeId = reference.slice(prefix.length)
    const refunded = readPicos(row, 'amount_picos')
    const entry = row['charged_picos'] === null ? zeroPicos : readPicos(row, 'charged_picos')
    const charged = subtractPicos(zeroPicos, entry)
    if (refunded > charged)
      report(findings, {
        kind: 'refund',
        accountId,
        row: `entry ${reference}`,
        text: `refund ${reference} is more than the charge it belongs to`,
        stored: usd(refunded),
        derived: `at most ${usd(charged)}`,
      })
    byExchange.set(exchangeId, refunded)
    if (row['charged_at_ms'] === null) continue
    const day = utcDay(Number(row['charged_at_ms']))
    byDay.set(day, addPicos(byDay.get(day) ?? zeroPicos, refunded))
  }
  return { byExchange, byDay }
}

/** The kind stands twice: SQLite uses an index with a condition only where the query repeats it. */
function eachRefund(snapshot: Queryable, accountId: string): AsyncGenerator<Row> {
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT r.sequence, r.reference, r.amount_picos, c.amount_picos AS charged_picos,
              c.created_at_ms AS charged_at_ms
         FROM entry r
         LEFT JOIN entry c ON c.account_id = r.account_id AND c.kind = 'charge'
          AND c.reference = substr(r.reference, ${prefix.length + 1})
        WHERE r.account_id = $1 AND r.kind <> 'charge' AND r.kind = 'refund'
          AND r.reference LIKE '${prefix}ex!_%' ESCAPE '!' AND r.sequence > $2
        ORDER BY r.sequence LIMIT $3`,
      [accountId, last?.['sequence'] ?? 0n, pageSize],
    ),
  )
}
