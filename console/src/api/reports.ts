/** Reports, read whole. */
import { api, bodyOf } from './client.ts'
import { readAll } from './list.ts'
import type { paths } from './schema.ts'

type Query = NonNullable<paths['/admin/v1/reports']['get']['parameters']['query']>

const limit = 1_000
const rowsMax = 20_000

export function readReport(query: Query) {
  return readAll(
    (cursor) =>
      bodyOf(api.GET('/admin/v1/reports', { params: { query: { ...query, limit, ...cursor } } })),
    rowsMax,
  )
}

export type ReportRow = Awaited<ReturnType<typeof readReport>>[number]
