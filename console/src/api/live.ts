/**
 * One connection to the live events of the gateway for the whole console. An event makes the lists it
 * speaks of be read again, at most every few seconds; figures that cost the gateway more, less often.
 * A hidden page reads nothing until it is looked at. Components can follow one kind of event, and show
 * how old the data is.
 */
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'

const eventKinds = ['request', 'channel', 'action', 'alert', 'audit', 'changed', 'gap'] as const
export type EventKind = (typeof eventKinds)[number]

/** First words of the query keys that an event makes stale. */
const staleAfter: Readonly<Record<EventKind, readonly string[]>> = {
  request: ['overview', 'requests', 'accounts', 'reports'],
  channel: ['overview', 'channels'],
  // Settings: backups and sessions are recorded as actions.
  action: ['actions', 'settings'],
  alert: ['overview', 'alerts'],
  audit: ['overview', 'audits'],
  changed: [
    'overview',
    'accounts',
    'keys',
    'catalogue',
    'models',
    'prices',
    'channels',
    'settings',
  ],
  gap: ['overview', 'requests', 'channels', 'actions', 'alerts', 'audits'],
}
/** Events that come together cause one reading. */
const gatherMs = 1_000
/** From one reading to the next while events keep coming. */
const restMs = 3_000
/** The gateway adds these up over many rows. */
const longRestsMs: Readonly<Record<string, number>> = { overview: 5_000, reports: 15_000 }
const reopenMs = 5_000

type LiveState = 'connecting' | 'live' | 'lost'

interface Live {
  readonly state: LiveState
  /** When the last sign of life came: an event or the opening of the connection. */
  readonly seenAtMs: number
}

type Follower = (data: unknown) => void

let live: Live = { state: 'connecting', seenAtMs: Date.now() }
const watchers = new Set<() => void>()
const followers = new Map<EventKind, Set<Follower>>()

function setLive(state: LiveState): void {
  live = { state, seenAtMs: state === 'live' ? Date.now() : live.seenAtMs }
  for (const watch of watchers) watch()
}

export function useLive(): Live {
  return useSyncExternalStore(
    (watch) => {
      watchers.add(watch)
      return () => watchers.delete(watch)
    },
    () => live,
  )
}

/** Calls `follow` with the data of each event of a kind while the component is shown. */
export function useEvent(kind: EventKind, follow: Follower): void {
  useEffect(() => {
    const known = followers.get(kind) ?? new Set()
    followers.set(kind, known.add(follow))
    return () => void known.delete(follow)
  }, [kind, follow])
}

/**
 * Opens the connection and returns what closes it. The browser connects again by itself, but not after an
 * answer that is an error, such as that of a proxy whose gateway restarts.
 */
export function connectLive(client: QueryClient): () => void {
  const invalidate = (word: string, refetchType: 'none' | 'active'): void => {
    const predicate = ({ queryKey }: { queryKey: QueryKey }): boolean =>
      firstWord(queryKey) === word
    void client.invalidateQueries({ predicate, refetchType })
  }
  // Stale data is read again when its page is opened or looked at.
  const refresher = buildRefresher({
    markStale: (word) => invalidate(word, 'none'),
    refresh: (word) => invalidate(word, document.hidden ? 'none' : 'active'),
  })
  let source: EventSource
  let reopening: ReturnType<typeof setTimeout> | undefined
  const open = (): void => {
    source = new EventSource('/admin/v1/events')
    source.addEventListener('open', () => {
      // While the connection was lost, questions may have failed.
      if (live.state === 'lost') void client.invalidateQueries()
      setLive('live')
    })
    source.addEventListener('error', () => {
      setLive('lost')
      if (source.readyState === EventSource.CLOSED) reopening = setTimeout(open, reopenMs)
    })
    for (const kind of eventKinds)
      source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
        setLive('live')
        const parsed: unknown = JSON.parse(data)
        for (const follow of followers.get(kind) ?? []) follow(parsed)
        for (const word of staleAfter[kind]) refresher.add(word)
      })
  }
  open()
  return () => {
    source.close()
    clearTimeout(reopening)
    refresher.stop()
  }
}

interface Reader {
  readonly markStale: (word: string) => void
  readonly refresh: (word: string) => void
}

/** Calls `refresh` soon after a word was added, and then not again before its rest is over. */
function buildRefresher({ markStale, refresh }: Reader) {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const refreshedAtMs = new Map<string, number>()
  return {
    add(word: string): void {
      markStale(word)
      if (timers.has(word)) return
      const nextMs = (refreshedAtMs.get(word) ?? -Infinity) + (longRestsMs[word] ?? restMs)
      const run = (): void => {
        timers.delete(word)
        refreshedAtMs.set(word, performance.now())
        refresh(word)
      }
      timers.set(word, setTimeout(run, Math.max(gatherMs, nextMs - performance.now())))
    },
    stop(): void {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

function firstWord([word]: QueryKey): string {
  return typeof word === 'string' ? word : ''
}
