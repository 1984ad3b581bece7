/**
 * The rows of the list, and the requests that end while it is shown. While the list is paused or scrolled
 * away they wait until the reader wants them. All of it is bounded.
 */
import { useInfiniteQuery, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isLive, type RequestFilter } from './address.ts'
import { listQuery, newestQuery, type RequestLine } from './queries.ts'
import { listOf } from '../../ui/list/pages.ts'

/** The reader is still at the top of the page. */
const scrolledPx = 120
/** Rows on the screen while the list follows the requests. */
const liveRowsMax = 200

const none: readonly RequestLine[] = []

export function useRequests(filter: RequestFilter) {
  const client = useQueryClient()
  const query = useInfiniteQuery(listQuery(filter))
  const list = listOf(query, ({ items }) => items)
  const listed = list.rows
  const tail = useTail(filter, listed)
  const isApart = areApart(tail.shown, listed)
  useEffect(() => {
    if (isApart) readFirstPage(client, filter)
  }, [isApart, client, filter])
  const all = listed === undefined ? undefined : merge(tail.shown, listed)
  const isShort = isLive(filter) && query.data?.pages.length === 1
  const rows = isShort ? all?.slice(0, liveRowsMax) : all
  return {
    tail,
    list: {
      ...list,
      rows,
      more: {
        ...list.more,
        hasMore: list.more.hasMore || (rows?.length ?? 0) < (all?.length ?? 0),
      },
    },
  }
}

/** `listed`: the rows of the list when it was read; undefined until then. */
function useTail(filter: RequestFilter, listed: readonly RequestLine[] | undefined) {
  const { data: newest = none } = useQuery({
    ...newestQuery(filter),
    enabled: isLive(filter) && listed !== undefined,
  })
  const [shown, setShown] = useState(none)
  const [isPaused, setIsPaused] = useState(false)
  const [received, setReceived] = useState(none)
  if (newest !== received) {
    setReceived(newest)
    if (!isPaused && scrollY <= scrolledPx) setShown(newest)
  }
  const known = new Set([...(listed ?? none), ...shown].map(({ id }) => id))
  const show = (): void => setShown(newest)
  return {
    shown,
    waitingCount: newest.filter(({ id }) => !known.has(id)).length,
    isPaused,
    show,
    setIsPaused(next: boolean): void {
      if (!next) show()
      setIsPaused(next)
    },
  }
}

/** Whether requests are missing between the newest ones and the list as it was read. */
function areApart(
  newest: readonly RequestLine[],
  listed: readonly RequestLine[] | undefined,
): boolean {
  if (newest.length === 0 || listed === undefined) return false
  const ids = new Set(newest.map(({ id }) => id))
  return !listed.some(({ id }) => ids.has(id))
}

/**
 * Each request once, the newest first; ids begin with the time. Requests that are older than the last one of
 * the list come with its next page.
 */
function merge(
  newest: readonly RequestLine[],
  listed: readonly RequestLine[],
): readonly RequestLine[] {
  const oldest = listed.at(-1)?.id ?? ''
  const added = newest.filter(({ id }) => id > oldest)
  const lines = new Map([...listed, ...added].map((line) => [line.id, line]))
  return [...lines.values()].sort((left, right) => (left.id < right.id ? 1 : -1))
}

/** Later pages would no longer follow the first one without a hole. */
function readFirstPage(client: QueryClient, filter: RequestFilter): void {
  const { queryKey } = listQuery(filter)
  client.setQueryData(queryKey, (known) =>
    known === undefined
      ? undefined
      : { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
  )
  void client.invalidateQueries({ queryKey, exact: true })
}
