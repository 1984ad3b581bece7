/** What operators see of alerts: those that are firing, and what became of each message. */
import { z } from 'zod'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { accountReference } from '../input.ts'
import { operation, timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { alertKindNames, severities, type Alert } from './alert-kind.ts'
import { listFiring } from './alert-store.ts'
import { deliveryStates, listDeliveries, type LoggedDelivery } from './delivery-store.ts'
import { findTarget } from './target-store.ts'

const alertForm = z.strictObject({
  id: z.string(),
  kind: z.enum(alertKindNames),
  severity: z.enum(severities),
  subject: z.string(),
  account_id: z.string().nullable(),
  channel: z.string().nullable(),
  title: z.string(),
  text: z.string(),
  facts: z.record(
    z.string(),
    z.union([z.string(), z.number(), z.null(), z.array(z.string()).readonly()]),
  ),
  fired_at: moment,
})

const deliveryForm = z.strictObject({
  /** The receiver sees it as the id of the message. */
  id: z.string(),
  target: z.string(),
  event: z.enum(['firing', 'resolved']),
  kind: z.enum(alertKindNames),
  title: z.string(),
  alert_id: z.string(),
  account_id: z.string().nullable(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  /** What came of the last attempt. */
  outcome: z.string(),
  created_at: moment,
  /** When it is sent next; null when it is over. */
  due_at: moment.nullable(),
  ended_at: moment.nullable(),
})

export type DeliveryView = Answer<typeof deliveryForm>

const firingInput = z.strictObject({
  account: accountReference.optional().describe('Only alerts about this account, by name or id.'),
  ...pageFields,
})

/** Oldest first. An outage of the store is not among them: it is not in the store. */
export const firingAlerts = operation(
  { input: firingInput, answer: pageForm(alertForm) },
  async ({ database }, { account, cursor, limit }) => {
    const rows = await listFiring(database, {
      accountId: await findAccountId(database, account),
      afterId: cursor ?? '',
      countMax: limit + 1,
    })
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: viewAlert })
  },
)

const deliveriesInput = z.strictObject({
  target: z
    .string()
    .min(1, 'must name a target')
    .optional()
    .describe('Only this target, by name or id.'),
  account: accountReference.optional().describe('Only alerts about this account, by name or id.'),
  state: z.enum(deliveryStates).optional().describe('Only messages in this state.'),
  ...pageFields,
})

/** Newest first. The log of a deleted target is found by its id. */
export const alertDeliveries = operation(
  { input: deliveriesInput, answer: pageForm(deliveryForm) },
  async ({ database }, { target: reference, account, state, cursor, limit }) => {
    const target = reference === undefined ? undefined : await findTarget(database, reference)
    const rows = await listDeliveries(database, {
      targetId: target?.id ?? reference,
      accountId: await findAccountId(database, account),
      state,
      beforeId: cursor,
      countMax: limit + 1,
    })
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: viewDelivery })
  },
)

async function findAccountId(
  queryable: Queryable,
  reference: string | undefined,
): Promise<string | undefined> {
  return reference === undefined ? undefined : (await getAccount(queryable, reference)).id
}

function viewAlert(found: Alert): Answer<typeof alertForm> {
  const { id, kind, severity, subject, accountId, channel, ...alert } = found

  return {
    id,
    kind,
    severity,
    subject,
    account_id: accountId ?? null,
    channel: channel ?? null,
    title: alert.title,
    text: alert.text,
    facts: alert.facts,
    fired_at: timeText(alert.firedAtMs),
  }
}

function viewDelivery(delivery: LoggedDelivery): DeliveryView {
  const { id, kind, event, state, title, attempts, outcome } = delivery
  const isWaiting = state === 'waiting'
  return {
    id,
    target: delivery.targetId,
    event,
    kind,
    title,
    alert_id: delivery.alertId,
    account_id: delivery.accountId ?? null,
    state,
    attempts,
    outcome,
    created_at: timeText(delivery.createdAtMs),
    due_at: isWaiting ? timeText(delivery.dueAtMs) : null,
    ended_at: timeOrNull(delivery.endedAtMs),
  }
}
