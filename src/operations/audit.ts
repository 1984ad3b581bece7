/** Whether the books agree with themselves: every balance and figure derived anew from what was recorded. */
import { audit, type AuditReport } from '../ledger/audit.ts'
import { parsePriceLines, recompute } from '../metering/price-lines.ts'
import type { OperationContext } from './context.ts'

export interface AuditView {
  readonly clean: boolean
  readonly counts: AuditReport['counts']
  readonly differences: readonly {
    readonly kind: string
    /** Empty where it belongs to no account. */
    readonly account_id: string
    readonly message: string
  }[]
}

/** Reads only; works beside a running gateway. */
export async function auditLedger(context: OperationContext): Promise<AuditView> {
  const report = await audit(context.database, {
    recompute: (priceLines) => recompute(parsePriceLines(priceLines)),
  })
  return {
    clean: report.isClean,
    counts: report.counts,
    differences: report.differences.map(({ kind, accountId, message }) => ({
      kind,
      account_id: accountId,
      message,
    })),
  }
}
