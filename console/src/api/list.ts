/** Lists of the API, which come page by page. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { listOf } from '../ui/list/pages.ts'

interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

type ReadPage<Item> = (cursor: { cursor?: string }) => Promise<ListPage<Item>>

/**
 * `key` begins with a word of `live.ts`, so that events renew the list. `renewMs` says how soon it is read
 * again without an event; undefined = not at all.
 */
export function useList<Item>(
  key: readonly unknown[],
  read: ReadPage<Item>,
  renewMs?: (rows: readonly Item[]) => number | undefined,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: '',
    queryFn: ({ pageParam }) => read(pageParam === '' ? {} : { cursor: pageParam }),
    getNextPageParam: ({ next_cursor: next }) => next,
    refetchInterval: ({ state }) =>
      renewMs?.((state.data?.pages ?? []).flatMap(({ items }) => items)) ?? false,
  })
  return listOf(query, ({ items }) => items)
}

/** Reads a whole list, at most `countMax` of its rows, or up to the page that ends with a row of the past. */
export async function readAll<Item>(
  read: ReadPage<Item>,
  countMax: number,
  isPast: (last: Item | undefined) => boolean = () => false,
): Promise<Item[]> {
  const rows: Item[] = []
  let cursor: { cursor?: string } = {}
  while (rows.length < countMax) {
    const { items, next_cursor: next } = await read(cursor)
    rows.push(...items)
    if (next === null || isPast(items.at(-1))) break
    cursor = { cursor: next }
  }
  return rows.slice(0, countMax)
}
