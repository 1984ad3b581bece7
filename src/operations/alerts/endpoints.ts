/** Endpoints of alerts: targets, firing alerts, and the log of deliveries. */
import { alertDeliveries } from './log.ts'
import { acknowledgeAlert, firingAlerts, snoozeAlert } from './firing.ts'
import { createTarget, listAlertTargets, removeTarget, testTarget } from './targets.ts'
import { endpoints, exampleNames } from '../endpoint.ts'

export const alertEndpoints = endpoints('alerts', {
  list: {
    route: 'GET /alerts',
    summary: 'List alert targets, by name.',
    operation: listAlertTargets,
  },
  create: {
    route: 'POST /alerts',
    summary: 'Create an alert target; the secret of a webhook is shown once.',
    role: 'owner',
    operation: createTarget,
    repeats: 'secret',
    status: 201,
    example: { name: 'pager', format: 'webhook', address: 'https://hooks.example/alerts' },
  },
  firing: {
    route: 'GET /alerts/firing',
    summary: 'List the alerts that are firing, oldest first.',
    operation: firingAlerts,
    example: { account: exampleNames.account },
  },
  acknowledge: {
    route: 'POST /alerts/firing/{alert}/acknowledge',
    summary: 'Acknowledge an alert: no more messages until it gets worse or ends.',
    operation: acknowledgeAlert,
  },
  snooze: {
    route: 'POST /alerts/firing/{alert}/snooze',
    summary: 'Acknowledge an alert for a time; it is sent again if it still holds then.',
    operation: snoozeAlert,
    example: { for: '4h' },
  },
  deliveries: {
    route: 'GET /alerts/deliveries',
    summary: 'List what became of each message, newest first.',
    operation: alertDeliveries,
  },
  remove: {
    route: 'DELETE /alerts/{target}',
    summary: 'Delete an alert target; messages that wait for it are dropped.',
    role: 'owner',
    operation: removeTarget,
  },
  test: {
    route: 'POST /alerts/{target}/test',
    summary: 'Send a test message to a target.',
    operation: testTarget,
  },
})
