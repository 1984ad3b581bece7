/**
 * Time as the rest of the program sees it: wall time for records, monotonic time for durations,
 * timers that can be cancelled. Nothing else in the tree may read a clock, so that tests can hold
 * time still and move it by hand.
 */

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time, milliseconds since 1970-01-01 UTC. For records only; it may jump. */
  now(): number
  /** Monotonic time in milliseconds from an arbitrary start. For every duration and deadline. */
  monotonic(): number
  /** Runs `action` once after `delayMs`. The timer does not keep the process alive. */
  after(delayMs: number, action: () => void): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    timer.unref()
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
 * Runs `action` every `intervalMs`, the next run scheduled only when the last one has ended.
 * An action's failure goes to `onError` and does not end the series.
 */
export function every(
  clock: Clock,
  intervalMs: number,
  action: () => Promise<void> | void,
  onError: (error: unknown) => void,
): Timer {
  let isCancelled = false
  let timer: Timer = clock.after(intervalMs, run)
  function run(): void {
    void Promise.resolve()
      .then(action)
      .catch(onError)
      .finally(() => {
        if (!isCancelled) timer = clock.after(intervalMs, run)
      })
  }
  return {
    cancel() {
      isCancelled = true
      timer.cancel()
    },
  }
}

const dayMs = 86_400_000

/** `2026-11-21` for a wall time; the UTC day is the unit of daily limits and figures. */
export function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** `2026-11` for a wall time. */
export function utcMonth(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}

/** Wall time of the next 00:00 UTC after `atMs`. */
export function nextUtcMidnight(atMs: number): number {
  return (Math.floor(atMs / dayMs) + 1) * dayMs
}
