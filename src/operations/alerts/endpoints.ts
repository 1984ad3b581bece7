/** Endpoints of alerts: targets, what is firing, and the log of deliveries. */
import { z } from 'zod'
import { alertKindNames, severities } from './alert-kind.ts'
import { alertDeliveries, firingAlerts } from './log.ts'
import { targetFormats } from './target-store.ts'
import {
  changeTarget,
  createTarget,
  listAlertTargets,
  removeTarget,
  showTarget,
  testTarget,
} from './targets.ts'
import { endpoints, exampleNames } from '../endpoint.ts'
import { moment, pageForm } from '../answer-forms.ts'

const target = z.strictObject({
  id: z.string(),
  name: z.string(),
  format: z.enum(targetFormats),
  address: z.string().meta({ description: 'Of a URL only its origin: the URL is a secret.' }),
  url_revision: z
    .string()
    .nullable()
    .meta({ description: 'Differs after each change of the URL; null for e-mail.' }),
  kinds: z.array(z.string()).nullable().meta({ description: 'Null = all.' }),
  min_severity: z.enum(severities),
  created_at: moment,
})

const kind = z.enum(alertKindNames)

export const firingAlert = z.strictObject({
  id: z.string(),
  kind,
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

const delivery = z.strictObject({
  id: z.string(),
  target: z.string(),
  event: z.enum(['firing', 'resolved']),
  kind,
  title: z.string(),
  alert_id: z.string(),
  account_id: z.string().nullable(),
  state: z.enum(['waiting', 'delivered', 'failed', 'dropped']),
  attempts: z.int(),
  outcome: z.string(),
  created_at: moment,
  due_at: moment.nullable(),
  ended_at: moment.nullable(),
})

export const alertEndpoints = endpoints('alerts', {
  list: {
    route: 'GET /alerts',
    summary: 'List alert targets, by name.',
    operation: listAlertTargets,
    answer: pageForm(target),
  },
  create: {
    route: 'POST /alerts',
    summary: 'Create an alert target; the secret of a webhook is shown once.',
    role: 'owner',
    operation: createTarget,
    answer: z.strictObject({ target, secret: z.string().nullable() }),
    repeats: 'secret',
    status: 201,
    example: { name: 'pager', format: 'webhook', address: 'https://hooks.example/alerts' },
  },
  firing: {
    route: 'GET /alerts/firing',
    summary: 'List the alerts that are firing, oldest first.',
    operation: firingAlerts,
    answer: pageForm(firingAlert),
    example: { account: exampleNames.account },
  },
  deliveries: {
    route: 'GET /alerts/deliveries',
    summary: 'List what became of each message, newest first.',
    operation: alertDeliveries,
    answer: pageForm(delivery),
    example: { account: exampleNames.account },
  },
  // After the two lists above, which have addresses of the same form.
  show: {
    route: 'GET /alerts/{target}',
    summary: 'Show one alert target, by id or name.',
    operation: showTarget,
    answer: target,
  },
  change: {
    route: 'PATCH /alerts/{target}',
    summary: 'Change an alert target: name, address, kinds, severity; what you leave out stays.',
    role: 'owner',
    operation: changeTarget,
    answer: target,
    read: 'show',
    example: { min_severity: 'critical' },
  },
  remove: {
    route: 'DELETE /alerts/{target}',
    summary: 'Delete an alert target; messages that wait for it are dropped.',
    role: 'owner',
    operation: removeTarget,
    answer: target,
    read: 'show',
  },
  test: {
    route: 'POST /alerts/{target}/test',
    summary: 'Send a test message to a target.',
    operation: testTarget,
    answer: z.strictObject({ target: z.string(), delivery: z.string() }),
  },
})
