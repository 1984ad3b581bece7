/** The ledger audit as operators see it: recomputes every balance and figure and reports differences. */
import { z } from 'zod'
import { audit, type AuditReport, type SinceCheckpoints } from '../../ledger/audit/audit.ts'
import { readBill } from '../../metering/price-lines.ts'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../storage/database.ts'
import { operation, timeText } from '../operation.ts'

export interface AuditView {
  readonly clean: boolean
  /** Exchanges before this day are removed and not audited; null = all are audited. */
  readonly exchanges_from: string | null
  readonly counts: AuditReport['counts']
  readonly differences: readonly DifferenceView[]
}

interface DifferenceView {
  /** Its number in docs/ledger.md. */
  readonly invariant: string
  readonly kind: string
  /** Empty where the row belongs to no account. */
  readonly account_id: string
  /** Table and key of the row. */
  readonly row: string
  readonly message: string
}

/** Audits everything and writes nothing. Gateways may run meanwhile. */
export const runAudit = operation(z.strictObject({}), (context) => auditLedger(context))

/** As `runAudit`, for callers that have no operator. */
export async function auditLedger(context: { readonly database: Database }): Promise<AuditView> {
  return viewAudit(await audit(context.database, { readBill }))
}

/** Audits what is new since each account's checkpoint, and moves the checkpoints. */
export async function auditSinceCheckpoints(database: Database, nowMs: number): Promise<AuditView> {
  return auditSince(database, { nowMs, isRemembered: true })
}

/** Audits what is new since each account's checkpoint, and writes nothing. */
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
