/** The log of deliveries: the result of each message. */
import { z } from 'zod'
import { facts, moment, pageForm, type Answer } from '../answer-forms.ts'
import { operation, timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { alertKindNames } from './alert-kind.ts'
import { deliveryStates, listDeliveries, type Delivery } from './delivery-store.ts'
import { findTarget } from './target-store.ts'

const deliveryForm = z.strictObject({
  /** The receiver sees it as the id of the message. */
  id: z.string(),
  target: z.string(),
  event: z.enum(['firing', 'resolved']),
  kind: z.enum(alertKindNames),
  title: z.string(),
  facts,
  alert_id: z.string(),
  account_id: z.string().nullable(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  /** The result of the last attempt. */
  outcome: z.string(),
  created_at: moment,
  /** When it is sent next; null when it is over. */
  due_at: moment.nullable(),
  ended_at: moment.nullable(),
})

export type DeliveryView = Answer<typeof deliveryForm>

const deliveriesInput = z.strictObject({
  target: z
    .string()
    .min(1, 'must name a target')
    .optional()
    .describe('Only this target, by name or id.'),
  state: z.enum(deliveryStates).optional().describe('Only messages in this state.'),
  ...pageFields,
})

/** Newest first. The log of a deleted target is found by its id. */
export const alertDeliveries = operation(
  { input: deliveriesInput, answer: pageForm(deliveryForm) },
  async ({ database }, { target: reference, state, cursor, limit }) => {
    const target = reference === undefined ? undefined : await findTarget(database, reference)
    const rows = await listDeliveries(database, {
      targetId: target?.id ?? reference,
      state,
      beforeId: cursor,
      countMax: limit + 1,
    })
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: viewDelivery })
  },
)

function viewDelivery(delivery: Delivery): DeliveryView {
  const { notice, state } = delivery
  const { condition } = notice
  return {
    id: delivery.id,
    target: delivery.targetId,
    event: notice.event,
    kind: condition.kind,
    title: condition.title,
    facts: condition.facts,
    alert_id: notice.alertId,
    account_id: condition.accountId ?? null,
    state,
    attempts: delivery.attempts,
    outcome: delivery.outcome,
    created_at: timeText(notice.atMs),
    due_at: state === 'waiting' ? timeText(delivery.dueAtMs) : null,
    ended_at: timeOrNull(delivery.endedAtMs),
  }
}
