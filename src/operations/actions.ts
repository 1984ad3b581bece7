/**
 * The operators' log: who did what to what, and when. The invariant: a line is written in the
 * transaction of the change itself, so that neither exists without the other; it holds no secret.
 */
import { z } from 'zod'
import { listKeys } from '../access/key-store.ts'
import type { Queryable, Row, Transaction } from '../storage/database.ts'
import { pageFields, pageOf, type Page } from './paging.ts'
import { invalidField, operation, timeText, type OperationContext } from './operation.ts'

export interface ActionView {
  readonly sequence: number
  readonly at: string
  readonly actor: string
  /** The name of the admin token; null where the actor is none, or its token has no name. */
  readonly actor_name: string | null
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

/** Finds when an action of this name was last recorded, in milliseconds. */
export async function findLastAction(
  queryable: Queryable,
  action: string,
): Promise<number | undefined> {
  const [row] = await queryable.query(
    'SELECT at_ms FROM operator_action WHERE action = $1 ORDER BY sequence DESC LIMIT 1',
    [action],
  )
  return row === undefined ? undefined : Number(row['at_ms'])
}

/** Returns what operators have done, newest first. */
export const recentActions = operation(
  z.strictObject(pageFields),
  async ({ database }, { cursor, limit }): Promise<Page<ActionView>> => {
    const rows = await database.query(
      'SELECT * FROM operator_action WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2',
      [readSequence(cursor), limit + 1],
    )
    const names = await readTokenNames(database)
    const view = (row: Row): ActionView => viewAction(row, names)
    return pageOf(rows, { limit, cursorOf: (row) => String(row['sequence']), view })
  },
)

/** Lists the actions behind a number, newest first. */
export async function listActionsAfter(
  database: Queryable,
  { after, countMax }: { readonly after: number; readonly countMax: number },
): Promise<readonly ActionView[]> {
  const rows = await database.query(
    'SELECT * FROM operator_action WHERE sequence > $1 ORDER BY sequence DESC LIMIT $2',
    [after, countMax],
  )
  if (rows.length === 0) return []
  const names = await readTokenNames(database)
  return rows.map((row) => viewAction(row, names))
}

/** Returns the number of the newest action; 0 where there is none. */
export async function newestAction(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT MAX(sequence) AS sequence FROM operator_action')
  return Number(row?.['sequence'] ?? 0)
}

type Names = ReadonlyMap<string, string>

/** By the id of the token; revoked ones too. */
async function readTokenNames(queryable: Queryable): Promise<Names> {
  const tokens = await listKeys(queryable, { kind: 'admin', accountId: undefined })
  return new Map(tokens.filter(({ name }) => name !== '').map(({ id, name }) => [id, name]))
}

function readSequence(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw invalidField('cursor', 'must be the next_cursor of a page')
}

function viewAction(row: Row, names: Names): ActionView {
  const actor = String(row['actor'])
  return {
    at: timeText(Number(row['at_ms'])),
    sequence: Number(row['sequence']),
    actor,
    actor_name: names.get(actor) ?? null,
    action: String(row['action']),
    subject: String(row['subject']),
    detail: JSON.parse(String(row['detail'])) as Record<string, unknown>,
  }
}
