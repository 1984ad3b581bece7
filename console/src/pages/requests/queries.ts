/** Reads requests: pages of the list, all that a filter finds, and one in full. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import type { LastWord, ListSearch } from './address.ts'

type ListQuery = NonNullable<paths['/admin/v1/requests']['get']['parameters']['query']>
type Code = NonNullable<ListQuery['code']>

const pageSize = 50
const lastMs: Readonly<Record<Exclude<LastWord, 'yesterday'>, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
}

/** The form of a code; the API knows which ones there are. */
function isCode(text: string): text is Code {
  return /^[a-z]+\.[a-z_]+$/.test(text)
}

function periodOf(last: LastWord): { readonly from: string; readonly to?: string } {
  const now = new Date()
  if (last !== 'yesterday') return { from: new Date(now.getTime() - lastMs[last]).toISOString() }
  const midnight = (daysAgo: number): string =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString()
  return { from: midnight(1), to: midnight(0) }
}

function queryOf({ last, code, ...filter }: ListSearch): ListQuery {
  return {
    ...filter,
    ...(code !== undefined && isCode(code) && { code }),
    ...(last !== undefined && periodOf(last)),
  }
}

function readPage(search: ListSearch, cursor: string | undefined, limit = pageSize) {
  const query = { ...queryOf(search), limit, ...(cursor !== undefined && { cursor }) }
  return bodyOf(api.GET('/admin/v1/requests', { params: { query } }))
}

export type RequestLine = Awaited<ReturnType<typeof readPage>>['items'][number]

/**
 * The first word of its key is none of those that live events make stale: the list adds the newest rows by
 * itself, and reading all pages again would move rows under the pointer.
 */
export function listQuery(search: ListSearch) {
  return infiniteQueryOptions({
    queryKey: ['request-list', search],
    initialPageParam: '',
    queryFn: ({ pageParam }) => readPage(search, pageParam === '' ? undefined : pageParam),
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
  })
}

/** Rows that are read again whenever requests have ended. */
export const newestMax = 200

/** The requests that a list which follows them adds to its rows. */
export function newestQuery(search: ListSearch) {
  return queryOptions({
    queryKey: ['requests', 'newest', search],
    queryFn: async () => (await readPage(search, undefined, newestMax)).items,
  })
}

const exportPageSize = 1_000
export const exportRowsMax = 10_000

/** The newest rows of a filter, for a file. */
export async function readForExport(
  search: ListSearch,
): Promise<{ rows: readonly RequestLine[]; hasMore: boolean }> {
  const rows: RequestLine[] = []
  let cursor: string | undefined
  do {
    const page = await readPage(search, cursor, exportPageSize)
    rows.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && rows.length < exportRowsMax)
  return { rows, hasMore: cursor !== undefined }
}

/** Only a refund changes a request after its end. */
export function requestQuery(request: string) {
  return queryOptions({
    queryKey: ['request', request],
    queryFn: () =>
      bodyOf(api.GET('/admin/v1/requests/{request}', { params: { path: { request } } })),
  })
}

export type RequestInFull = Awaited<
  ReturnType<NonNullable<ReturnType<typeof requestQuery>['queryFn']>>
>
