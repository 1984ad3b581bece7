/**
 * SQL of table alert_delivery, the outbox: which alert goes to which target, packed into which message.
 * Invariant: a message keeps its id and its alerts from the first attempt on, so that a receiver can
 * recognise a repeat. It joins table alert.
 */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Alert, AlertEvent, AlertKind, Severity } from './alert-kind.ts'
import { readAlert } from './alert-store.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
type DeliveryState = (typeof deliveryStates)[number]

export interface Delivery {
  readonly id: string
  readonly alertId: string
  readonly targetId: string
  /** The contact of an account; empty: the address of the target. */
  readonly recipient: string
  readonly event: AlertEvent
  readonly kind: AlertKind
  readonly severity: Severity
  readonly state: DeliveryState
  readonly dueAtMs: number
  /** Undefined until it is packed. */
  readonly messageId: string | undefined
  readonly packedAtMs: number | undefined
  /** It has waited for the end of quiet hours. */
  readonly wasQuiet: boolean
  readonly attempts: number
  /** Of the last attempt, in words. */
  readonly outcome: string
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
}

/** A delivery that exists already is left as it is. */
export async function insertDelivery(
  transaction: Transaction,
  delivery: Pick<
    Delivery,
    'id' | 'alertId' | 'targetId' | 'recipient' | 'event' | 'kind' | 'severity' | 'createdAtMs'
  > & { readonly state: 'waiting' | 'dropped' },
): Promise<void> {
  await transaction.query(
    `INSERT INTO alert_delivery (id, alert_id, target_id, event, kind, severity, state, due_at_ms,
       outcome, created_at_ms, ended_at_ms, recipient)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $10, $11)
     ON CONFLICT (alert_id, target_id, event) DO NOTHING`,
    [
      delivery.id,
      delivery.alertId,
      delivery.targetId,
      delivery.event,
      delivery.kind,
      delivery.severity,
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

/** Lists due deliveries that have no message yet, oldest first. */
export async function listUnpacked(
  queryable: Queryable,
  { nowMs, countMax }: { readonly nowMs: number; readonly countMax: number },
): Promise<Delivery[]> {
  const rows = await queryable.query(
    `SELECT * FROM alert_delivery
     WHERE state = 'waiting' AND message_id IS NULL AND due_at_ms <= $1
     ORDER BY due_at_ms, id LIMIT $2`,
    [nowMs, countMax],
  )
  return rows.map(readDelivery)
}

/** Returns when the last message of this kind and event was packed for the target. */
export async function lastPackedAt(
  queryable: Queryable,
  group: Pick<Delivery, 'targetId' | 'recipient' | 'kind' | 'event'>,
): Promise<number | undefined> {
  const [row] = await queryable.query(
    `SELECT MAX(packed_at_ms) AS packed_at_ms FROM alert_delivery
     WHERE target_id = $1 AND recipient = $2 AND kind = $3 AND event = $4`,
    [group.targetId, group.recipient, group.kind, group.event],
  )
  const packedAtMs = row?.['packed_at_ms'] ?? null
  return packedAtMs === null ? undefined : Number(packedAtMs)
}

/** Lets an unpacked delivery wait. */
export async function postpone(
  transaction: Transaction,
  id: string,
  until: { readonly dueAtMs: number; readonly isQuiet: boolean },
): Promise<void> {
  await transaction.query(
    `UPDATE alert_delivery SET due_at_ms = $2, was_quiet = $3
     WHERE id = $1 AND message_id IS NULL AND state = 'waiting'`,
    [id, until.dueAtMs, until.isQuiet ? 1 : 0],
  )
}

/** Puts a delivery into a message; one that is in a message already stays there. */
export async function pack(
  transaction: Transaction,
  id: string,
  message: { readonly id: string; readonly atMs: number },
): Promise<void> {
  await transaction.query(
    `UPDATE alert_delivery SET message_id = $2, packed_at_ms = $3
     WHERE id = $1 AND message_id IS NULL AND state = 'waiting'`,
    [id, message.id, message.atMs],
  )
}

export interface PackedAlert {
  readonly alert: Alert
  readonly event: AlertEvent
}

/** A message to one target: one alert, or several. */
export interface Message {
  readonly id: string
  readonly targetId: string
  readonly recipient: string
  readonly packedAtMs: number
  readonly attempts: number
  readonly alerts: readonly PackedAlert[]
}

/** An operator waits for the result of a test. */
const testsFirst = "CASE WHEN kind = 'alert.test' THEN 0 ELSE 1 END"

/** Lists messages that are due, the longest due first, at most so many of each target. */
export async function listDueMessages(
  queryable: Queryable,
  { nowMs, perTargetMax }: { readonly nowMs: number; readonly perTargetMax: number },
): Promise<Message[]> {
  const rows = await queryable.query(
    `SELECT d.message_id, d.target_id, d.recipient, d.packed_at_ms, d.attempts, d.event, a.*
     FROM alert_delivery d JOIN alert a ON a.id = d.alert_id
     WHERE d.message_id IN
       (SELECT message_id FROM
         (SELECT message_id, ROW_NUMBER() OVER
            (PARTITION BY target_id ORDER BY MIN(${testsFirst}), MIN(due_at_ms), message_id) AS place
          FROM alert_delivery
          WHERE state = 'waiting' AND message_id IS NOT NULL AND due_at_ms <= $1
          GROUP BY target_id, message_id) AS due
        WHERE place <= $2)
     ORDER BY CASE WHEN d.kind = 'alert.test' THEN 0 ELSE 1 END, d.packed_at_ms, d.message_id, d.id`,
    [nowMs, perTargetMax],
  )
  const messages = new Map<string, Message & { alerts: PackedAlert[] }>()
  for (const row of rows) {
    const id = String(row['message_id'])
    const packed = { alert: readAlert(row), event: String(row['event']) as AlertEvent }
    const known = messages.get(id)
    if (known !== undefined) known.alerts.push(packed)
    else
      messages.set(id, {
        id,
        targetId: String(row['target_id']),
        recipient: String(row['recipient']),
        packedAtMs: Number(row['packed_at_ms']),
        attempts: Number(row['attempts']),
        alerts: [packed],
      })
  }
  return [...messages.values()]
}

/** Writes the result of an attempt: an end, or when the next one is due. */
export async function saveAttempt(
  transaction: Transaction,
  messageId: string,
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
     WHERE message_id = $1 AND state = 'waiting'`,
    [messageId, outcome, next.state, isWaiting ? next.dueAtMs : atMs, isWaiting ? null : atMs],
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
  const messageId = row['message_id']
  return {
    id: String(row['id']),
    alertId: String(row['alert_id']),
    targetId: String(row['target_id']),
    recipient: String(row['recipient']),
    event: String(row['event']) as AlertEvent,
    kind: String(row['kind']) as AlertKind,
    severity: String(row['severity']) as Severity,
    state: String(row['state']) as DeliveryState,
    dueAtMs: Number(row['due_at_ms']),
    messageId: typeof messageId === 'string' ? messageId : undefined,
    packedAtMs: readTime(row, 'packed_at_ms'),
    wasQuiet: Number(row['was_quiet']) === 1,
    attempts: Number(row['attempts']),
    outcome: String(row['outcome']),
    createdAtMs: Number(row['created_at_ms']),
    endedAtMs: readTime(row, 'ended_at_ms'),
  }
}

function readTime(row: Row, column: string): number | undefined {
  const value = row[column] ?? null
  return value === null ? undefined : Number(value)
}
