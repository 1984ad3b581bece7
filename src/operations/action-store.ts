/**
 * SQL of the operators' log: who did what to what, and when. A line is written in the transaction
 * of the change itself, so that neither exists without the other. Details never hold a secret.
 */
import type { Queryable, Row, Transaction } from '../storage/database.ts'
import type { OperationContext } from './context.ts'

export interface OperatorAction {
  readonly sequence: number
  readonly atMs: number
  readonly actor: string
  /** `account.create`, `key.revoke`, `channel.off`, `catalogue.apply` … */
  readonly action: string
  /** The id or name of what was changed. */
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
}

export async function recordAction(
  transaction: Transaction,
  context: Pick<OperationContext, 'actor' | 'clock'>,
  change: {
    readonly action: string
    readonly subject: string
    readonly detail?: Readonly<Record<string, unknown>>
  },
): Promise<void> {
  await transaction.query(
    `INSERT INTO operator_action (at_ms, actor, action, subject, detail)
     VALUES ($1, $2, $3, $4, $5)`,
    [
      context.clock.now(),
      context.actor,
      change.action,
      change.subject,
      JSON.stringify(change.detail ?? {}),
    ],
  )
}

/** The newest actions first. */
export async function listActions(
  queryable: Queryable,
  options: { readonly countMax: number },
): Promise<OperatorAction[]> {
  const rows = await queryable.query(
    'SELECT * FROM operator_action ORDER BY sequence DESC LIMIT $1',
    [options.countMax],
  )
  return rows.map(readAction)
}

function readAction(row: Row): OperatorAction {
  return {
    sequence: Number(row['sequence']),
    atMs: Number(row['at_ms']),
    actor: String(row['actor']),
    action: String(row['action']),
    subject: String(row['subject']),
    detail: JSON.parse(String(row['detail'])) as Record<string, unknown>,
  }
}
