/** What the overview reads. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { listDays, utcDay } from '../../ui/range.ts'

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => bodyOf(api.GET('/admin/v1/overview')),
  refetchInterval: 60_000,
})

export type Overview = Awaited<ReturnType<NonNullable<typeof overviewQuery.queryFn>>>

const dayMs = 86_400_000
const historyMs = 600_000

/**
 * The figures of the days before `today`, oldest first. They hardly change any more, so events do not
 * renew them: a late refund appears after some minutes.
 */
export function daysBeforeQuery(today: string, count: number) {
  const todayMs = Date.parse(today)
  const [from, to] = [utcDay(todayMs - count * dayMs), utcDay(todayMs - dayMs)]
  return queryOptions({
    queryKey: ['history', from, to],
    staleTime: historyMs,
    refetchInterval: historyMs,
    async queryFn() {
      const { items } = await bodyOf(
        api.GET('/admin/v1/reports', { params: { query: { by: 'day', from, to } } }),
      )
      const known = new Map(items.map((row) => [row.day, row]))
      return listDays({ from, to }).map((day): DayFigures => known.get(day) ?? { ...nothing, day })
    },
  })
}

/** Of a day without requests. */
const nothing = {
  requests: 0,
  errors: 0,
  revenue_usd: '0',
  known_margin_usd: '0',
  first_event_p50_ms: null,
}

export type DayFigures = { readonly day: string | null } & Pick<
  Overview['today'],
  keyof typeof nothing
>

/** What a new installation has already. */
export const startQuery = queryOptions({
  queryKey: ['overview', 'start'],
  async queryFn() {
    const params = { query: { limit: 1 } }
    const [channels, accounts, requests] = await Promise.all([
      bodyOf(api.GET('/admin/v1/channels', { params })),
      bodyOf(api.GET('/admin/v1/accounts', { params })),
      bodyOf(api.GET('/admin/v1/requests', { params })),
    ])
    return {
      hasChannel: channels.items.length > 0,
      account: accounts.items[0]?.id,
      hasRequest: requests.items.length > 0,
    }
  },
})

/** The models or accounts with the most spend today, the largest first. */
export function largestTodayQuery(by: 'model' | 'account', day: string, limit: number) {
  return queryOptions({
    queryKey: ['reports', by, day],
    queryFn: () => readLargest(by, day, limit),
  })
}

async function readLargest(by: 'model' | 'account', day: string, limit: number) {
  const query = { by, from: day, to: day, sort: 'revenue_usd', limit } as const
  return (await bodyOf(api.GET('/admin/v1/reports', { params: { query } }))).items
}

export type LargestRow = Awaited<ReturnType<typeof readLargest>>[number]
