/**
 * The requests that end while the list is shown. While the list is paused or scrolled away they wait until
 * the reader wants them. All of it is bounded.
 */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isLive, type ListSearch } from './address.ts'
import { newestQuery, type RequestLine } from './queries.ts'

/** The reader is still at the top of the page. */
const scrolledPx = 120

const none: readonly RequestLine[] = []

/** `listed`: the rows of the list when it was read; undefined until then. */
export function useTail(search: ListSearch, listed: readonly RequestLine[] | undefined) {
  const { data: newest = none } = useQuery({
    ...newestQuery(search),
    enabled: isLive(search) && listed !== undefined,
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
    waiting: newest.filter(({ id }) => !known.has(id)),
    isPaused,
    show,
    setIsPaused(next: boolean): void {
      if (!next) show()
      setIsPaused(next)
    },
  }
}
