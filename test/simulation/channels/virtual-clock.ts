/**
 * Time of a simulation: a heap of moments, each run in order of time and, within one moment, in the
 * order in which it was asked for. Nothing waits: hours pass as fast as their events can be run.
 */
import type { Clock, Timer } from '../../../src/base/clock.ts'

interface Entry {
  readonly at: number
  readonly order: number
  action: (() => void) | undefined
}

export class VirtualClock implements Clock {
  #now = 0
  #order = 0
  #wallOffsetMs = Date.parse('2026-11-21T12:00:00Z')
  readonly #heap: Entry[] = []

  now(): number {
    return this.#wallOffsetMs + this.#now
  }

  monotonic(): number {
    return this.#now
  }

  /** What an operator or a time service may do to the machine's clock. */
  jumpWallTime(byMs: number): void {
    this.#wallOffsetMs += byMs
  }

  after(delayMs: number, action: () => void): Timer {
    const entry: Entry = { at: this.#now + Math.max(0, delayMs), order: this.#order++, action }
    this.#push(entry)
    return {
      cancel() {
        entry.action = undefined
      },
    }
  }

  onTick(delayMs: number, action: () => void): Timer {
    return this.after(delayMs, action)
  }

  at(moment: number, action: () => void): Timer {
    return this.after(moment - this.#now, action)
  }

  /** Runs everything up to this moment. */
  runUntil(end: number): void {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined || first.at > end) break
      this.#pop()
      this.#now = first.at
      first.action?.()
    }
    this.#now = end
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let position = heap.length
    heap.push(entry)
    while (position > 0) {
      const parent = (position - 1) >> 1
      const above = heap[parent]
      if (above === undefined || isBefore(above, entry)) break
      heap[position] = above
      position = parent
    }
    heap[position] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let position = 0
    for (;;) {
      const left = heap[2 * position + 1]
      const right = heap[2 * position + 2]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (isBefore(last, child)) break
      heap[position] = child
      position = 2 * position + (isRight ? 2 : 1)
    }
    heap[position] = last
  }
}

function isBefore(left: Entry, right: Entry): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}
