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

type Filters = Pick<PageSearch, 'action' | 'actor' | 'subject' | 'from' | 'to'>

export function readActionsOf(filters: Filters, limit = pageSize) {
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/actions', { params: { query: { limit, ...filters, ...cursor } } }))
}

export type Action = Awaited<ReturnType<ReturnType<typeof readActionsOf>>>['items'][number]
