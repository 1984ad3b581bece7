/**
 * SQL of table audit_checkpoint: up to which day the entries of an account have been found right,
 * and what they came to. A convenience and never a proof: whatever does not fit a checkpoint is
 * looked at from the beginning.
 */
import type { Picos } from '../base/money.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { readPicos } from './usage.ts'

export interface AuditCheckpoint {
  /** 00:00 UTC of some day; entries with an earlier time are behind it. */
  readonly throughMs: number
  /** The sum of the entries behind it. */
  readonly balancePicos: Picos
}

export async function findCheckpoint(
  database: Queryable,
  accountId: string,
): Promise<AuditCheckpoint | undefined> {
  const [row] = await database.query(
    'SELECT through_ms, balance_picos FROM audit_checkpoint WHERE account_id = $1',
    [accountId],
  )
  if (row === undefined) return undefined
  return { throughMs: Number(row['through_ms']), balancePicos: readPicos(row, 'balance_picos') }
}

export async function saveCheckpoint(
  transaction: Transaction,
  accountId: string,
  checkpoint: AuditCheckpoint & { readonly auditedAtMs: number },
): Promise<void> {
  await transaction.query(
    `INSERT INTO audit_checkpoint (account_id, through_ms, balance_picos, audited_at_ms)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id) DO UPDATE SET through_ms = excluded.through_ms,
       balance_picos = excluded.balance_picos, audited_at_ms = excluded.audited_at_ms`,
    [accountId, checkpoint.throughMs, checkpoint.balancePicos, checkpoint.auditedAtMs],
  )
}
