/** The reads of the account page. Their first word is `account`: leaving forgets them together. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { read, readOperator } from './client.ts'
import {
  accountForm,
  daysForm,
  keysForm,
  pricesForm,
  requestInFullForm,
  requestsForm,
  type DayLine,
  type Key,
} from './forms.ts'

const refreshMs = 30_000
const dayMs = 86_400_000
const keysPerPage = 1_000
const requestsPerPage = 50

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

/** The days of a chart: each has its figures, also where nothing was used. */
export function daysQuery(by: 'model' | 'key', count: number) {
  const days = lastDays(count)
  return queryOptions({
    queryKey: ['account', 'days', by, days.at(-1), count],
    queryFn: async (): Promise<{ days: readonly string[]; lines: readonly DayLine[] }> => {
      const query = { by, from: days[0], to: days.at(-1) }
      const { days: lines } = await read('/days', daysForm, query)
      return { days, lines }
    },
    refetchInterval: refreshMs * 4,
  })
}

/** UTC days up to today, oldest first. */
function lastDays(count: number): readonly string[] {
  const nowMs = Date.now()
  return Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - 1 - index) * dayMs).toISOString().slice(0, 10),
  )
}

/** All keys: few accounts have more than a page of them. */
export const keysQuery = queryOptions({
  queryKey: ['account', 'keys'],
  async queryFn() {
    const keys: Key[] = []
    let cursor: string | undefined
    do {
      const page = await read('/keys', keysForm, { cursor, limit: keysPerPage })
      keys.push(...page.items)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    return keys
  },
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
}

export function requestsQuery(filter: RequestFilter) {
  return infiniteQueryOptions({
    queryKey: ['account', 'requests', filter],
    queryFn: ({ pageParam: cursor }) =>
      read('/requests', requestsForm, {
        ...filter,
        ...(cursor !== '' && { cursor }),
        limit: requestsPerPage,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
    // A reader who has opened more pages reads them in peace.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refreshMs),
  })
}

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ['account', 'request', id],
    queryFn: () => read(`/requests/${encodeURIComponent(id)}`, requestInFullForm),
  })
}
