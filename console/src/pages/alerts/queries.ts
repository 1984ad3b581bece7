/** What the alert pages read. */
import { api, bodyOf } from '../../api/client.ts'
import type { PageSearch } from './address.ts'

type Cursor = { readonly cursor?: string }
const limit = 50

export function readFiring(cursor: Cursor) {
  return bodyOf(api.GET('/admin/v1/alerts/firing', { params: { query: { limit, ...cursor } } }))
}

export function readTargets(cursor: Cursor) {
  return bodyOf(api.GET('/admin/v1/alerts', { params: { query: { limit, ...cursor } } }))
}

export function readDeliveries(filter: Pick<PageSearch, 'target' | 'state'>) {
  return (cursor: Cursor) =>
    bodyOf(
      api.GET('/admin/v1/alerts/deliveries', {
        params: { query: { limit, ...filter, ...cursor } },
      }),
    )
}

export type Firing = Awaited<ReturnType<typeof readFiring>>['items'][number]
export type Target = Awaited<ReturnType<typeof readTargets>>['items'][number]
export type Delivery = Awaited<ReturnType<ReturnType<typeof readDeliveries>>>['items'][number]

export const severityTones = { info: 'neutral', warning: 'warn', critical: 'bad' } as const
