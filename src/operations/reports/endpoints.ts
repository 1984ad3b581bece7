/** Endpoints of reports. */
import { z } from 'zod'
import { severities } from '../alerts/alert-kind.ts'
import { showOverview } from './overview.ts'
import { printReport } from './report-text.ts'
import { readReport } from './report.ts'
import { auditResults, auditScopes } from '../store/audit-forms.ts'
import { endpoints, rowOf, type StreamEndpoint } from '../endpoint.ts'
import { moment, pageForm, usd } from '../answer-forms.ts'

const grouped = z.string().nullable().meta({ description: 'Null where the report is not by it.' })
const count = z.int()
const milliseconds = z.int().nullable().meta({ description: 'Null without any first event.' })

const row = z.strictObject({
  day: grouped,
  account_id: grouped,
  account: grouped,
  key_id: grouped,
  key: grouped,
  model: grouped,
  channel: grouped,
  requests: count,
  charged_requests: count,
  errors: count,
  failovers: count,
  checks: count,
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  revenue_usd: usd,
  refunded_usd: usd,
  own_cost_usd: usd.meta({ description: 'Exact: what vendors counted, at cost prices.' }),
  estimated_cost_usd: usd.meta({ description: 'Estimated: lost attempts, and checks.' }),
  unknown_cost_requests: count,
  unknown_cost_revenue_usd: usd.meta({
    description: 'Charges of requests whose own cost is unknown, less refunds.',
  }),
  margin_usd: usd
    .nullable()
    .meta({ description: 'Null where the own cost of a request is unknown.' }),
  known_margin_usd: usd.meta({
    description: 'Margin without the requests whose own cost is unknown.',
  }),
  first_event_p50_ms: milliseconds,
  first_event_p95_ms: milliseconds,
})

const day = z.strictObject({
  day: z.string(),
  requests: count,
  charged_requests: count,
  errors: count,
  failovers: count,
  tokens: count,
  revenue_usd: usd,
  refunded_usd: usd,
  unknown_cost_revenue_usd: usd,
  margin_usd: usd.nullable(),
  known_margin_usd: usd,
  first_event_p50_ms: milliseconds,
  first_event_p95_ms: milliseconds,
})

const overview = z.strictObject({
  at: moment,
  today: day,
  yesterday: day,
  yesterday_so_far: day
    .extend({ until: moment })
    .nullable()
    .meta({ description: 'Yesterday up to this time of the day, or a few minutes before.' }),
  hours: z
    .array(
      day.extend({
        from: moment,
        until: moment,
        is_exact: z.boolean().meta({
          description: 'False where no gateway recorded the figures at its beginning or its end.',
        }),
      }),
    )
    .readonly()
    .meta({ description: 'Yesterday and today by hour (UTC), oldest first, up to now.' }),
  last_audit: z
    .strictObject({
      id: z.string(),
      at: moment,
      scope: z.enum(auditScopes),
      result: z.enum(auditResults),
      differences: count,
    })
    .nullable()
    .meta({ description: 'Null before the first one.' }),
  attention: z.strictObject({
    next: z
      .array(
        z.strictObject({
          severity: z.enum(severities),
          kind: z.string().meta({
            description: 'Of an alert, or channel.not_on, account.short, node.unclean_stop.',
          }),
          account_id: z.string().nullable(),
          key_id: z.string().nullable(),
          channel: z.string().nullable(),
          model: z.string().nullable(),
          audit_id: z.string().nullable(),
          node: z.string().nullable().meta({ description: 'The name of a gateway.' }),
          alert_id: z.string().nullable().meta({ description: 'Null where no alert is about it.' }),
          title: z.string(),
          step: z.string().meta({ description: 'A command, or a sentence with one.' }),
          since: moment.nullable(),
        }),
      )
      .meta({ description: 'The most urgent first, each with one next step.' }),
    channels: z.array(
      z.strictObject({
        channel: z.string(),
        model: z.string(),
        state: z.enum(['on', 'off', 'trial', 'ramp', 'slow', 'disabled']),
        since: moment.nullable(),
        why: z.string(),
      }),
    ),
    accounts: z.array(
      z.strictObject({
        account_id: z.string(),
        account: z.string(),
        state: z.enum(['low', 'exhausted']),
        balance_usd: usd,
        spent_usd: usd,
      }),
    ),
    alerts: z.array(
      z.strictObject({ kind: z.string(), severity: z.string(), title: z.string(), since: moment }),
    ),
    unclean_stops: z.array(
      z.strictObject({ node: z.string(), from: moment, to: moment.nullable() }),
    ),
  }),
})

const report = {
  route: 'GET /reports',
  summary: 'Report requests, tokens, revenue, own cost, margin and times of whole days (UTC).',
  example: { by: 'day,model', from: '2026-01-01', to: '2026-01-31' },
} as const

/** The whole report, with `format=csv`. */
export const reportCsv: StreamEndpoint = rowOf('reports.read', {
  ...report,
  stream: printReport,
  contentTypes: { json: 'application/json', csv: 'text/csv; charset=utf-8' },
})

export const reportEndpoints = endpoints('reports', {
  report: {
    ...report,
    id: 'reports.read',
    operation: readReport,
    answer: pageForm(row),
    csv: reportCsv,
  },
  overview: {
    id: 'overview.show',
    route: 'GET /overview',
    summary: 'Show today and yesterday, and what needs attention.',
    operation: showOverview,
    answer: overview,
  },
})
