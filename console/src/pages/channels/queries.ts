/** What the pages of channels read and change. All of it is fresh after an event about a channel. */
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { readChannels } from '../../api/names.ts'
import { readReport, type ReportRow } from '../../api/reports.ts'
import { listDays, utcDay, type Period, type Range } from '../../ui/range.ts'

/** A change of state comes by the live events; this is for figures and clocks, which move without one. */
const refreshMs = 15_000
const figuresMs = 60_000
const pageSize = 1_000
const rowsMax = 20_000

export const boardQuery = queryOptions({
  queryKey: ['channels', 'board'],
  refetchInterval: refreshMs,
  async queryFn() {
    const first = await readBoardPage({})
    if (first.next_cursor === null) return first
    return { ...first, items: await readAll(readBoardPage, rowsMax) }
  },
})

function readBoardPage(cursor: { cursor?: string }) {
  return readChannels({ limit: pageSize, ...cursor })
}

export type Board = Awaited<ReturnType<NonNullable<typeof boardQuery.queryFn>>>
export type Channel = Board['items'][number]
export type Health = Channel['health'][number]
export type Traffic = Channel['traffic'][number]

export function channelQuery(channel: string) {
  return queryOptions({
    queryKey: ['channels', 'one', channel],
    refetchInterval: refreshMs,
    queryFn: () =>
      bodyOf(api.GET('/admin/v1/channels/{channel}', { params: { path: { channel } } })),
  })
}

export type ChannelDetail = Awaited<
  ReturnType<NonNullable<ReturnType<typeof channelQuery>['queryFn']>>
>

/** Of a day without requests. */
const nothing = { requests: 0, errors: 0, first_event_p50_ms: null, first_event_p95_ms: null }

export type DayFigures = Pick<ReportRow, 'day' | keyof typeof nothing>

/** The days of a period of a channel: the figures of each, oldest first, and of all. */
export function channelFiguresQuery(channel: string, period: Period) {
  return queryOptions({
    queryKey: ['reports', 'channel days', channel, period],
    async queryFn() {
      const [rows, [total]] = await Promise.all([
        readReport({ by: 'day', channel, ...period }),
        readReport({ by: 'total', channel, ...period }),
      ])
      const known = new Map(rows.map((row) => [row.day, row]))
      return {
        total,
        days: listDays(period).map((day): DayFigures => known.get(day) ?? { ...nothing, day }),
      }
    },
  })
}

/** The figures of today (UTC), a row for each channel that has any. */
export function todayQuery() {
  const day = utcDay(Date.now())
  return queryOptions({
    queryKey: ['reports', 'channels today', day],
    refetchInterval: figuresMs,
    queryFn: () => readReport({ by: 'channel', from: day, to: day }),
  })
}

/** Reads state changes of a channel, the newest first. */
export function readChangesOf(channel: string, limit = 50) {
  return (cursor: { cursor?: string }) =>
    bodyOf(
      api.GET('/admin/v1/channels/{channel}/history', {
        params: { path: { channel }, query: { limit, ...cursor } },
      }),
    )
}

export type Change = Awaited<ReturnType<ReturnType<typeof readChangesOf>>>['items'][number]

const changesMax = 5_000

/** All changes of a channel since a moment, the newest first, with the last one before it. */
export function pastQuery(channel: string, { range, from }: Range, fromMs: number) {
  return queryOptions({
    queryKey: ['channels', 'past', channel, range, from],
    async queryFn() {
      const read = readChangesOf(channel, pageSize)
      const isPast = (last?: Change): boolean => Date.parse(last?.at ?? '') < fromMs
      const changes = await readAll(read, changesMax, isPast)
      return { changes, isWhole: changes.length < changesMax }
    },
  })
}

/** Names of operators by the ids of their tokens. */
export const operatorsQuery = queryOptions({
  queryKey: ['settings', 'operators'],
  staleTime: figuresMs,
  async queryFn() {
    const query = { limit: pageSize }
    const { items } = await bodyOf(api.GET('/admin/v1/admin-tokens', { params: { query } }))
    return new Map(items.map(({ id, name }) => [id, name]))
  },
})

export function switchChannel(channel: string, to: 'on' | 'off') {
  const params = { params: { path: { channel } } }
  return bodyOf(api.POST(`/admin/v1/channels/{channel}/${to}`, params))
}

/** Has each running gateway send its check; it may take a minute. */
export function checkChannel(channel: string) {
  return bodyOf(api.POST('/admin/v1/channels/{channel}/check', { params: { path: { channel } } }))
}

export type Check = Awaited<ReturnType<typeof checkChannel>>

/** Returns a function that reads again everything a switched channel changes. */
export function useChannelRefresh(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(
      ['channels', 'overview', 'actions'].map((word) =>
        client.invalidateQueries({ queryKey: [word] }),
      ),
    )
  }
}
