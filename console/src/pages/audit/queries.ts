/** What the audit pages read. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import type { PageSearch } from './address.ts'

const pageSize = 50

export function readAudits(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/audits', { params: { query: { limit: pageSize, ...cursor } } }))
}

export type AuditRow = Awaited<ReturnType<typeof readAudits>>['items'][number]

export function auditQuery(id: string) {
  return queryOptions({
    queryKey: ['audits', id],
    queryFn: () => bodyOf(api.GET('/admin/v1/audits/{id}', { params: { path: { id } } })),
  })
}

export type AuditDetail = Awaited<ReturnType<NonNullable<ReturnType<typeof auditQuery>['queryFn']>>>

const tokensMax = 1_000

/** The names of admin tokens by their ids, which audits have as actors. */
export const tokenNamesQuery = queryOptions({
  queryKey: ['settings', 'token names'],
  staleTime: 60_000,
  async queryFn(): Promise<ReadonlyMap<string, string>> {
    const query = { limit: tokensMax }
    const { items } = await bodyOf(api.GET('/admin/v1/admin-tokens', { params: { query } }))
    return new Map(items.map(({ id, name }) => [id, name]))
  },
})

type Filters = Pick<PageSearch, 'action' | 'actor' | 'subject' | 'from' | 'to'>

export function readActionsOf(filters: Filters, limit = pageSize) {
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/actions', { params: { query: { limit, ...filters, ...cursor } } }))
}

export type Action = Awaited<ReturnType<ReturnType<typeof readActionsOf>>>['items'][number]
