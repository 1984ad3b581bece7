/**
 * The checks of one channel that wait for their turn, bursts before the others, then the one asked
 * for longest ago. It is told the time and sends nothing. The invariants: what is asked for goes out
 * some day, each model's once; single checks are spread; those of models in use stay within
 * `perMinuteMax`, and so do those of models out of use until one has passed: while a channel returns
 * all of them may ask in turn.
 */

/** What the line has to know of its channel, as it is at the moment. */
export interface LineFacts {
  isInUse(model: string): boolean
  /** Whether its cap leaves room for a check. */
  hasRoom(): boolean
}

export interface CheckLine {
  /** So many checks of this model are wanted: a single one, or a burst that decides about traffic. */
  ask(model: string, count: number): void
  /** The model to check now, taken for sent; undefined while none may go. */
  take(now: number): string | undefined
  /** When the next one may go; infinity where none waits. */
  nextAt(now: number): number
  /** One has ended; `hasPassed`: the vendor answered it. */
  ended(model: string, hasPassed: boolean, now: number): void
}

interface Wanted {
  readonly model: string
  left: number
  readonly isBurst: boolean
}

const minuteMs = 60_000
const perMinuteMax = 12
const gapMs = 300

export function createCheckLine(facts: LineFacts): CheckLine {
  /** By model, as they were asked for. */
  const waiting = new Map<string, Wanted>()
  /** Under way, by model. */
  const running = new Map<string, number>()
  /** When the last ones were sent, oldest first. */
  const sent = { inUse: [] as number[], outOfUse: [] as number[] }
  let sentAt = Number.NEGATIVE_INFINITY
  let passedAt = Number.NEGATIVE_INFINITY

  function sentLike(model: string): number[] {
    return facts.isInUse(model) ? sent.inUse : sent.outOfUse
  }

  function mayGoAt({ model, isBurst }: Wanted, now: number): number {
    if (isBurst) return now
    const spreadAt = sentAt + gapMs
    if (!facts.isInUse(model) && now - passedAt < minuteMs) return spreadAt
    const last = sentLike(model)
    const oldest = last.length < perMinuteMax ? undefined : last.at(-perMinuteMax)
    return oldest === undefined ? spreadAt : Math.max(spreadAt, oldest + minuteMs)
  }

  function findNext(now: number): Wanted | undefined {
    let single: Wanted | undefined
    for (const wanted of waiting.values()) {
      if (wanted.isBurst) return wanted
      if (single === undefined && mayGoAt(wanted, now) <= now) single = wanted
    }
    return single
  }

  function noteSent(model: string, now: number): void {
    const last = sentLike(model)
    last.push(now)
    if (last.length > perMinuteMax) last.shift()
    sentAt = now
    running.set(model, (running.get(model) ?? 0) + 1)
  }

  return {
    ask(model, count) {
      const before = waiting.get(model)
      // One that is under way or waits answers for a second one; a burst is asked for on purpose.
      if (count === 1 && (before !== undefined || running.has(model))) return
      waiting.set(model, { model, left: Math.max(count, before?.left ?? 0), isBurst: count > 1 })
    },
    take(now) {
      if (!facts.hasRoom()) return undefined
      const wanted = findNext(now)
      if (wanted === undefined) return undefined
      if (--wanted.left === 0) waiting.delete(wanted.model)
      noteSent(wanted.model, now)
      return wanted.model
    },
    nextAt(now) {
      let next = Number.POSITIVE_INFINITY
      for (const wanted of waiting.values()) next = Math.min(next, mayGoAt(wanted, now))
      // Nobody tells when a client's attempt makes room: it is looked for.
      return facts.hasRoom() ? next : Math.max(next, now + gapMs)
    },
    ended(model, hasPassed, now) {
      const left = (running.get(model) ?? 1) - 1
      if (left > 0) running.set(model, left)
      else running.delete(model)
      if (hasPassed) passedAt = now
    },
  }
}
