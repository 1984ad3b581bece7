/**
 * The operators' log: who did what to what, and when. The invariant: a line is written in the
 * transaction of the change itself, so that neither exists without the other; it holds no secret.
 */
import { z } from 'zod'
import type { Queryable, Transaction } from '../storage/database.ts'
import { listCount } from './input.ts'
import { operation, timeText, type OperationContext } from './operation.ts'

export interface ActionView {
  readonly sequence: number
  readonly at: string
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

/** Returns what one actor has done, oldest first. */
export async function listActionsBy(
  queryable: Queryable,
  actor: string,
): Promise<readonly Pick<ActionView, 'action' | 'subject'>[]> {
  const rows = await queryable.query(
    'SELECT action, subject FROM operator_action WHERE actor = $1 ORDER BY sequence',
    [actor],
  )
  return rows.map((row) => ({ action: String(row['action']), subject: String(row['subject']) }))
}

/** Returns what operators have done, newest first. */
export const recentActions = operation(
  z.strictObject({ count: listCount.default(100) }),
  async ({ database }, { count }): Promise<readonly ActionView[]> => {
    const rows = await database.query(
      'SELECT * FROM operator_action ORDER BY sequence DESC LIMIT $1',
      [count],
    )
    return rows.map((row) => ({
      at: timeText(Number(row['at_ms'])),
      sequence: Number(row['sequence']),
      actor: String(row['actor']),
      action: String(row['action']),
      subject: String(row['subject']),
      detail: JSON.parse(String(row['detail'])) as Record<string, unknown>,
    }))
  },
)
