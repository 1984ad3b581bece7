/**
 * The requests that end while the list is shown. They come on top; while the list is paused or scrolled away
 * they wait until the reader wants them. All of it is bounded.
 */
import { useCallback, useEffect, useReducer, useRef } from 'react'
import { useEvent } from '../../api/live.ts'
import type { ListSearch } from './address.ts'
import type { RequestLine } from './queries.ts'

const flushMs = 250
export const freshMax = 150
export const waitingMax = 200
/** Of the fresh rows, these stay when the list is read again. */
const keptMax = 50
/** The reader is still at the top of the page. */
const scrolledPx = 120

interface Tail {
  /** Newest first. */
  readonly fresh: readonly RequestLine[]
  readonly waiting: readonly RequestLine[]
  readonly isPaused: boolean
}

type Change =
  | { readonly kind: 'arrived'; readonly lines: readonly RequestLine[]; readonly isAway: boolean }
  | { readonly kind: 'paused'; readonly isPaused: boolean }
  | { readonly kind: 'shown' }
  | { readonly kind: 'trimmed' }

const empty: Tail = { fresh: [], waiting: [], isPaused: false }

function change(tail: Tail, made: Change): Tail {
  switch (made.kind) {
    case 'arrived': {
      const lines = withoutTwins([...made.lines, ...tail.waiting])
      return tail.isPaused || made.isAway
        ? { ...tail, waiting: lines.slice(0, waitingMax) }
        : { ...tail, fresh: withoutTwins([...lines, ...tail.fresh]), waiting: [] }
    }
    case 'paused':
      return made.isPaused ? { ...tail, isPaused: true } : { ...showAll(tail), isPaused: false }
    case 'shown':
      return showAll(tail)
    case 'trimmed':
      return { ...tail, fresh: tail.fresh.slice(0, keptMax) }
  }
}

function showAll(tail: Tail): Tail {
  return { ...tail, fresh: withoutTwins([...tail.waiting, ...tail.fresh]), waiting: [] }
}

/** A reader that comes back may get events of the last seconds twice. */
export function withoutTwins(lines: readonly RequestLine[]): readonly RequestLine[] {
  return [...new Map(lines.toReversed().map((line) => [line.id, line])).values()].toReversed()
}

export function useTail(search: ListSearch, isFollowing: boolean, onGap: () => void) {
  const [tail, make] = useReducer(change, empty)
  const arrived = useRef<RequestLine[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const follow = useCallback(
    (data: unknown) => {
      if (!isFollowing || !isRequestLine(data) || !fits(data, search)) return
      arrived.current.push(data)
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        const lines = arrived.current.splice(0).toReversed()
        make({ kind: 'arrived', lines, isAway: scrollY > scrolledPx })
      }, flushMs)
    },
    [isFollowing, search],
  )
  const fillGap = useCallback(() => isFollowing && onGap(), [isFollowing, onGap])
  useEvent('request', follow)
  useEvent('gap', fillGap)
  return {
    ...tail,
    setIsPaused: (isPaused: boolean) => make({ kind: 'paused', isPaused }),
    show: () => make({ kind: 'shown' }),
    trim: () => make({ kind: 'trimmed' }),
  }
}

/** Events have the form of the list; only what tells them apart is checked. */
function isRequestLine(data: unknown): data is RequestLine {
  return (
    typeof data === 'object' &&
    data !== null &&
    'id' in data &&
    'outcome' in data &&
    'key_id' in data
  )
}

/** As the API filters the list. */
function fits(line: RequestLine, search: ListSearch): boolean {
  const { account, key, model, channel, status, code } = search
  return (
    (account === undefined || line.account === account || line.account_id === account) &&
    (key === undefined || line.key_id === key) &&
    (model === undefined || line.model === model) &&
    (channel === undefined || line.channel === channel) &&
    (status === undefined || isOfClass(line.status, status)) &&
    (code === undefined || line.code === code)
  )
}

function isOfClass(status: number, wanted: string): boolean {
  return wanted.endsWith('xx') ? `${status}`[0] === wanted[0] : `${status}` === wanted
}
