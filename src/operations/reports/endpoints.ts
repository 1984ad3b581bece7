/** Endpoints of reports. */
import { listCaches } from './caches.ts'
import { showOverview } from './overview.ts'
import { printReport } from './report-text.ts'
import { readReport } from './report.ts'
import { endpoints, rowOf, type StreamEndpoint } from '../endpoint.ts'

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
    csv: reportCsv,
  },
  caches: {
    id: 'reports.caches',
    route: 'GET /reports/caches',
    summary: "Compare how much input came from vendors' caches with the week before.",
    operation: listCaches,
  },
  overview: {
    id: 'overview.show',
    route: 'GET /overview',
    summary: 'Show today and yesterday, and what needs attention.',
    operation: showOverview,
  },
})
