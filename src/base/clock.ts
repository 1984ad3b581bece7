/**
 * Time: wall time for records, monotonic time for durations, timers that can be cancelled, and durations as
 * operators write them. No other file reads a clock, so that tests control time.
 */

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time, milliseconds since 1970-01-01 UTC. For records only: it may jump. */
  now(): number
  /** Monotonic time in milliseconds from an arbitrary start. For every duration and deadline. */
  monotonic(): number
  /** Runs `action` once after `delayMs`. */
  after(delayMs: number, action: () => void): Timer
  /** Runs `action` once on the tick nearest to `delayMs` from now, with all else that is due by then. */
  onTick(delayMs: number, action: () => void): Timer
}

/** Each tick wakes a process that has no traffic, so its periodic work shares them. */
export const tickMs = 125
const onTicks = new Map<number, Set<() => void>>()

/** Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  onTick(delayMs, action) {
    const tick = Math.round((performance.now() + delayMs) / tickMs)
    const actions = onTicks.get(tick) ?? startTick(tick)
    const run = (): void => action()
    actions.add(run)
    return { cancel: () => void actions.delete(run) }
  },
}

function startTick(tick: number): Set<() => void> {
  const actions = new Set<() => void>()
  onTicks.set(tick, actions)
  systemClock.after(tick * tickMs - performance.now(), () => {
    onTicks.delete(tick)
    for (const run of actions) run()
  })
  return actions
}

/** For commands: a timer keeps the process alive, because nothing else may do so while one waits. */
export const commandClock: Clock = {
  ...systemClock,
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Resolves after `delayMs`, or at once when `signal` aborts; never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(delayMs, done)
    signal?.addEventListener('abort', done)
  })
}

/**
 * Runs `action` repeatedly, each run on a tick about `intervalMs` after the end of the previous one. A
 * failure goes to `onError` and does not end the series.
 */
export function every(
  clock: Clock,
  intervalMs: number,
  action: () => Promise<void> | void,
  onError: (error: unknown) => void,
): Timer {
  let isCancelled = false
  let timer: Timer = clock.onTick(intervalMs, run)
  function run(): void {
    void Promise.resolve()
      .then(action)
      .catch(onError)
      .finally(() => {
        if (!isCancelled) timer = clock.onTick(intervalMs, run)
      })
  }
  return {
    cancel() {
      isCancelled = true
      timer.cancel()
    },
  }
}

/** Returns the UTC day of a wall time, such as `2026-11-21`. Daily limits and sums use it. */
export function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** Returns the UTC month of a wall time, such as `2026-11`. */
export function utcMonth(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}

/** Returns the wall time of the next 00:00 UTC after `atMs`. */
export function nextUtcMidnight(atMs: number): number {
  return (Math.floor(atMs / dayMs) + 1) * dayMs
}

/** Returns the wall time of the next first of a month, 00:00 UTC, after `atMs`. */
export function nextUtcMonth(atMs: number): number {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
}

/** Parses `250ms`, `30s`, `10m`, `2h` or `1d`; undefined where the text is not a whole number with a unit. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (match === null) return undefined
  const factor = unitMs[match[2] ?? '']
  return factor === undefined ? undefined : Number(match[1]) * factor
}

/** Formats a duration in the largest unit that is exact: 600000 → `10m`. */
export function formatDuration(durationMs: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const factor = unitMs[unit] ?? 1
    if (durationMs > 0 && durationMs % factor === 0) return `${durationMs / factor}${unit}`
  }
  return `${durationMs}ms`
}
