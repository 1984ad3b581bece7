/**
 * Reads the account's figures with the token of this tab. The first word of each query is `account`: leaving
 * forgets them together.
 */
import { queryOptions } from '@tanstack/react-query'
import { readAll, useList } from '../api/list.ts'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import {
  accountForm,
  daysForm,
  errorForm,
  fieldsOf,
  keysForm,
  operatorForm,
  pricesForm,
  requestInFullForm,
  requestsForm,
  statementFiguresForm,
  statementForm,
  type Shape,
} from './answers.ts'
import type { Period } from '../ui/range.ts'
import { readToken } from './token.ts'

type Query = Readonly<Record<string, string | number | undefined>>

/** Throws a `Problem` for every answer but a good one. */
async function read<Value>(path: string, shape: Shape<Value>, query: Query = {}) {
  const response = await ask(path, query)
  const body: unknown = await response.json()
  return shape(body)
}

/** Returns the answer unread, to save it byte for byte. `token` replaces the token that is kept. */
export async function ask(
  path: string,
  query: Query = {},
  { token = readToken(), signal }: { token?: string | null; signal?: AbortSignal } = {},
): Promise<Response> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
  let response: Response
  try {
    response = await fetch(`/v1/usage${path}${search}`, {
      headers: { authorization: `Bearer ${token ?? ''}` },
      credentials: 'omit',
      cache: 'no-store',
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new Problem(0, { detail: t('account.noAnswer') })
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

/** An error that does not come from the gateway, such as a proxy's page, has its status only. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const body: unknown = await response.json()
    const { message, type, request_id: requestId } = errorForm(fieldsOf(body)['error'])
    return new Problem(response.status, {
      detail: message,
      code: type,
      request_id: requestId ?? undefined,
    })
  } catch {
    return new Problem(response.status, {})
  }
}

/** Needs no token. */
async function readOperator() {
  const response = await fetch('/account/operator.json', { credentials: 'omit' })
  if (!response.ok) throw await problemOf(response)
  const body: unknown = await response.json()
  return operatorForm(body)
}

const refreshMs = 30_000
const keysPerPage = 1_000
const keysMax = 100_000
const requestsPerPage = 50
const linesShown = 20

export const operatorQuery = queryOptions({
  queryKey: ['operator'],
  queryFn: readOperator,
  staleTime: Infinity,
})

/** One small read; only a page that is seen repeats it. */
export const accountQuery = queryOptions({
  queryKey: ['account', 'money'],
  queryFn: () => read('/account', accountForm),
  refetchInterval: refreshMs,
})

/** Days and models, or days and keys, with what they cost. */
export function daysQuery(by: 'model' | 'key', period: Period) {
  return queryOptions({
    queryKey: ['account', 'days', by, period],
    queryFn: async () => (await read('/days', daysForm, { by, ...period })).days,
    refetchInterval: refreshMs * 4,
  })
}

/** All keys: few accounts have more than a page of them. */
export const keysQuery = queryOptions({
  queryKey: ['account', 'keys'],
  queryFn: () =>
    readAll((cursor) => read('/keys', keysForm, { ...cursor, limit: keysPerPage }), keysMax),
})

export const pricesQuery = queryOptions({
  queryKey: ['account', 'prices'],
  queryFn: () => read('/prices', pricesForm),
  staleTime: 300_000,
})

export interface RequestFilter {
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly sort?: 'cost' | undefined
}

export function useRequests(filter: RequestFilter) {
  return useList(
    ['account', 'requests', filter],
    (cursor) => read('/requests', requestsForm, { ...filter, ...cursor, limit: requestsPerPage }),
    // A reader who has opened more pages reads them in peace.
    (rows) => (rows.length > requestsPerPage ? undefined : refreshMs),
  )
}

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ['account', 'request', id],
    queryFn: () => read(`/requests/${encodeURIComponent(id)}`, requestInFullForm),
  })
}

/** What a statement adds up to, and its last lines, the newest first. */
export function statementQuery(period: Period) {
  return queryOptions({
    queryKey: ['account', 'statement', period],
    async queryFn() {
      const [figures, { entries }] = await Promise.all([
        read('/statement/figures', statementFiguresForm, { ...period }),
        read('/statement', statementForm, { ...period, last: linesShown }),
      ])
      return { figures, entries: entries.toReversed() }
    },
  })
}
