/** A clock that moves only when a test advances it. Timers run inside `advance`, in due order. */
import assert from 'node:assert/strict'
import type { Clock, Timer } from '../../src/base/clock.ts'

interface Pending {
  readonly dueMs: number
  readonly order: number
  readonly action: () => void
}

export class ManualClock implements Clock {
  #elapsedMs = 0
  #order = 0
  #wallOffsetMs: number
  readonly #pending = new Set<Pending>()

  constructor(startMs: number = Date.parse('2026-11-21T12:00:00Z')) {
    this.#wallOffsetMs = startMs
  }

  now(): number {
    return this.#wallOffsetMs + this.#elapsedMs
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, action: () => void): Timer {
    const entry: Pending = { dueMs: this.#elapsedMs + delayMs, order: this.#order++, action }
    this.#pending.add(entry)
    return { cancel: () => void this.#pending.delete(entry) }
  }

  onTick(delayMs: number, action: () => void): Timer {
    return this.after(delayMs, action)
  }

  /** Moves time on and runs each timer at its own moment, those set meanwhile included. */
  advance(durationMs: number): void {
    const endMs = this.#elapsedMs + durationMs
    for (;;) {
      const next = this.#nextDue(endMs)
      if (next === undefined) break
      this.#pending.delete(next)
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs)
      next.action()
    }
    this.#elapsedMs = endMs
  }

  /** Moves wall time only, as an operator who sets the machine's clock would. */
  jumpWallTime(durationMs: number): void {
    this.#wallOffsetMs += durationMs
  }

  get pendingCount(): number {
    return this.#pending.size
  }

  #nextDue(endMs: number): Pending | undefined {
    let best: Pending | undefined
    for (const entry of this.#pending) {
      if (entry.dueMs > endMs) continue
      if (
        best === undefined ||
        entry.dueMs < best.dueMs ||
        (entry.dueMs === best.dueMs && entry.order < best.order)
      )
        best = entry
    }
    return best
  }
}

/** Advances the clock second by second until the condition holds; fails after `atMostMs`. */
export async function advanceUntil(
  clock: ManualClock,
  atMostMs: number,
  holds: () => Promise<boolean> | boolean,
): Promise<number> {
  const startedMs = clock.monotonic()
  while (!(await holds())) {
    assert.ok(
      clock.monotonic() - startedMs < atMostMs,
      `the condition does not hold after ${atMostMs} ms`,
    )
    clock.advance(1_000)
  }
  return clock.monotonic() - startedMs
}
