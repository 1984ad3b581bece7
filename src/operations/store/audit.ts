/**
 * The ledger audit in the words of operators: recomputes every balance and sum, and reports differences.
 */
import { audit, type AuditReport, type SinceCheckpoints } from '../../ledger/audit/audit.ts'
import { readBill } from '../../metering/price-lines.ts'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../storage/database.ts'
import { timeText } from '../operation.ts'
import type { AuditView } from './audit-forms.ts'

/** Audits everything and writes nothing. Gateways may run meanwhile. */
export async function auditLedger(context: { readonly database: Database }): Promise<AuditView> {
  return viewAudit(await audit(context.database, { readBill }))
}

/** Audits all rows since each account's checkpoint, and moves the checkpoints. */
export async function auditSinceCheckpoints(database: Database, nowMs: number): Promise<AuditView> {
  return auditSince(database, { nowMs, isRemembered: true })
}

/** Audits all rows since each account's checkpoint, and writes nothing. */
export async function reviewSinceCheckpoints(context: {
  readonly database: Database
  readonly clock: Clock
}): Promise<AuditView> {
  return auditSince(context.database, { nowMs: context.clock.now(), isRemembered: false })
}

async function auditSince(database: Database, since: SinceCheckpoints): Promise<AuditView> {
  return viewAudit(await audit(database, { readBill, sinceCheckpoints: since }))
}

function viewAudit(report: AuditReport): AuditView {
  const { exchangesFromMs } = report
  return {
    clean: report.isClean,
    exchanges_from: exchangesFromMs === 0 ? null : timeText(exchangesFromMs),
    counts: report.counts,
    differences: report.differences.map(({ invariant, kind, accountId, row, message }) => ({
      invariant,
      kind,
      account_id: accountId,
      row,
      message,
    })),
  }
}
