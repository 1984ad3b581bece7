/** What the pages of accounts read. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import type { Period } from '../../ui/range.ts'
import type { ListSearch } from './address.ts'

const pageSize = 50

function queryOf({ q, status, sort, order }: ListSearch) {
  return {
    ...(q !== undefined && { name_contains: q }),
    ...(status === 'low' ? { low: true } : status !== undefined && { status }),
    ...(sort !== undefined && { sort }),
    ...(order !== undefined && { order }),
  }
}

export function readAccounts(search: ListSearch) {
  const query = { ...queryOf(search), limit: pageSize }
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/accounts', { params: { query: { ...query, ...cursor } } }))
}

/** An account with its figures. */
export type Account = Awaited<ReturnType<ReturnType<typeof readAccounts>>>['items'][number]

/** All accounts of a filter as a file. */
export function csvAddress(search: ListSearch): string {
  return csvAddressOf('/admin/v1/accounts', queryOf(search))
}

/** One account, with the tag that its next change sends. */
export function accountQuery(account: string) {
  return queryOptions({
    queryKey: ['accounts', 'one', account],
    async queryFn() {
      const asked = api.GET('/admin/v1/accounts/{account}', { params: { path: { account } } })
      return { account: await bodyOf(asked), tag: await tagOf(asked) }
    },
  })
}

async function tagOf(asked: Promise<{ readonly response: Response }>): Promise<string> {
  const { response } = await asked
  return response.headers.get('etag') ?? ''
}

export type TaggedAccount = Awaited<
  ReturnType<NonNullable<ReturnType<typeof accountQuery>['queryFn']>>
>

/** A key as it is now, with the tag that its change sends. */
export function keyQuery(id: string) {
  return queryOptions({
    queryKey: ['keys', 'one', id],
    // A dialog edits what it has read once.
    staleTime: 0,
    gcTime: 0,
    async queryFn() {
      const asked = api.GET('/admin/v1/keys/{id}', { params: { path: { id } } })
      return { key: await bodyOf(asked), tag: await tagOf(asked) }
    },
  })
}

/** All keys of an account, or its read-only tokens; it has few. */
export function keysQuery(account: string, kind: 'client' | 'reader') {
  return queryOptions({
    queryKey: ['keys', kind, account],
    async queryFn() {
      const query = { account, kind, limit: 1000 }
      const { items } = await bodyOf(api.GET('/admin/v1/keys', { params: { query } }))
      return items
    },
  })
}

export const vendorsQuery = queryOptions({
  queryKey: ['catalogue', 'vendors'],
  async queryFn() {
    const params = { query: { limit: 1000 } }
    const { items } = await bodyOf(api.GET('/admin/v1/vendors', { params }))
    return items
  },
})

/** Where clients connect, as the gateway that answers is set: `127.0.0.1:8080`. */
export const listenQuery = queryOptions({
  queryKey: ['settings', 'listen'],
  async queryFn() {
    const { settings } = await bodyOf(api.GET('/admin/v1/settings'))
    return settings.find(({ name }) => name === 'listen')?.value ?? ''
  },
})

/** The figures of an account for a period, in all or by one key of the report. */
export function reportQuery(
  account: string,
  { by, from, to }: Period & { readonly by: 'total' | 'day' | 'model' | 'key' },
) {
  return queryOptions({
    queryKey: ['reports', 'account', account, by, from, to],
    async queryFn() {
      const query = { by, from, to, account, limit: 1000 }
      const { items } = await bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
      return items
    },
  })
}

export type ReportRow = Awaited<
  ReturnType<NonNullable<ReturnType<typeof reportQuery>['queryFn']>>
>[number]

/** The figures of the whole period, whichever of its lines are shown. */
export function statementFiguresQuery(account: string, period: Period) {
  return queryOptions({
    queryKey: ['statements', 'figures', account, period],
    queryFn: () =>
      bodyOf(
        api.GET('/admin/v1/accounts/{account}/statement/figures', {
          params: { path: { account }, query: period },
        }),
      ),
  })
}

const statementChargesShown = 200

function readStatement(account: string, period: Period) {
  const query = { ...period, last: statementChargesShown }
  const params = { path: { account }, query }
  return bodyOf(api.GET('/admin/v1/accounts/{account}/statement', { params }))
}

/**
 * The lines of a period, its end first; each further page ends where the one before begins. Live events do
 * not renew them: they are read anew when they are opened.
 */
export function statementQuery(account: string, period: Period) {
  return infiniteQueryOptions({
    queryKey: ['statements', 'lines', account, period],
    initialPageParam: period.to,
    queryFn: ({ pageParam: to }) => readStatement(account, { from: period.from, to }),
    getNextPageParam: ({ from }) =>
      from !== null && Date.parse(from) > Date.parse(period.from) ? from : undefined,
  })
}

export function readRequestsOf(account: string) {
  return (cursor: { cursor?: string }) => {
    const query = { account, limit: pageSize, ...cursor }
    return bodyOf(api.GET('/admin/v1/requests', { params: { query } }))
  }
}
