/**
 * The audit's part about holds, which are rows on PostgreSQL: what an account has set aside is the sum
 * of its holds, none belongs to an exchange that has ended, and none is older than any exchange can be.
 */
import type { Queryable } from '../../storage/database.ts'
import { report, usd, type Findings } from '../audit-findings.ts'
import { longestExchangeMs } from '../entry-store.ts'
import { readPicos, readSum, sumOf } from '../usage.ts'

/** On top of the longest exchange: the time its charge may take to be booked. */
const settlingMs = 3_600_000
const foundMax = 100

export async function auditHolds(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<void> {
  const [account] = await snapshot.query('SELECT held_picos FROM account WHERE id = $1', [
    accountId,
  ])
  const [sum] = await snapshot.query(
    `SELECT COUNT(*) AS holds, ${sumOf('amount_picos')} FROM hold WHERE account_id = $1`,
    [accountId],
  )
  if (account === undefined || sum === undefined) return
  const stored = readPicos(account, 'held_picos')
  const derived = readSum(sum)
  if (stored !== derived)
    report(findings, {
      kind: 'held',
      accountId,
      row: `account ${accountId}`,
      text: 'what is set aside differs from the sum of the open holds',
      stored: usd(stored),
      derived: usd(derived),
    })
  // Most accounts have none at any moment, and to plan a look for their exchanges takes longer with
  // each month there is.
  if (Number(sum['holds']) === 0) return
  await auditEnded(snapshot, accountId, findings)
  await auditOverdue(snapshot, accountId, findings)
}

async function auditEnded(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<void> {
  const rows = await snapshot.query(
    `SELECT h.exchange_id, h.amount_picos FROM hold h
       JOIN exchange x ON x.account_id = h.account_id AND x.exchange_id = h.exchange_id
      WHERE h.account_id = $1 ORDER BY h.exchange_id LIMIT $2`,
    [accountId, foundMax],
  )
  for (const row of rows)
    report(findings, {
      kind: 'hold_ended',
      accountId,
      row: `hold ${String(row['exchange_id'])}`,
      text: `exchange ${String(row['exchange_id'])} has ended and still holds money`,
      stored: usd(readPicos(row, 'amount_picos')),
      derived: 'nothing',
    })
}

/** Of nodes that live: what a dead one held is freed as soon as another one runs. */
async function auditOverdue(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<void> {
  const rows = await snapshot.query(
    `SELECT h.exchange_id, h.amount_picos FROM hold h JOIN node n ON n.boot = h.boot
      WHERE h.account_id = $1 AND h.placed_at_ms < n.lease_until_ms - $2
      ORDER BY h.exchange_id LIMIT $3`,
    [accountId, longestExchangeMs + settlingMs, foundMax],
  )
  for (const row of rows)
    report(findings, {
      kind: 'hold_overdue',
      accountId,
      row: `hold ${String(row['exchange_id'])}`,
      text: `the hold of ${String(row['exchange_id'])} is older than any exchange can be`,
      stored: usd(readPicos(row, 'amount_picos')),
      derived: 'nothing',
    })
}
