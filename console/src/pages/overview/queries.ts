/** What the overview reads. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => bodyOf(api.GET('/admin/v1/overview')),
  refetchInterval: 60_000,
})

export type Overview = Awaited<ReturnType<NonNullable<typeof overviewQuery.queryFn>>>

const dayMs = 86_400_000

function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The figures of each of the last days, today included, oldest first. */
export function lastDaysQuery(count: number) {
  const [from, to] = [utcDay(Date.now() - (count - 1) * dayMs), utcDay(Date.now())]
  return queryOptions({
    queryKey: ['reports', 'day', from, to],
    async queryFn() {
      const { items } = await bodyOf(
        api.GET('/admin/v1/reports', { params: { query: { by: 'day', from, to } } }),
      )
      const known = new Map(items.map((row) => [row.day, row]))
      return Array.from({ length: count }, (_, index) => {
        const day = utcDay(Date.now() - (count - 1 - index) * dayMs)
        return { day, row: known.get(day) }
      })
    },
  })
}

/** Today's figures by one key. */
export function todayByQuery(by: 'model' | 'account' | 'channel') {
  const day = utcDay(Date.now())
  return queryOptions({
    queryKey: ['reports', by, day],
    async queryFn() {
      const query = { by, from: day, to: day, limit: 1000 }
      const { items } = await bodyOf(api.GET('/admin/v1/reports', { params: { query } }))
      return items
    },
  })
}
