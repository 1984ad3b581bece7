/**
 * SQL of table alert_delivery, the outbox: one message to one target. Invariant: its id and text
 * never change, so that a receiver can recognise a repeat.
 */
import { defaultLanguage, type Language } from '../../base/languages.ts'
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'
import type { Notice } from './alert-kind.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
type DeliveryState = (typeof deliveryStates)[number]

const deliveryForm = rowForm({
  /** The receiver sees it as the id of the message. */
  id: column.text,
  /** The contact of an account; empty: the address of the target. */
  recipient: column.text,
  /** Of a mail to a contact. */
  language: column.word<Language>(),
  notice: column.json<Notice>(),
  targetId: column.text,
  state: column.word<DeliveryState>(),
  dueAtMs: column.number,
  attempts: column.number,
  /** The result of the last attempt, in words. */
  outcome: column.text,
  endedAtMs: column.optional(column.number),
})
export type Delivery = Read<typeof deliveryForm>

export type Addressee = Pick<Delivery, 'recipient' | 'language'>

/** Messages to the address of a target are for operators, and in English. */
export const atTarget: Addressee = { recipient: '', language: defaultLanguage }

/** The parts of a message. */
export type Message = Addressee & Pick<Delivery, 'id' | 'notice'>

export async function insertDelivery(
  transaction: Transaction,
  delivery: Message & { readonly targetId: string; readonly state: 'waiting' | 'dropped' },
): Promise<void> {
  const { atMs, condition } = delivery.notice
  const isDropped = delivery.state === 'dropped'
  await insertRow(transaction, 'alert_delivery', {
    ...deliveryForm.write({ ...delivery, dueAtMs: atMs }),
    kind: condition.kind,
    outcome: isDropped ? 'too many messages wait for this target' : '',
    created_at_ms: atMs,
    ended_at_ms: isDropped ? atMs : null,
  })
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
  return rows.map(deliveryForm.read)
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
  const conditions = new Conditions()
  conditions.compare('target_id =', targetId)
  conditions.compare('state =', state)
  conditions.compare('id <', beforeId)
  const rows = await queryable.query(
    `SELECT * FROM alert_delivery WHERE ${conditions.text}
      ORDER BY id DESC LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return rows.map(deliveryForm.read)
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
