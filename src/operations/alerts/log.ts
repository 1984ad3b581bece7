/** What operators see of alerts: those that are firing, and what became of each message. */
import { z } from 'zod'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { accountReference } from '../input.ts'
import { operation, timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf, type Page } from '../paging.ts'
import type { Alert } from './alert-kind.ts'
import { listFiring, type AlertChange } from './alert-store.ts'
import { deliveryStates, listDeliveries, type LoggedDelivery } from './delivery-store.ts'
import { findTarget } from './target-store.ts'

/** Oldest first. An outage of the store is not among them: it is not in the store. */
export const firingAlerts = operation(
  z.strictObject({
    account: accountReference.optional().describe('Only alerts about this account, by name or id.'),
    ...pageFields,
  }),
  async ({ database }, { account, cursor, limit }): Promise<Page<AlertView>> => {
    const rows = await listFiring(database, {
      accountId: await findAccountId(database, account),
      afterId: cursor ?? '',
      countMax: limit + 1,
    })
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: viewAlert })
  },
)

/** Newest first. The log of a deleted target is found by its id. */
export const alertDeliveries = operation(
  z.strictObject({
    target: z
      .string()
      .min(1, 'must name a target')
      .optional()
      .describe('Only this target, by name or id.'),
    account: accountReference.optional().describe('Only alerts about this account, by name or id.'),
    state: z.enum(deliveryStates).optional().describe('Only messages in this state.'),
    ...pageFields,
  }),
  async (
    { database },
    { target: reference, account, state, cursor, limit },
  ): Promise<Page<DeliveryView>> => {
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

export type AlertView = Readonly<ReturnType<typeof viewAlert>>

function viewAlert({ id, kind, severity, subject, accountId, channel, ...alert }: Alert) {
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

/** An alert as the feed of events shows it. */
export function viewAlertChange({ alert, event }: AlertChange) {
  const { id, ...view } = viewAlert(alert)
  return { id, event, ...view, resolved_at: timeOrNull(alert.resolvedAtMs) }
}

export type DeliveryView = Readonly<ReturnType<typeof viewDelivery>>

function viewDelivery(delivery: LoggedDelivery) {
  const { id, kind, event, state, title, attempts, outcome } = delivery
  const isWaiting = state === 'waiting'
  return {
    /** The receiver sees it as the id of the message. */
    id,
    target: delivery.targetId,
    /** Firing or resolved. */
    event,
    kind,
    title,
    alert_id: delivery.alertId,
    account_id: delivery.accountId ?? null,
    state,
    attempts,
    /** Of the last attempt. */
    outcome,
    created_at: timeText(delivery.createdAtMs),
    /** When it is sent next; null when it is over. */
    due_at: isWaiting ? timeText(delivery.dueAtMs) : null,
    ended_at: timeOrNull(delivery.endedAtMs),
  }
}
