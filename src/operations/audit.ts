/** Whether the books agree with themselves: every balance and figure derived anew from what was recorded. */
import { audit, type AuditReport, type SinceCheckpoints } from '../ledger/audit.ts'
import { readBill } from '../metering/price-lines.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../storage/database.ts'
import { timeText } from './views.ts'

export interface AuditView {
  readonly clean: boolean
  /** Exchanges before this day are no longer kept and were not asked for; null = all were. */
  readonly exchanges_from: string | null
  readonly counts: AuditReport['counts']
  readonly differences: readonly DifferenceView[]
}

export interface DifferenceView {
  /** By its number in docs/ledger.md. */
  readonly invariant: string
  readonly kind: string
  /** Empty where it belongs to no account. */
  readonly account_id: string
  /** Table and key of the row. */
  readonly row: string
  readonly message: string
}

/** Looks at everything and writes nothing; works beside a running gateway. */
export async function auditLedger(context: { readonly database: Database }): Promise<AuditView> {
  return viewAudit(await audit(context.database, { readBill }))
}

/** Looks at what has come since the last audit of each account, and remembers how far it came. */
export async function auditSinceCheckpoints(database: Database, nowMs: number): Promise<AuditView> {
  return auditSince(database, { nowMs, isRemembered: true })
}

/** The same for somebody who only looks: nothing is written. */
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
