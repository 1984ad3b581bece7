/**
 * The request windows of accounts as the server last reported them, for rate-limit headers. They lag
 * behind what other nodes admit, and decide nothing.
 */
import type { Headroom } from '../ledger.ts'
import type { WindowFigures } from './statements.ts'

/** With more accounts than this, all are forgotten; the next decision brings each back. */
const accountsMax = 100_000
const minuteMs = 60_000

interface Noted extends WindowFigures {
  /** Monotonic. */
  readonly atMs: number
}

export class RequestWindows {
  readonly #accounts = new Map<string, Noted>()

  note(accountId: string, window: WindowFigures | undefined, atMs: number): void {
    if (window === undefined) {
      this.#accounts.delete(accountId)
      return
    }
    if (this.#accounts.size >= accountsMax) this.#accounts.clear()
    this.#accounts.set(accountId, { ...window, atMs })
  }

  read(accountId: string, nowMs: number): Headroom | undefined {
    const noted = this.#accounts.get(accountId)
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
