/**
 * Concurrency limits: how many exchanges run at once, per key and per account. Counted in this process
 * only: the limits protect the process, not money. Invariant: every `enter` that admits is followed by
 * exactly one `leave`.
 */
import { invariant, refuse, type Refusal } from '../base/errors.ts'
import type { Principal } from './key.ts'

export interface RunningLimits {
  /** Counts the exchange, or returns a refusal. A limit of zero admits everything. */
  enter(principal: Principal): Refusal | undefined
  leave(principal: Principal): void
  readonly runningCount: number
}

export function createRunningLimits(caps: {
  readonly perKeyMax: number
  readonly perAccountMax: number
}): RunningLimits {
  const byKey = new Map<string, number>()
  const byAccount = new Map<string, number>()
  let runningCount = 0

  return {
    enter(principal) {
      const keyCount = byKey.get(principal.keyId) ?? 0
      const accountCount = byAccount.get(principal.accountId) ?? 0
      if (isFull(keyCount, caps.perKeyMax)) return tooMany('key', caps.perKeyMax)
      if (isFull(accountCount, caps.perAccountMax)) return tooMany('account', caps.perAccountMax)
      byKey.set(principal.keyId, keyCount + 1)
      byAccount.set(principal.accountId, accountCount + 1)
      runningCount++
      return undefined
    },
    leave(principal) {
      countDown(byKey, principal.keyId)
      countDown(byAccount, principal.accountId)
      runningCount--
    },
    get runningCount() {
      return runningCount
    },
  }
}

function isFull(count: number, max: number): boolean {
  return max > 0 && count >= max
}

/** Removes zero counts, so that the maps hold only keys and accounts with running exchanges. */
function countDown(counts: Map<string, number>, id: string): void {
  const count = counts.get(id) ?? 0
  invariant(count > 0, 'an exchange left without having entered')
  if (count === 1) counts.delete(id)
  else counts.set(id, count - 1)
}

function tooMany(owner: 'key' | 'account', max: number): Refusal {
  return refuse(
    'access.too_many_running',
    `Concurrency limit reached: this ${owner} already has ${max} requests running. Wait until one of them ends.`,
    { 'retry-after': '1' },
  )
}
