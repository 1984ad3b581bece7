/**
 * The checks of one channel that wait for their turn, the one asked for longest ago first. It is told
 * the time and sends nothing. The invariants: what is asked for goes out some day, each model's once;
 * single checks are spread; those of models in use stay within `perMinuteMax`, and so do those of
 * models out of use until one has passed: while a channel returns all of them may ask in turn.
 */
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
  left: number
  readonly isBurst: boolean
}

const minuteMs = 60_000
const perMinuteMax = 12
const gapMs = 300

export function createCheckLine(isInUse: (model: string) => boolean): CheckLine {
  /** By model, as they were asked for. */
  const waiting = new Map<string, Wanted>()
  /** Under way, by model. */
  const running = new Map<string, number>()
  /** When the last ones were sent, oldest first. */
  const sent = { inUse: [] as number[], outOfUse: [] as number[] }
  let sentAt = Number.NEGATIVE_INFINITY
  let passedAt = Number.NEGATIVE_INFINITY

  function sentLike(model: string): number[] {
    return isInUse(model) ? sent.inUse : sent.outOfUse
  }

  function mayGoAt(model: string, { isBurst }: Wanted, now: number): number {
    if (isBurst) return now
    const spreadAt = sentAt + gapMs
    if (!isInUse(model) && now - passedAt < minuteMs) return spreadAt
    const last = sentLike(model)
    const oldest = last.length < perMinuteMax ? undefined : last.at(-perMinuteMax)
    return oldest === undefined ? spreadAt : Math.max(spreadAt, oldest + minuteMs)
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
      waiting.set(model, { left: Math.max(count, before?.left ?? 0), isBurst: count > 1 })
    },
    take(now) {
      for (const [model, wanted] of waiting) {
        if (mayGoAt(model, wanted, now) > now) continue
        if (--wanted.left === 0) waiting.delete(model)
        noteSent(model, now)
        return model
      }
      return undefined
    },
    nextAt(now) {
      let next = Number.POSITIVE_INFINITY
      for (const [model, wanted] of waiting) next = Math.min(next, mayGoAt(model, wanted, now))
      return next
    },
    ended(model, hasPassed, now) {
      const left = (running.get(model) ?? 1) - 1
      if (left > 0) running.set(model, left)
      else running.delete(model)
      if (hasPassed) passedAt = now
    },
  }
}
