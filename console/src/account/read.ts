/**
 * Reads the account's figures with the token of this tab, or with the session of a member. The first word of
 * each query is `account`: leaving forgets them together.
 */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { readAll, useList } from '../api/list.ts'
import {
  accountForm,
  daysForm,
  keysForm,
  operatorForm,
  pricesForm,
  proofsForm,
  receiptsForm,
  requestInFullForm,
  requestsForm,
  statementFiguresForm,
  statementForm,
  type Shape,
} from './answers.ts'
import type { Period } from '../ui/range.ts'
import { asMember, send, useRole } from './session.ts'
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
  return send(token === null ? `/account/v1/usage${path}${search}` : `/v1/usage${path}${search}`, {
    ...(token === null ? asMember() : { headers: { authorization: `Bearer ${token}` } }),
    ...(signal !== undefined && { signal }),
  })
}

/** Needs no token. */
async function readOperator() {
  const response = await send('/account/operator.json', {})
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

/** A member sees the own keys only, and no figures of the account. */
export function useAccount() {
  return useQuery({ ...accountQuery, enabled: useRole() !== 'member' })
}

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

/** For forms. */
export const modelNamesQuery = {
  queryKey: ['account', 'models'],
  staleTime: 300_000,
  queryFn: async () => (await read('/prices', pricesForm)).prices.map(({ model }) => model),
}

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

export function useReceipts() {
  return useList(['account', 'receipts'], (cursor) => read('/receipts', receiptsForm, cursor))
}

/** The receipt or credit note with this number; null = there is none. */
export function receiptQuery(number = '') {
  return queryOptions({
    queryKey: ['account', 'receipts', 'one', number],
    async queryFn() {
      // The page after the next number begins with this one.
      const cursor = btoa(String(Number(number.slice(1)) + 1)).replaceAll('=', '')
      const [found = null] = (await read('/receipts', receiptsForm, { cursor, limit: 1 })).items
      return found?.number === number ? found : null
    },
  })
}

export function useProofs() {
  const limit = linesShown
  return useList(['account', 'proofs'], (cursor) =>
    read('/proofs', proofsForm, { ...cursor, limit }),
  )
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
