/** What an audit of the ledger has found, as operators see it. */
import type { AuditReport } from '../../ledger/audit/audit.ts'

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
