/**
 * How many requests an account may leave before the first byte of their answer without paying for them: a
 * number in any hour, or a percentage of its requests in that hour, whichever is more. The vendor works on
 * them all the same. Counted in this process only. Leaves are counted exactly; of the requests of the
 * previous hour as many as the present one still covers.
 */
import { hourMs, type Clock } from '../base/clock.ts'

export interface EarlyLeaves {
  /** Counts a request of the account. */
  countRequest(accountId: string): void
  /** Returns whether one more leave is free, and counts it if so. */
  takeFree(accountId: string): boolean
}

export interface EarlyLeavesOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly freeMax: number
  readonly freePercent: number
}

export function createEarlyLeaves({
  clock,
  freeMax,
  freePercent,
}: EarlyLeavesOptions): EarlyLeaves {
  let hour = Math.floor(clock.monotonic() / hourMs)
  let requests = new Map<string, number>()
  let requestsBefore = new Map<string, number>()
  /** The times of free leaves in the last hour. */
  const leaves = new Map<string, readonly number[]>()

  function follow(nowMs: number): void {
    const now = Math.floor(nowMs / hourMs)
    if (now === hour) return
    requestsBefore = now === hour + 1 ? requests : new Map<string, number>()
    requests = new Map()
    hour = now
    for (const accountId of leaves.keys()) recentLeaves(accountId, nowMs)
  }

  function recentLeaves(accountId: string, nowMs: number): readonly number[] {
    const recent = (leaves.get(accountId) ?? []).filter((atMs) => atMs > nowMs - hourMs)
    if (recent.length === 0) leaves.delete(accountId)
    return recent
  }

  return {
    countRequest(accountId) {
      follow(clock.monotonic())
      requests.set(accountId, (requests.get(accountId) ?? 0) + 1)
    },
    takeFree(accountId) {
      const nowMs = clock.monotonic()
      follow(nowMs)
      const shareBefore = 1 - (nowMs / hourMs - hour)
      const count =
        (requests.get(accountId) ?? 0) + (requestsBefore.get(accountId) ?? 0) * shareBefore
      const recent = recentLeaves(accountId, nowMs)
      if (recent.length >= Math.max(freeMax, Math.floor((count * freePercent) / 100))) return false
      leaves.set(accountId, [...recent, nowMs])
      return true
    },
  }
}
