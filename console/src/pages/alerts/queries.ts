/** What the alert pages read. */
import { queryOptions } from '@tanstack/react-query'
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

/** One target with its version, which a change sends back so that it overwrites no other's change. */
export function targetQuery(target: string) {
  return queryOptions({
    queryKey: ['alerts', 'target', target],
    async queryFn() {
      const asked = api.GET('/admin/v1/alerts/{target}', { params: { path: { target } } })
      const found = await bodyOf(asked)
      return { target: found, etag: (await asked).response.headers.get('etag') ?? '' }
    },
  })
}
