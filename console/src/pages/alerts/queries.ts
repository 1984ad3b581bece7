/** What the alert pages read. */
import { api, bodyOf } from '../../api/client.ts'
import type { PageSearch } from './address.ts'

const pageSize = 50

export function readFiring(cursor: { cursor?: string }) {
  return bodyOf(
    api.GET('/admin/v1/alerts/firing', { params: { query: { limit: pageSize, ...cursor } } }),
  )
}

export function readTargets(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/alerts', { params: { query: { limit: pageSize, ...cursor } } }))
}

export function readDeliveriesOf(filter: Pick<PageSearch, 'target' | 'state'>) {
  return (cursor: { cursor?: string }) =>
    bodyOf(
      api.GET('/admin/v1/alerts/deliveries', {
        params: { query: { limit: pageSize, ...filter, ...cursor } },
      }),
    )
}

export type Firing = Awaited<ReturnType<typeof readFiring>>['items'][number]
export type Target = Awaited<ReturnType<typeof readTargets>>['items'][number]
export type Delivery = Awaited<ReturnType<ReturnType<typeof readDeliveriesOf>>>['items'][number]
