/**
 * Audits one account in one snapshot: from the beginning, or from a checkpoint, and its holds. A
 * difference found from a checkpoint is not reported; the account is then audited from the
 * beginning, and only those findings count. So an entry that was booked late raises no alarm.
 */
import { hourMs, utcDay } from '../../base/clock.ts'
import { addPicos, picos, type Picos, subtractPicos, zeroPicos } from '../../base/money.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { upsertRows } from '../../storage/rows.ts'
import {
  type AuditedBill,
  auditExchange,
  auditOperatorEntries,
  auditUnexplained,
  chargedOf,
  eachExchange,
  sumCharges,
} from './entries.ts'
import { auditChain } from './chain.ts'
import { auditRefunds } from './refunds.ts'
import { addToReport, auditReports, type ReportsByName } from './reports.ts'
import { addFindings, type Findings, noFindings, report, usd } from './findings.ts'
import { readExchangeCut } from '../exchange-retention.ts'
import { readCountedLabels } from '../label-day.ts'
import { readPicos, readSum, sumOf } from '../usage.ts'
import { longestExchangeMs } from '../entry-store.ts'

export interface AccountQuestion {
  readonly accountId: string
  /** Undefined: audit everything. */
  readonly checkpoint?: AuditCheckpoint | undefined
  /** No entry of an earlier day is booked any more; the next checkpoint is here. 00:00 UTC. */
  readonly settledMs: number
  readonly readBill: (priceLines: string) => AuditedBill
}

/** Returns the account's new checkpoint; undefined where the account has differences. */
export async function auditAccount(
  snapshot: Queryable,
  question: AccountQuestion,
  findings: Findings,
): Promise<AuditCheckpoint | undefined> {
  const { checkpoint } = question
  if (checkpoint !== undefined) {
    const apart = noFindings(1)
    const next = await auditFrom(snapshot, question, checkpoint, apart)
    if (apart.counts.differences === 0) {
      addFindings(findings, apart)
      return next
    }
  }
  const before = findings.counts.differences
  const next = await auditFrom(snapshot, question, beginning, findings)
  return findings.counts.differences === before ? next : undefined
}

const beginning: AuditCheckpoint = { throughMs: 0, balancePicos: zeroPicos }

async function auditFrom(
  snapshot: Queryable,
  question: AccountQuestion,
  start: AuditCheckpoint,
  findings: Findings,
): Promise<AuditCheckpoint> {
  const { accountId, readBill } = question
  const untilMs = Math.max(question.settledMs, start.throughMs)
  const range = { accountId, sinceMs: start.throughMs, untilMs }
  const cutMs = await readExchangeCut(snapshot)
  const operator = await auditOperatorEntries(snapshot, range, findings)
  const byEntry = await sumCharges(snapshot, range)
  for (const { charges } of byEntry.values()) findings.counts.entries += charges
  findings.counts.accounts++
  findings.counts.entries += operator.entries

  await auditUnexplained(snapshot, { ...range, cutMs }, findings)
  const fromMs = Math.max(range.sinceMs, cutMs)
  const refunds = await auditRefunds(snapshot, accountId, findings)
  const byExchange: ReportsByName = new Map()
  const fromDay = utcDay(fromMs)
  const countedLabel = await readCountedLabels(snapshot, { accountId, fromDay })
  let isOverrun = false
  for await (const row of eachExchange(snapshot, { ...range, fromMs })) {
    findings.counts.exchanges++
    if (/over_hold|uncovered/.test(String(row['marks']))) isOverrun = true
    auditExchange(row, { findings, readBill })
    addToReport(byExchange, row, { refunds, countedLabel })
  }
  const sinceDay = utcDay(range.sinceMs)
  const days = { accountId, byExchange, byEntry, refunds, fromDay, sinceDay }
  await auditReports(snapshot, days, findings)
  await auditChain(snapshot, range, findings)

  const since = subtractPicos(operator.sumPicos, chargedOf(byEntry))
  const derived = addPicos(start.balancePicos, since)
  const leastPicos = await auditBalance(snapshot, accountId, derived, findings)
  const mayBeLower = isOverrun || operator.hasNegative || fromMs > 0
  if (derived < leastPicos && !mayBeLower)
    reportOverspent(findings, { accountId, balance: derived, leastPicos })
  const settled = subtractPicos(operator.sumBeforePicos, chargedOf(byEntry, utcDay(untilMs)))
  return { throughMs: untilMs, balancePicos: picos(start.balancePicos + settled) }
}

/** Returns the lowest balance that the account's credit line has ever allowed. */
async function auditBalance(
  snapshot: Queryable,
  accountId: string,
  derived: Picos,
  findings: Findings,
): Promise<Picos> {
  const [account] = await snapshot.query(
    'SELECT balance_picos, largest_credit_line_picos FROM account WHERE id = $1',
    [accountId],
  )
  if (account === undefined) return zeroPicos
  const balance = readPicos(account, 'balance_picos')
  const leastPicos = subtractPicos(zeroPicos, readPicos(account, 'largest_credit_line_picos'))
  if (balance === derived) return leastPicos
  report(findings, {
    kind: 'balance',
    accountId,
    row: `account ${accountId}`,
    text: 'the balance differs from the sum of its entries',
    stored: usd(balance),
    derived: usd(derived),
  })
  return leastPicos
}

interface Overspent {
  readonly accountId: string
  readonly balance: Picos
  readonly leastPicos: Picos
}

/** Only a marked charge may pass the line: its hold was not covered, or it was above its hold. */
function reportOverspent(findings: Findings, { accountId, balance, leastPicos }: Overspent): void {
  report(findings, {
    kind: 'overspent',
    accountId,
    row: `account ${accountId}`,
    text: 'the balance is below zero and the credit line, and no marked charge and no adjustment explains it',
    stored: usd(balance),
    derived: `at least ${usd(leastPicos)}`,
  })
}

const checkpointForm = rowForm({
  /** 00:00 UTC of a day; entries with an earlier time are behind the checkpoint. */
  throughMs: column.number,
  /** The sum of the entries behind it. */
  balancePicos: column.amount,
})
export type AuditCheckpoint = Read<typeof checkpointForm>

export async function findCheckpoint(
  database: Queryable,
  accountId: string,
): Promise<AuditCheckpoint | undefined> {
  const sql = 'SELECT * FROM audit_checkpoint WHERE account_id = $1'
  const [row] = await database.query(sql, [accountId])
  return row === undefined ? undefined : checkpointForm.read(row)
}

const checkpointTable = { table: 'audit_checkpoint', key: ['account_id'] }

export async function saveCheckpoint(
  transaction: Transaction,
  accountId: string,
  checkpoint: AuditCheckpoint & { readonly auditedAtMs: number },
): Promise<void> {
  const row = checkpointForm.write(checkpoint)
  const audited = { account_id: accountId, audited_at_ms: checkpoint.auditedAtMs }
  await upsertRows(transaction, checkpointTable, [{ ...audited, ...row }])
}

/** On top of the longest exchange: the time its charge may take to be booked. */
const settlingMs = hourMs
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
      text: 'the held amount differs from the sum of the open holds',
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

/** Holds of running nodes only: the holds of a dead node are freed by the next one that runs. */
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
