/** What the pages of accounts read. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import type { ListSearch } from './address.ts'

const pageSize = 50
const exportPageSize = 1000

function readPage(search: ListSearch, page: { readonly cursor?: string; readonly limit: number }) {
  const { q, status, sort, order } = search
  const query = {
    ...(q !== undefined && { name_contains: q }),
    ...(status === 'low' ? { low: true } : status !== undefined && { status }),
    ...(sort !== undefined && { sort }),
    ...(order !== undefined && { order }),
    ...page,
  }
  return bodyOf(api.GET('/admin/v1/accounts', { params: { query } }))
}

type AccountPage = Awaited<ReturnType<typeof readPage>>
/** An account with its figures. */
export type Account = AccountPage['items'][number]

export function accountsQuery(search: ListSearch) {
  return infiniteQueryOptions({
    queryKey: ['accounts', 'list', search],
    queryFn: ({ pageParam: cursor }) =>
      readPage(search, { limit: pageSize, ...(cursor !== undefined && { cursor }) }),
    initialPageParam: firstPage,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })
}

const firstPage: string | undefined = undefined

/** All accounts of the filter, for the file. */
export async function readAllAccounts(search: ListSearch): Promise<readonly Account[]> {
  const all: Account[] = []
  let cursor: string | undefined
  do {
    const page = await readPage(search, {
      limit: exportPageSize,
      ...(cursor !== undefined && { cursor }),
    })
    all.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
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

/** All keys of an account; it has few. */
export function keysQuery(account: string) {
  return queryOptions({
    queryKey: ['keys', 'client', account],
    async queryFn() {
      const params = { path: { account }, query: { limit: 1000 } }
      const page = await bodyOf(api.GET('/admin/v1/accounts/{account}/keys', { params }))
      return page.items
    },
  })
}

export type Key = Awaited<ReturnType<NonNullable<ReturnType<typeof keysQuery>['queryFn']>>>[number]

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

export function tokensQuery(account: string) {
  return queryOptions({
    queryKey: ['keys', 'reader', account],
    async queryFn() {
      const params = { path: { account }, query: { limit: 1000 } }
      const page = await bodyOf(api.GET('/admin/v1/accounts/{account}/tokens', { params }))
      return page.items
    },
  })
}

export const modelsQuery = queryOptions({
  queryKey: ['models', 'ids'],
  async queryFn() {
    const params = { query: { limit: 1000 } }
    const { items } = await bodyOf(api.GET('/admin/v1/models', { params }))
    return items
  },
})

export const vendorsQuery = queryOptions({
  queryKey: ['catalogue', 'vendors'],
  async queryFn() {
    const params = { query: { limit: 1000 } }
    const { items } = await bodyOf(api.GET('/admin/v1/vendors', { params }))
    return items
  },
})

/** The figures of an account for a period, by one key of the report. */
export function reportQuery(
  account: string,
  period: { readonly by: 'day' | 'model' | 'key'; readonly from: string; readonly to: string },
) {
  return queryOptions({
    queryKey: ['reports', 'account', account, period],
    async queryFn() {
      const query = { ...period, account, limit: 1000 }
      const { items } = await bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
      return items
    },
  })
}

/** The money terms of an account for a period. */
export function accountMoneyQuery(account: string, { from, to }: Period) {
  return queryOptions({
    queryKey: ['reports', 'account total', account, from, to],
    async queryFn() {
      const query = { by: 'total', from, to, account }
      const { items } = await bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
      return items[0] ?? null
    },
  })
}

export function latestRequestsQuery(account: string) {
  return queryOptions({
    queryKey: ['requests', 'account', account],
    async queryFn() {
      const query = { account, limit: pageSize }
      const { items } = await bodyOf(api.GET('/admin/v1/requests', { params: { query } }))
      return items
    },
  })
}

export interface Period {
  /** Days (UTC), both included. */
  readonly from: string
  readonly to: string
}

const statementChargesShown = 200

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

export type StatementFigures = Awaited<
  ReturnType<NonNullable<ReturnType<typeof statementFiguresQuery>['queryFn']>>
>

function readStatement(account: string, period: Period) {
  const query = { ...period, last: statementChargesShown }
  const params = { path: { account }, query }
  return bodyOf(api.GET('/admin/v1/accounts/{account}/statement', { params }))
}

export type Statement = Awaited<ReturnType<typeof readStatement>>

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

/** Alerts about an account that are firing. */
export function readFiringOf(account: string) {
  return (cursor: { cursor?: string }) => {
    const query = { account, limit: pageSize, ...cursor }
    return bodyOf(api.GET('/admin/v1/alerts/firing', { params: { query } }))
  }
}

/** Where clients connect, as the gateway that answers is set: `127.0.0.1:8080`. */
export const listenQuery = queryOptions({
  queryKey: ['settings', 'listen'],
  async queryFn() {
    const { settings } = await bodyOf(api.GET('/admin/v1/settings'))
    return settings.find(({ name }) => name === 'listen')?.value ?? ''
  },
})
