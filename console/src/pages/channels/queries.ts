/** What the pages of channels read and change. All of it is fresh after an event about a channel. */
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { readChannels } from '../../api/names.ts'
import type { Range } from '../../ui/range.ts'

/** A change of state comes by the live events; this is for figures and clocks, which move without one. */
const refreshMs = 15_000
const figuresMs = 60_000
const pageSize = 1_000
const rowsMax = 20_000
const dayMs = 86_400_000

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

export type ReportRow = Awaited<ReturnType<typeof readReport>>[number]

function readReport(question: {
  readonly by: string
  readonly from: string
  readonly to: string
  readonly channel?: string
}) {
  return readAll(
    (cursor) =>
      bodyOf(
        api.GET('/admin/v1/reports', {
          params: { query: { ...question, limit: pageSize, ...cursor } },
        }),
      ),
    rowsMax,
  )
}

export function channelQuery(channel: string) {
  return queryOptions({
    queryKey: ['channels', 'one', channel],
    refetchInterval: refreshMs,
    queryFn: () =>
      bodyOf(
        api.GET('/admin/v1/channels/{channel}', {
          params: { path: { channel } },
        }),
      ),
  })
}

export type ChannelDetail = Awaited<
  ReturnType<NonNullable<ReturnType<typeof channelQuery>['queryFn']>>
>

/** The last days of a channel: the figures of each, oldest first, and of all. */
export function channelFiguresQuery(channel: string, days: number) {
  const [from, to] = [utcDay(Date.now() - (days - 1) * dayMs), utcDay(Date.now())]
  return queryOptions({
    queryKey: ['reports', 'channel days', channel, from, to],
    async queryFn() {
      const [rows, [total]] = await Promise.all([
        readReport({ by: 'day', from, to, channel }),
        readReport({ by: 'total', from, to, channel }),
      ])
      const known = new Map(rows.map((row) => [row.day, row]))
      return {
        total,
        days: Array.from({ length: days }, (_, index) => {
          const day = utcDay(Date.parse(from) + index * dayMs)
          return { day, row: known.get(day) }
        }),
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

const pastPagesMax = 5

/** All changes of a channel since a moment, the newest first, with the last one before it. */
export function pastQuery(channel: string, { range, from }: Range, fromMs: number) {
  const read = readChangesOf(channel, pageSize)
  return queryOptions({
    queryKey: ['channels', 'past', channel, range, from],
    async queryFn() {
      const changes: Change[] = []
      let cursor: { cursor?: string } = {}
      for (let page = 0; page < pastPagesMax; page++) {
        const { items, next_cursor: next } = await read(cursor)
        changes.push(...items)
        const last = items.at(-1)
        if (next === null || last === undefined || Date.parse(last.at) < fromMs)
          return { changes, isWhole: true }
        cursor = { cursor: next }
      }
      return { changes, isWhole: false }
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

function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export function switchChannel(channel: string, to: 'on' | 'off') {
  const params = { params: { path: { channel } } }
  return bodyOf(
    to === 'on'
      ? api.POST('/admin/v1/channels/{channel}/on', params)
      : api.POST('/admin/v1/channels/{channel}/off', params),
  )
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
