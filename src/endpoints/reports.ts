/** Endpoints of reports. */
import { z } from 'zod'
import { readReport } from '../operations/reports/report.ts'
import { endpoint } from './endpoint.ts'
import { pageOf, usd } from './views.ts'

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
  margin_usd: usd
    .nullable()
    .meta({ description: 'Null where the own cost of a request is unknown.' }),
  first_event_p50_ms: milliseconds,
  first_event_p95_ms: milliseconds,
})

export const reportEndpoints = {
  report: endpoint({
    id: 'reports.read',
    method: 'GET',
    path: '/reports',
    summary: 'Report requests, tokens, revenue, own cost, margin and times by any of five keys.',
    role: 'viewer',
    operation: readReport,
    answer: pageOf(row),
    example: { by: 'day,model', from: '2026-01-01', to: '2026-01-31' },
  }),
}
