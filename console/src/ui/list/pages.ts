/** A list that comes page by page, as `List` shows it. */
import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query'

type Pages<Page> = Pick<
  UseInfiniteQueryResult<InfiniteData<Page>>,
  'data' | 'error' | 'refetch' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
>

export function listOf<Page, Row>(
  { data, error, refetch, ...next }: Pages<Page>,
  rowsOf: (page: Page) => readonly Row[],
) {
  return {
    /** Undefined until the first page is here. */
    rows: data?.pages.flatMap(rowsOf),
    error,
    retry: () => void refetch(),
    more: {
      hasMore: next.hasNextPage,
      isBusy: next.isFetchingNextPage,
      onMore: () => void next.fetchNextPage(),
    },
  }
}
