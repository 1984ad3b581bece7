/**
 * SQL of table alert_delivery, the outbox: one message to one target. Invariant: its id and text
 * never change, so that a receiver can recognise a repeat.
 */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Notice } from './alert-kind.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
type DeliveryState = (typeof deliveryStates)[number]

/** The parts of a message. */
export interface Message {
  /** The receiver sees it as the id of the message. */
  readonly id: string
  /** The contact of an account; empty: the address of the target. */
  readonly recipient: string
  readonly notice: Notice
}

export interface Delivery extends Message {
  readonly targetId: string
  readonly state: DeliveryState
  readonly dueAtMs: number
  readonly attempts: number
  /** The result of the last attempt, in words. */
  readonly outcome: string
  readonly endedAtMs: number | undefined
}

export async function insertDelivery(
  transaction: Transaction,
  {
    id,
    targetId,
    recipient,
    notice,
    state,
  }: Message & { readonly targetId: string; readonly state: 'waiting' | 'dropped' },
): Promise<void> {
  const isDropped = state === 'dropped'
  await transaction.query(
    `INSERT INTO alert_delivery (id, target_id, recipient, kind, notice, state, due_at_ms, outcome,
       created_at_ms, ended_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7, $9)`,
    [
      id,
      targetId,
      recipient,
      notice.condition.kind,
      JSON.stringify(notice),
      state,
      notice.atMs,
      isDropped ? 'too many messages wait for this target' : '',
      isDropped ? notice.atMs : null,
    ],
  )
}

/** Returns how many deliveries wait, by target. */
export async function countWaiting(queryable: Queryable): Promise<Map<string, number>> {
  const rows = await queryable.query(
    `SELECT target_id, COUNT(*) AS waiting FROM alert_delivery WHERE state = 'waiting'
     GROUP BY target_id`,
  )
  return new Map(rows.map((row) => [String(row['target_id']), Number(row['waiting'])]))
}

/** An operator waits for the result of a test. */
const testsFirst = "CASE WHEN kind = 'alert.test' THEN 0 ELSE 1 END"

/** Lists messages that are due, tests first and then by age; at most `perTargetMax` of each target. */
export async function listDueMessages(
  queryable: Queryable,
  { nowMs, perTargetMax }: { readonly nowMs: number; readonly perTargetMax: number },
): Promise<Delivery[]> {
  const rows = await queryable.query(
    `SELECT * FROM
       (SELECT *, ${testsFirst} AS is_no_test, ROW_NUMBER() OVER
          (PARTITION BY target_id ORDER BY ${testsFirst}, due_at_ms, id) AS place
        FROM alert_delivery WHERE state = 'waiting' AND due_at_ms <= $1) AS due
     WHERE place <= $2 ORDER BY is_no_test, id`,
    [nowMs, perTargetMax],
  )
  return rows.map(readDelivery)
}

/** Writes the result of an attempt: an end, or when the next one is due. */
export async function saveAttempt(
  transaction: Transaction,
  id: string,
  result: {
    readonly atMs: number
    readonly outcome: string
    readonly next:
      | { readonly state: 'delivered' | 'failed' }
      | { readonly state: 'waiting'; readonly dueAtMs: number }
  },
): Promise<void> {
  const { next, outcome, atMs } = result
  const isWaiting = next.state === 'waiting'
  await transaction.query(
    `UPDATE alert_delivery SET attempts = attempts + 1, outcome = $2, state = $3,
       due_at_ms = $4, ended_at_ms = $5
     WHERE id = $1 AND state = 'waiting'`,
    [id, outcome, next.state, isWaiting ? next.dueAtMs : atMs, isWaiting ? null : atMs],
  )
}

/** Ends the deliveries that wait for a deleted target. */
export async function dropWaiting(
  transaction: Transaction,
  targetId: string,
  atMs: number,
): Promise<void> {
  await transaction.query(
    `UPDATE alert_delivery SET state = 'dropped', outcome = 'the target was deleted', ended_at_ms = $2
     WHERE target_id = $1 AND state = 'waiting'`,
    [targetId, atMs],
  )
}

/** Lists deliveries, newest first; `beforeId` continues a list. */
export async function listDeliveries(
  queryable: Queryable,
  {
    targetId,
    state,
    beforeId,
    countMax,
  }: {
    readonly targetId: string | undefined
    readonly state: DeliveryState | undefined
    readonly beforeId: string | undefined
    readonly countMax: number
  },
): Promise<Delivery[]> {
  const conditions = [
    ...(targetId === undefined ? [] : [{ text: 'target_id =', value: targetId }]),
    ...(state === undefined ? [] : [{ text: 'state =', value: state }]),
    ...(beforeId === undefined ? [] : [{ text: 'id <', value: beforeId }]),
  ]
  const where = conditions.map(({ text }, index) => `${text} $${index + 2}`).join(' AND ')
  const rows = await queryable.query(
    `SELECT * FROM alert_delivery ${where === '' ? '' : `WHERE ${where}`} ORDER BY id DESC LIMIT $1`,
    [countMax, ...conditions.map(({ value }) => value)],
  )
  return rows.map(readDelivery)
}

/** Removes deliveries made before `beforeMs`, at most `countMax`; each has ended long before. */
export async function removeOldDeliveries(
  transaction: Transaction,
  { beforeMs, countMax }: { readonly beforeMs: number; readonly countMax: number },
): Promise<void> {
  await transaction.query(
    `DELETE FROM alert_delivery WHERE id IN
       (SELECT id FROM alert_delivery WHERE created_at_ms < $1 ORDER BY created_at_ms LIMIT $2)`,
    [beforeMs, countMax],
  )
}

function readDelivery(row: Row): Delivery {
  const endedAtMs = row['ended_at_ms'] ?? null
  return {
    id: String(row['id']),
    targetId: String(row['target_id']),
    recipient: String(row['recipient']),
    notice: JSON.parse(String(row['notice'])) as Notice,
    state: String(row['state']) as DeliveryState,
    dueAtMs: Number(row['due_at_ms']),
    attempts: Number(row['attempts']),
    outcome: String(row['outcome']),
    endedAtMs: endedAtMs === null ? undefined : Number(endedAtMs),
  }
}
