/**
 * SQL of table alert_delivery, the outbox: which alert goes to which target. Each delivery is one message.
 * Invariant: its id and its alert never change, so that a receiver can recognise a repeat. It joins table
 * alert.
 */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Alert, AlertEvent, AlertKind } from './alert-kind.ts'
import { readAlert } from './alert-store.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
type DeliveryState = (typeof deliveryStates)[number]

export interface Delivery {
  /** The receiver sees it as the id of the message. */
  readonly id: string
  readonly alertId: string
  readonly targetId: string
  /** The contact of an account; empty: the address of the target. */
  readonly recipient: string
  readonly event: AlertEvent
  readonly kind: AlertKind
  readonly state: DeliveryState
  readonly dueAtMs: number
  readonly attempts: number
  /** What came of the last attempt, in words. */
  readonly outcome: string
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
}

/** A delivery that exists already is left as it is. */
export async function insertDelivery(
  transaction: Transaction,
  delivery: Pick<
    Delivery,
    'id' | 'alertId' | 'targetId' | 'recipient' | 'event' | 'kind' | 'createdAtMs'
  > & { readonly state: 'waiting' | 'dropped' },
): Promise<void> {
  await transaction.query(
    `INSERT INTO alert_delivery (id, alert_id, target_id, event, kind, state, due_at_ms, outcome,
       created_at_ms, ended_at_ms, recipient)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7, $9, $10)
     ON CONFLICT (alert_id, target_id, event) DO NOTHING`,
    [
      delivery.id,
      delivery.alertId,
      delivery.targetId,
      delivery.event,
      delivery.kind,
      delivery.state,
      delivery.createdAtMs,
      delivery.state === 'dropped' ? 'too many messages wait for this target' : '',
      delivery.state === 'dropped' ? delivery.createdAtMs : null,
      delivery.recipient,
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

/** A delivery with its alert, to be sent. */
export type Message = Pick<
  Delivery,
  'id' | 'targetId' | 'recipient' | 'event' | 'attempts' | 'createdAtMs'
> & { readonly alert: Alert }

/** An operator waits for the result of a test. */
const testsFirst = "CASE WHEN kind = 'alert.test' THEN 0 ELSE 1 END"

/** Lists messages that are due, tests first and then by age; at most so many of each target. */
export async function listDueMessages(
  queryable: Queryable,
  { nowMs, perTargetMax }: { readonly nowMs: number; readonly perTargetMax: number },
): Promise<Message[]> {
  const rows = await queryable.query(
    `SELECT d.delivery_id, d.target_id, d.recipient, d.event, d.attempts, d.created_at_ms, a.*
     FROM
       (SELECT id AS delivery_id, alert_id, target_id, recipient, event, attempts, created_at_ms,
          ${testsFirst} AS is_no_test, ROW_NUMBER() OVER
            (PARTITION BY target_id ORDER BY ${testsFirst}, due_at_ms, id) AS place
        FROM alert_delivery WHERE state = 'waiting' AND due_at_ms <= $1) AS d
     JOIN alert a ON a.id = d.alert_id
     WHERE d.place <= $2
     ORDER BY d.is_no_test, d.delivery_id`,
    [nowMs, perTargetMax],
  )
  return rows.map((row) => ({
    id: String(row['delivery_id']),
    targetId: String(row['target_id']),
    recipient: String(row['recipient']),
    event: String(row['event']) as AlertEvent,
    alert: readAlert(row),
    attempts: Number(row['attempts']),
    createdAtMs: Number(row['created_at_ms']),
  }))
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

/** Ends what waits for a target that is deleted. */
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

export interface LoggedDelivery extends Delivery {
  readonly title: string
  readonly accountId: string | undefined
}

/** Lists deliveries, newest first; `beforeId` continues a list. */
export async function listDeliveries(
  queryable: Queryable,
  {
    targetId,
    accountId,
    state,
    beforeId,
    countMax,
  }: {
    readonly targetId: string | undefined
    readonly accountId: string | undefined
    readonly state: DeliveryState | undefined
    readonly beforeId: string | undefined
    readonly countMax: number
  },
): Promise<LoggedDelivery[]> {
  const conditions = [
    ...(targetId === undefined ? [] : [{ text: 'd.target_id =', value: targetId }]),
    ...(accountId === undefined ? [] : [{ text: 'a.account_id =', value: accountId }]),
    ...(state === undefined ? [] : [{ text: 'd.state =', value: state }]),
    ...(beforeId === undefined ? [] : [{ text: 'd.id <', value: beforeId }]),
  ]
  const where = conditions.map(({ text }, index) => `${text} $${index + 2}`).join(' AND ')
  const rows = await queryable.query(
    `SELECT d.*, a.title, a.account_id FROM alert_delivery d LEFT JOIN alert a ON a.id = d.alert_id
     ${where === '' ? '' : `WHERE ${where}`} ORDER BY d.id DESC LIMIT $1`,
    [countMax, ...conditions.map(({ value }) => value)],
  )
  return rows.map((row) => ({
    ...readDelivery(row),
    title: String(row['title'] ?? ''),
    accountId: typeof row['account_id'] === 'string' ? row['account_id'] : undefined,
  }))
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
    alertId: String(row['alert_id']),
    targetId: String(row['target_id']),
    recipient: String(row['recipient']),
    event: String(row['event']) as AlertEvent,
    kind: String(row['kind']) as AlertKind,
    state: String(row['state']) as DeliveryState,
    dueAtMs: Number(row['due_at_ms']),
    attempts: Number(row['attempts']),
    outcome: String(row['outcome']),
    createdAtMs: Number(row['created_at_ms']),
    endedAtMs: endedAtMs === null ? undefined : Number(endedAtMs),
  }
}
