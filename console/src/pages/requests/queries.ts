/** Reads requests: pages of the list, its histogram, the address of its file, and one request in full. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import { said } from '../../messages/t.ts'
import { periodOf, type Period } from '../../ui/range.ts'
import { isLive, type RequestFilter } from './address.ts'

type ListQuery = NonNullable<paths['/admin/v1/requests']['get']['parameters']['query']>
type Code = NonNullable<ListQuery['code']>

const pageSize = 50
/** The form of a code; the API knows which ones there are. */
function isCode(text: string): text is Code {
  return /^[a-z]+\.[a-z_]+$/.test(text)
}

function queryOf({ range, from, to, code, ...filter }: RequestFilter): ListQuery & Partial<Period> {
  const given = { ...(range !== undefined && { range }), ...(from && { from }), ...(to && { to }) }
  return {
    ...filter,
    ...(code !== undefined && isCode(code) && { code }),
    ...periodOf(given, { unit: 'moment', nowMs: Date.now() }),
  }
}

function readPage(filter: RequestFilter, cursor: string | undefined, limit = pageSize) {
  const query = { ...queryOf(filter), limit, ...(cursor !== undefined && { cursor }) }
  return bodyOf(api.GET('/admin/v1/requests', { params: { query } }))
}

export type RequestLine = Awaited<ReturnType<typeof readPage>>['items'][number]
export type Outcome = RequestLine['outcome']

/**
 * The first word of its key is none of those that live events make stale: the list adds the newest rows by
 * itself, and reading all pages again would move rows under the pointer.
 */
export function listQuery(filter: RequestFilter) {
  return infiniteQueryOptions({
    queryKey: ['request-list', filter],
    initialPageParam: '',
    queryFn: ({ pageParam }) => readPage(filter, pageParam === '' ? undefined : pageParam),
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
  })
}

/** Rows that are read again whenever requests have ended. */
export const newestMax = 200

/** The requests that a list which follows them adds to its rows. */
export function newestQuery(filter: RequestFilter) {
  return queryOptions({
    queryKey: ['requests', 'newest', filter],
    queryFn: async () => (await readPage(filter, undefined, newestMax)).items,
  })
}

const histogramRenewMs = 60_000
const dayMs = 86_400_000
/** A day less than the API counts: its clock may be ahead. */
const histogramDaysMax = 91

/** Counts many rows, so events do not renew it. A list without a period has that of the last day. */
export function histogramQuery(filter: RequestFilter) {
  return queryOptions({
    queryKey: ['request-histogram', filter],
    staleTime: histogramRenewMs / 2,
    refetchInterval: isLive(filter) ? histogramRenewMs : false,
    queryFn() {
      const { from, to, ...query } = queryOf(filter)
      const toMs = to === undefined ? Date.now() : Date.parse(to)
      const least = new Date(toMs - histogramDaysMax * dayMs).toISOString()
      const begin = from !== undefined && from < least ? least : from
      const period = {
        ...(begin !== undefined && { from: begin }),
        ...(to !== undefined && { to }),
      }
      return bodyOf(
        api.GET('/admin/v1/requests/histogram', { params: { query: { ...query, ...period } } }),
      )
    },
  })
}

/** All requests of a filter as a file. */
export function csvAddress(filter: RequestFilter): string {
  return csvAddressOf('/admin/v1/requests', queryOf(filter))
}

/** Only a refund changes a request after its end. */
export function requestQuery(request: string) {
  return queryOptions({
    queryKey: ['request', request],
    async queryFn() {
      const found = await readFound(request)
      return { ...found, charge_explanation: explainCharge(found), error: explainError(found) }
    },
  })
}

function readFound(request: string) {
  return bodyOf(api.GET('/admin/v1/requests/{request}', { params: { path: { request } } }))
}

type Found = Awaited<ReturnType<typeof readFound>>

/** In the language of the page where it knows every reason. */
function explainCharge({ charge_codes: codes, charge_explanation: given }: Found): string {
  const own = codes.map((code) => said(`chargeReasons.${code}`, ''))
  return own.includes('') ? given : own.join('')
}

function explainError({ code, error }: Found): Found['error'] {
  if (error === null) return null
  const { meaning, advice } = error
  return {
    meaning: said(`errors.${code ?? ''}.meaning`, meaning),
    advice: said(`errors.${code ?? ''}.advice`, advice),
  }
}

export type RequestInFull = Awaited<
  ReturnType<NonNullable<ReturnType<typeof requestQuery>['queryFn']>>
>

export function durationMsOf({ started_at: start, ended_at: end }: RequestLine): number {
  return Math.max(Date.parse(end) - Date.parse(start), 0)
}

/** Output per second from the first event on; null where it says nothing. */
export function tokensPerSecond(line: RequestLine): number | null {
  const { output_tokens: tokens, first_event_ms: firstMs, requests } = line
  if (firstMs === null || tokens === 0 || requests > 1) return null
  const ms = durationMsOf(line) - firstMs
  return ms < 50 ? null : (tokens * 1_000) / ms
}
