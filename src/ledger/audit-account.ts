/**
 * The audit of one account, in one snapshot: from its beginning, or from a checkpoint. A difference
 * seen from a checkpoint is never told as such: the account is then looked at from its beginning,
 * and only what is found there counts. So a late entry behind a checkpoint raises no alarm.
 */
import { utcDay } from '../base/clock.ts'
import { addPicos, picos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import type { AuditCheckpoint } from './audit-checkpoint-store.ts'
import { auditOperatorEntries, auditStrays, chargedOf, sumCharges } from './audit-entries.ts'
import { auditExchange, eachExchange, type AuditedBill } from './audit-exchanges.ts'
import { addToDay, auditFigures, type Figures } from './audit-figures.ts'
import { addFindings, noFindings, report, usd, type Findings } from './audit-findings.ts'
import { readExchangeCut } from './exchange-cut-store.ts'
import { readPicos } from './usage.ts'

export interface AccountQuestion {
  readonly accountId: string
  /** Undefined: look at everything. */
  readonly checkpoint?: AuditCheckpoint | undefined
  /** Days before this are over for good; the next checkpoint is made here. 00:00 UTC of some day. */
  readonly settledMs: number
  readonly readBill: (priceLines: string) => AuditedBill
}

/** The checkpoint that the account has earned; undefined where something is wrong with it. */
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

  await auditStrays(snapshot, { ...range, cutMs }, findings)
  const fromMs = Math.max(range.sinceMs, cutMs)
  const byExchange = new Map<string, Figures>()
  let isOverrun = false
  for await (const row of eachExchange(snapshot, { ...range, fromMs })) {
    findings.counts.exchanges++
    if (String(row['marks']).includes('over_hold')) isOverrun = true
    auditExchange(row, { findings, readBill })
    addToDay(byExchange, row)
  }
  const days = { fromDay: utcDay(fromMs), sinceDay: utcDay(range.sinceMs) }
  await auditFigures(snapshot, { accountId, byExchange, byEntry, ...days }, findings)

  const since = subtractPicos(operator.sumPicos, chargedOf(byEntry))
  const derived = addPicos(start.balancePicos, since)
  await auditBalance(snapshot, accountId, derived, findings)
  const mayBeNegative = isOverrun || operator.hasNegative || fromMs > 0
  if (derived < 0n && !mayBeNegative) reportOverspent(findings, accountId, derived)
  const settled = subtractPicos(operator.sumBeforePicos, chargedOf(byEntry, utcDay(untilMs)))
  return { throughMs: untilMs, balancePicos: picos(start.balancePicos + settled) }
}

async function auditBalance(
  snapshot: Queryable,
  accountId: string,
  derived: Picos,
  findings: Findings,
): Promise<void> {
  const [account] = await snapshot.query('SELECT balance_picos FROM account WHERE id = $1', [
    accountId,
  ])
  if (account === undefined) return
  const balance = readPicos(account, 'balance_picos')
  if (balance === derived) return
  report(findings, {
    kind: 'balance',
    accountId,
    row: `account ${accountId}`,
    text: 'the balance differs from the sum of its entries',
    stored: usd(balance),
    derived: usd(derived),
  })
}

/** A charge may pass its hold where input was under-estimated, and is marked; nothing else may. */
function reportOverspent(findings: Findings, accountId: string, balance: Picos): void {
  report(findings, {
    kind: 'overspent',
    accountId,
    row: `account ${accountId}`,
    text: 'the balance is below zero, and no marked charge and no adjustment explains it',
    stored: usd(balance),
    derived: 'at least 0 USD',
  })
}
