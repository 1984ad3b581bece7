/**
 * One connection to the live events of the gateway for the whole console. An event names a list that has
 * changed; what shows it is read again, at most every few seconds; figures that cost the gateway more, less
 * often. A hidden page reads nothing until it is looked at. Components can show how old the data is.
 */
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { buildSignal } from '../ui/signal.ts'
import type { paths } from './schema.ts'

type Notice = paths['/admin/v1/events']['get']['responses']['200']['content']['text/event-stream']
type ChangedList = Notice['data']['list']

/** What operators change shows in many places: a channel's state beside its models, for example. */
const managed = [
  'overview',
  'accounts',
  'keys',
  'catalogue',
  'models',
  'prices',
  'channels',
  'settings',
]
/** First words of the query keys that a change of a list makes stale. */
const staleAfter: Readonly<Record<string, readonly string[]>> = {
  requests: ['overview', 'requests', 'accounts', 'reports'],
  channels: ['overview', 'channels'],
  // Settings: backups and sessions are recorded as actions.
  actions: ['actions', 'settings', 'codes', 'notes', 'reconciliations'],
  alerts: ['overview', 'alerts'],
  audits: ['overview', 'audits'],
  keys: managed,
  accounts: managed,
  balances: managed,
  catalogue: managed,
} satisfies Record<ChangedList, readonly string[]>
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

let live: Live = { state: 'connecting', seenAtMs: Date.now() }
const changed = buildSignal()

function setLive(state: LiveState): void {
  live = { state, seenAtMs: state === 'live' ? Date.now() : live.seenAtMs }
  changed.send()
}

export function useLive(): Live {
  return changed.useValue(() => live)
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
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      setLive('live')
      const { list } = JSON.parse(data) as Notice['data']
      // A gateway of another version may know other lists.
      for (const word of staleAfter[list] ?? []) refresher.add(word)
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
