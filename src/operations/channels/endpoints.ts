/** Endpoints of channels: their health and history, on, off, check, and reconciliation. */
import { z } from 'zod'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { shownShape } from '../../channels/catalogue/field.ts'
import { checkChannel } from './channel-check.ts'
import { channelHistory, listChannels, showChannel } from './channel-health.ts'
import { switchChannel } from './channels.ts'
import { reconcileChannel } from '../reconcile/reconcile.ts'
import { endpoints, exampleNames, fileBodyBytesMax } from '../endpoint.ts'
import { moment, pageForm, usd } from '../answer-forms.ts'

const times = z.strictObject({ p50: z.int(), p95: z.int() }).nullable()

const failure = z.strictObject({ class: z.string(), count: z.int(), last_at: moment })

const nextStep = z.strictObject({
  by: z.enum(['operator', 'gateway']),
  text: z.string(),
  how: z.string().nullable().meta({ description: 'How the operator does it.' }),
  at: moment.nullable().meta({ description: 'When the gateway does it; null = no time is set.' }),
})

const share = z.number().nullable()

const health = z.strictObject({
  model: z.string(),
  state: z.enum(['on', 'off', 'trial', 'ramp', 'slow', 'disabled']),
  since: moment.nullable(),
  why: z.string(),
  is_usable: z.boolean(),
  share: z.number().meta({ description: "Share of the model's requests, 0 to 1." }),
  running: z.int(),
  wakes_at: moment.nullable(),
  rests_until: moment.nullable(),
  last_ok_at: moment.nullable(),
  first_event_ms: times,
  usual_first_event_ms: times,
  failures: z.array(failure),
  node: z.string(),
  published_at: moment,
  age_ms: z.number(),
  is_live: z.boolean(),
  next_steps: z.array(nextStep).meta({ description: 'Empty where nothing is due.' }),
})

const traffic = z.strictObject({
  model: z.string(),
  recent: z
    .strictObject({
      attempts: z.int(),
      failed: z.int(),
      share: share.meta({ description: "Of the model's attempts; null without any." }),
    })
    .nullable()
    .meta({
      description: 'Attempts of ten minutes on all running gateways; null where none is running.',
    }),
  today: z
    .strictObject({
      requests: z.int(),
      errors: z.int(),
      share: share.meta({ description: "Of the model's requests; null without any." }),
      checks: z.int(),
      own_cost_usd: usd,
      estimated_cost_usd: usd,
      unknown_cost_requests: z.int(),
    })
    .meta({ description: 'The day so far, UTC.' }),
})

const channel = z.strictObject({
  name: z.string(),
  ...shownShape(channelFields),
  enabled: z.boolean().meta({ description: 'False = disabled by an operator.' }),
})

const listing = channel.extend({
  health: z.array(health),
  traffic: z.array(traffic).meta({ description: 'One per model.' }),
})

const node = z.strictObject({
  id: z.string(),
  name: z.string(),
  region: z.string(),
  started_at: moment,
  seen_at: moment,
  age_ms: z.number(),
  is_running: z.boolean(),
  makes_checks: z.boolean(),
})

const healthMoment = { at: moment, is_live: z.boolean(), nodes: z.array(node) }

export const channelChange = z.strictObject({
  at: moment,
  channel: z.string(),
  model: z.string().nullable().meta({ description: 'Null = all models of the channel.' }),
  from: z.string(),
  to: z.string(),
  why: z.string(),
  actor: z.string().nullable(),
  node: z.string().nullable(),
  failures: z.array(failure),
  first_event_ms: times,
  usual_first_event_ms: times,
  wakes_at: moment.nullable(),
})

const detail = listing.extend({
  ...healthMoment,
  check_cost: z.strictObject({ month: z.string(), count: z.int(), usd }),
  history: z.array(channelChange),
})

const checked = z.strictObject({
  channel: z.string(),
  ok: z.boolean(),
  gateways_asked: z.int(),
  results: z.array(
    z.strictObject({
      gateway: z.strictObject({ id: z.string(), name: z.string(), region: z.string() }).nullable(),
      ok: z.boolean(),
      reason: z.string().nullable(),
      models: z.array(
        z.strictObject({
          model: z.string(),
          ok: z.boolean(),
          outcome: z.string(),
          status: z.int().nullable(),
          duration_ms: z.int(),
        }),
      ),
    }),
  ),
})

const counts = z.record(z.string(), z.int())

const reconciliation = z.strictObject({
  channel: z.string(),
  from: moment,
  to: moment,
  explained_from: moment.nullable(),
  unclean_stops: z.array(z.strictObject({ node: z.string(), from: moment, to: moment.nullable() })),
  models: z.array(
    z.strictObject({
      channel: z.string(),
      model: z.string(),
      charged_requests: z.int(),
      charged_tokens: counts,
      charged_usd: usd,
      estimated_requests: z.int(),
      estimated_usd: usd,
      capped_requests: z.int(),
      not_charged_usd: usd,
      uncharged_requests: z.int(),
      other_attempts: z.int(),
      operator_cost_usd: usd,
      own_cost_usd: usd.nullable(),
      checks: z.int(),
      check_tokens: counts,
      check_usd: usd,
    }),
  ),
  comparison: z
    .strictObject({
      figures: z.array(
        z.strictObject({
          model: z.string(),
          figure: z.string(),
          vendor: z.number(),
          ours: z.number(),
          difference: z.number(),
        }),
      ),
      unknown_models: z.array(z.string()),
      verdicts: z.array(
        z.strictObject({
          model: z.string(),
          models: z.array(z.string()),
          vendor_models: z.array(z.string()),
          verdict: z.enum(['explained', 'possible', 'unexplained']),
          difference_usd: usd,
          explained_up_to_usd: usd,
          possible_up_to_usd: usd,
          not_charged_usd: usd,
          reasons: z.array(z.string()),
        }),
      ),
      costs: z.array(
        z.strictObject({
          model: z.string().nullable(),
          vendor_models: z.array(z.string()),
          vendor_usd: usd,
          charged_usd: usd,
          own_cost_usd: usd.nullable(),
          difference_usd: usd.nullable(),
        }),
      ),
      fields_not_compared: z.array(z.string()),
      rows_outside_period: z.int(),
      has_more_pages: z.boolean(),
    })
    .nullable()
    .meta({ description: "Null without the vendor's counts." }),
})

export const channelEndpoints = endpoints('channels', {
  list: {
    route: 'GET /channels',
    summary: 'List the channels with their health.',
    operation: listChannels,
    answer: z.strictObject({ ...healthMoment, ...pageForm(listing).shape }),
  },
  show: {
    route: 'GET /channels/{channel}',
    summary: 'Show one channel: settings, health, cost of checks, recent history.',
    operation: showChannel,
    answer: detail,
  },
  history: {
    route: 'GET /channels/{channel}/history',
    summary: 'List the state changes of a channel, newest first.',
    operation: channelHistory,
    answer: pageForm(channelChange),
  },
  changes: {
    id: 'channel-changes.list',
    route: 'GET /channel-changes',
    summary: 'List the state changes of all channels, newest first.',
    operation: channelHistory,
    answer: pageForm(channelChange),
  },
  off: {
    route: 'POST /channels/{channel}/off',
    summary: 'Disable a channel until it is enabled again.',
    operation: switchChannel,
    fixed: { override: 'disabled' },
    answer: channel,
  },
  on: {
    route: 'POST /channels/{channel}/on',
    summary: 'Enable a disabled channel.',
    operation: switchChannel,
    fixed: { override: 'enabled' },
    answer: channel,
  },
  check: {
    route: 'POST /channels/{channel}/check',
    summary: 'Have each running gateway send a small real request per model.',
    operation: checkChannel,
    answer: checked,
  },
  reconcile: {
    id: 'reconciliations.create',
    route: 'POST /reconciliations',
    summary: "Compare the charges on a channel with the vendor's own counts.",
    operation: reconcileChannel,
    bodyBytesMax: fileBodyBytesMax,
    answer: reconciliation,
    example: { channel: exampleNames.channel, from: '2026-01-01', to: '2026-01-31' },
  },
})
