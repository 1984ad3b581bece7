/** What audits, actions and notes are read from. */
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import { compact } from '../../search.ts'
import { periodOf } from '../../ui/range.ts'
import type { PageSearch } from './address.ts'

const limit = 50

export function readAudits(cursor: { cursor?: string }) {
  return bodyOf(api.GET('/admin/v1/audits', { params: { query: { limit, ...cursor } } }))
}

export type AuditRow = Awaited<ReturnType<typeof readAudits>>['items'][number]

/** One thing whose notes and activity are shown; the account by its id or name. */
export type Thing =
  | { readonly account: string }
  | { readonly key: string }
  | { readonly channel: string }

type Filter = Omit<PageSearch, 'tab' | 'audit' | 'open'>

function queryOf({ range, from, to, sessions, ...filter }: Filter) {
  const ends = { range, from, to }
  const period = periodOf(compact(ends), { unit: 'moment', nowMs: Date.now() })
  return { ...filter, ...period, ...(sessions !== undefined && { sessions: true }) }
}

export function readActions(filter: Filter | Thing) {
  const query = 'account' in filter || 'key' in filter || 'channel' in filter ? filter : undefined
  return (cursor: { cursor?: string }) =>
    bodyOf(
      api.GET('/admin/v1/actions', {
        params: { query: { limit, ...(query ?? queryOf(filter as Filter)), ...cursor } },
      }),
    )
}

/** All actions of the filter as a file. */
export function csvAddress(filter: Filter): string {
  return csvAddressOf('/admin/v1/actions', queryOf(filter))
}

export type Action = Awaited<ReturnType<ReturnType<typeof readActions>>>['items'][number]

export function readNotes(of: Thing) {
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/notes', { params: { query: { limit, ...of, ...cursor } } }))
}

export type Note = Awaited<ReturnType<ReturnType<typeof readNotes>>>['items'][number]
