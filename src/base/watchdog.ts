/**
 * Timeouts of exchanges and connections without a timer for each: a clock's tick checks all of them. Moving
 * a timeout is a field write, which is cheap enough for every event of a stream. A timeout fires up to two
 * ticks late, never early.
 */
import { tickMs, type Clock, type Timer } from './clock.ts'

export interface Watched {
  /** Monotonic time at which `onDue` is called; Infinity = never. It may change at any time. */
  dueMs: number
  /** Set by the watchdog; `unwatched` at first. */
  watchIndex: number
  /** Called once per tick while due: move the timeout or call `unwatch`. */
  onDue(): void
  /** The gateway shuts down: ends the rest, visibly incomplete. */
  cut(): void
}

export const unwatched = -1

export interface Watchdog {
  watch(watched: Watched): void
  unwatch(watched: Watched): void
  /** Calls `cut` on everything that is watched. */
  cutAll(): void
  close(): void
}

export function createWatchdog(clock: Clock): Watchdog {
  // An array without order. V8 copies a Set as its members change, and each old copy is kept alive by the
  // one before it, so that ended exchanges would survive many collections of young objects.
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
    if (timer === undefined && running.length > 0) timer = clock.onTick(tickMs, tick)
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
