/** What the alert pages read. */
import { inWords, titled } from '../../api/alert-words.ts'
import { api, bodyOf } from '../../api/client.ts'
import { reworded } from '../../messages/t.ts'
import type { PageSearch } from './address.ts'

type Cursor = { readonly cursor?: string }
const limit = 50

/** The alerts that are firing, all of them or those about an account. */
export function readFiring(of: { readonly account?: string } = {}) {
  return async (cursor: Cursor) => {
    const params = { query: { limit, ...of, ...cursor } }
    const page = await bodyOf(api.GET('/admin/v1/alerts/firing', { params }))
    return { ...page, items: page.items.map(inWords) }
  }
}

export function readTargets(cursor: Cursor) {
  return bodyOf(api.GET('/admin/v1/alerts', { params: { query: { limit, ...cursor } } }))
}

export function readDeliveries(filter: Pick<PageSearch, 'target' | 'state'>) {
  return async (cursor: Cursor) => {
    const params = { query: { limit, ...filter, ...cursor } }
    const page = await bodyOf(api.GET('/admin/v1/alerts/deliveries', { params }))
    const items = page.items.map((one) => ({ ...titled(one), outcome: reworded(one.outcome) }))
    return { ...page, items }
  }
}

export type Firing = Awaited<ReturnType<ReturnType<typeof readFiring>>>['items'][number]
export type Target = Awaited<ReturnType<typeof readTargets>>['items'][number]
export type Delivery = Awaited<ReturnType<ReturnType<typeof readDeliveries>>>['items'][number]

export const severityTones = { info: 'neutral', warning: 'warn', critical: 'bad' } as const
