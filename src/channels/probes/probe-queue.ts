/**
 * The queue of one channel's probes: bursts first, then the single probe that has waited longest. It sends
 * nothing. Invariants: every requested probe is sent, each single one once; single probes are spread;
 * those of models in use stay within `perMinuteMax`, and so do those of models out of use until one
 * passes: while a channel returns, all of its models may send theirs in turn.
 */
import { minuteMs } from '../../base/clock.ts'
import type { Form } from '../health/evidence.ts'

/** What to probe: one model, in one form. */
export interface ProbeTarget {
  readonly model: string
  readonly form: Form
}

/** The state of the channel at this moment. */
export interface ProbeQueueFacts {
  isInUse(model: string): boolean
  /** Whether the concurrency limit leaves room for a probe. */
  hasRoom(): boolean
}

export interface ProbeQueue {
  /** Adds a single probe, or a burst that decides about traffic. */
  add(target: ProbeTarget, count: number): void
  /** Removes and returns the probe to send now; undefined while none may be sent. */
  take(now: number): ProbeTarget | undefined
  /** When the next one may be sent; infinity where none waits. */
  nextAt(now: number): number
  /** A probe has ended; `hasPassed`: the vendor answered it. */
  ended(target: ProbeTarget, hasPassed: boolean, now: number): void
}

interface Waiting {
  readonly target: ProbeTarget
  left: number
  readonly isBurst: boolean
}

const perMinuteMax = 12
const gapMs = 300

export function createProbeQueue(facts: ProbeQueueFacts): ProbeQueue {
  /** By target, in the order of request. */
  const waiting = new Map<string, Waiting>()
  /** Under way, by target. */
  const running = new Map<string, number>()
  /** When the latest probes were sent, oldest first. */
  const sent = { inUse: [] as number[], outOfUse: [] as number[] }
  let sentAt = Number.NEGATIVE_INFINITY
  let passedAt = Number.NEGATIVE_INFINITY

  function sentLike(model: string): number[] {
    return facts.isInUse(model) ? sent.inUse : sent.outOfUse
  }

  function mayGoAt({ target: { model }, isBurst }: Waiting, now: number): number {
    if (isBurst) return now
    const spreadAt = sentAt + gapMs
    if (!facts.isInUse(model) && now - passedAt < minuteMs) return spreadAt
    const last = sentLike(model)
    const oldest = last.length < perMinuteMax ? undefined : last.at(-perMinuteMax)
    return oldest === undefined ? spreadAt : Math.max(spreadAt, oldest + minuteMs)
  }

  function changeRunning(target: ProbeTarget, by: number): void {
    const key = keyOf(target)
    running.set(key, (running.get(key) ?? 0) + by)
    if (running.get(key) === 0) running.delete(key)
  }

  function noteSent(target: ProbeTarget, now: number): void {
    const last = sentLike(target.model)
    last.push(now)
    if (last.length > perMinuteMax) last.shift()
    sentAt = now
    changeRunning(target, 1)
  }

  return {
    add(target, count) {
      const key = keyOf(target)
      const before = waiting.get(key)
      // One that waits or is under way answers for a second one; a burst is sent whole.
      if (count === 1 && (before !== undefined || running.has(key))) return
      waiting.set(key, { target, left: Math.max(count, before?.left ?? 0), isBurst: count > 1 })
    },
    take(now) {
      if (!facts.hasRoom()) return undefined
      const next = findNext([...waiting.values()], (one) => mayGoAt(one, now) <= now)
      if (next === undefined) return undefined
      if (--next.left === 0) waiting.delete(keyOf(next.target))
      noteSent(next.target, now)
      return next.target
    },
    nextAt(now) {
      let next = Number.POSITIVE_INFINITY
      for (const one of waiting.values()) next = Math.min(next, mayGoAt(one, now))
      // No event reports that a client's attempt has made room, so the queue looks again soon.
      return facts.hasRoom() ? next : Math.max(next, now + gapMs)
    },
    ended(target, hasPassed, now) {
      changeRunning(target, -1)
      if (hasPassed) passedAt = now
    },
  }
}

function keyOf({ model, form }: ProbeTarget): string {
  return `${form} ${model}`
}

/** The first burst, else the first single probe that may be sent. */
function findNext(
  waiting: readonly Waiting[],
  mayGo: (one: Waiting) => boolean,
): Waiting | undefined {
  return waiting.find(({ isBurst }) => isBurst) ?? waiting.find(mayGo)
}
