/** Endpoints of alerts: targets, what is firing, and the log of deliveries. */
import { alertDeliveries, firingAlerts } from './log.ts'
import {
  changeTarget,
  createTarget,
  listAlertTargets,
  removeTarget,
  showTarget,
  testTarget,
} from './targets.ts'
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
  deliveries: {
    route: 'GET /alerts/deliveries',
    summary: 'List what became of each message, newest first.',
    operation: alertDeliveries,
    example: { account: exampleNames.account },
  },
  // After the two lists above, which have addresses of the same form.
  show: {
    route: 'GET /alerts/{target}',
    summary: 'Show one alert target, by id or name.',
    operation: showTarget,
  },
  change: {
    route: 'PATCH /alerts/{target}',
    summary: 'Change an alert target: name, address, kinds, severity; what you leave out stays.',
    role: 'owner',
    operation: changeTarget,
    read: 'show',
    example: { min_severity: 'critical' },
  },
  remove: {
    route: 'DELETE /alerts/{target}',
    summary: 'Delete an alert target; messages that wait for it are dropped.',
    role: 'owner',
    operation: removeTarget,
    read: 'show',
  },
  test: {
    route: 'POST /alerts/{target}/test',
    summary: 'Send a test message to a target.',
    operation: testTarget,
  },
})
