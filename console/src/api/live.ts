/**
 * One connection to the live events of the gateway for the whole console. An event makes the lists it
 * speaks of be read again, at most every few seconds. Components can follow one kind of event, and
 * show how old the data is.
 */
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'

const eventKinds = ['request', 'channel', 'action', 'alert', 'audit', 'changed', 'gap'] as const
export type EventKind = (typeof eventKinds)[number]

/** First words of the query keys that an event makes stale. */
const staleAfter: Readonly<Record<EventKind, readonly string[]>> = {
  request: ['overview', 'requests', 'accounts', 'reports'],
  channel: ['overview', 'channels'],
  action: ['actions'],
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
const refreshMs = 3_000

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

/** Opens the connection and returns what closes it. The browser connects again by itself. */
export function connectLive(client: QueryClient): () => void {
  const source = new EventSource('/admin/v1/events')
  const stale = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const refresh = (): void => {
    timer = undefined
    const words = [...stale]
    stale.clear()
    void client.invalidateQueries({
      predicate: ({ queryKey }) => words.includes(firstWord(queryKey)),
    })
  }
  source.addEventListener('open', () => setLive('live'))
  source.addEventListener('error', () => setLive('lost'))
  for (const kind of eventKinds)
    source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      setLive('live')
      const parsed: unknown = JSON.parse(data)
      for (const follow of followers.get(kind) ?? []) follow(parsed)
      for (const word of staleAfter[kind]) stale.add(word)
      timer ??= setTimeout(refresh, refreshMs)
    })
  return () => {
    source.close()
    clearTimeout(timer)
  }
}

function firstWord([word]: QueryKey): string {
  return typeof word === 'string' ? word : ''
}
