/**
 * Time limits of exchanges and connections without a timer for each: one coarse tick looks at all of
 * them. Moving a limit is a field write, so it may be done for every event of a stream. A limit is kept
 * to within one tick, never early.
 */
import type { Clock, Timer } from './clock.ts'

export interface Watched {
  /** Monotonic time at which `onDue` is called; Infinity = no limit. Free to change at any time. */
  dueMs: number
  /** Where the watchdog keeps it, `unwatched` to begin with; the watchdog's own business. */
  watchIndex: number
  /** Called once per tick while due. Whoever handles it moves the limit or ends the watch. */
  onDue(): void
  /** The gateway is going down: ends what is left of it, told honestly. */
  cut(): void
}

export const unwatched = -1

export interface Watchdog {
  watch(watched: Watched): void
  unwatch(watched: Watched): void
  /** Cuts all that still runs. */
  cutAll(): void
  close(): void
}

const defaultTickMs = 100

export function createWatchdog(clock: Clock, tickMs: number = defaultTickMs): Watchdog {
  // An array without order. A Set is copied as its members change, and each old copy is kept alive
  // by the one before it, so that ended exchanges would outlive many young collections.
  const running: Watched[] = []
  let timer: Timer | undefined

  function tick(): void {
    timer = undefined
    const nowMs = clock.monotonic()
    const due = running.filter((watched) => watched.dueMs <= nowMs)
    for (const watched of due) if (watched.watchIndex !== unwatched) watched.onDue()
    arm()
  }

  function arm(): void {
    if (timer === undefined && running.length > 0) timer = clock.after(tickMs, tick)
  }

  return {
    watch(watched) {
      if (watched.watchIndex !== unwatched) return
      watched.watchIndex = running.push(watched) - 1
      arm()
    },
    unwatch(watched) {
      const index = watched.watchIndex
      const last = index === unwatched ? undefined : running.pop()
      watched.watchIndex = unwatched
      if (last === undefined || last === watched) return
      running[index] = last
      last.watchIndex = index
    },
    cutAll() {
      for (const watched of running.slice()) if (watched.watchIndex !== unwatched) watched.cut()
    },
    close() {
      timer?.cancel()
      timer = undefined
      for (const watched of running) watched.watchIndex = unwatched
      running.length = 0
    },
  }
}
