/**
 * The request windows of accounts and keys as the server last reported them, for rate-limit headers. They lag
 * behind what other nodes admit, and decide nothing.
 */
import { minuteMs } from '../../base/clock.ts'
import type { Headroom } from '../ledger.ts'
import type { WindowCount } from './statements.ts'

/** With more of them than this, all are forgotten; the next decision brings each back. */
const ownersMax = 100_000

interface Noted extends WindowCount {
  /** Monotonic. */
  readonly atMs: number
}

export class RequestWindows {
  readonly #owners = new Map<string, Noted>()

  /** `ownerId` is an account or a key. Without a count it is forgotten. */
  note(ownerId: string, window: WindowCount | undefined, atMs: number): void {
    if (window === undefined) {
      this.#owners.delete(ownerId)
      return
    }
    if (this.#owners.size >= ownersMax) this.#owners.clear()
    this.#owners.set(ownerId, { ...window, atMs })
  }

  read(ownerId: string, nowMs: number): Headroom | undefined {
    const noted = this.#owners.get(ownerId)
    if (noted === undefined) return undefined
    const windowMs = noted.windowMinutes * minuteMs
    const rpmLimit = noted.rpm * noted.windowMinutes
    const allLeaveInMs = noted.atMs + windowMs - nowMs
    if (noted.counted === 0 || allLeaveInMs <= 0)
      return { rpmLimit, rpmRemaining: rpmLimit, rpmResetMs: 0 }
    const firstLeavesInMs = allLeaveInMs - noted.oldestAgeMs
    return {
      rpmLimit,
      rpmRemaining: Math.max(0, rpmLimit - noted.counted),
      rpmResetMs: firstLeavesInMs > 0 ? firstLeavesInMs : allLeaveInMs,
    }
  }
}
