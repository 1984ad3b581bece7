/**
 * Concurrency limits: how many exchanges run at once and how many bytes their bodies take, per key, per
 * account, and the bytes also in all. Counted in this process only: the limits protect the process, not
 * money. Invariant: every `enter` that admits is followed by exactly one `leave`.
 */
import { invariant, refuse, type Refusal } from '../base/errors.ts'
import type { Principal } from './key.ts'

export interface RunningLimits {
  /** Counts the exchange, or returns a refusal. A limit of zero admits everything. */
  enter(principal: Principal): Refusal | undefined
  leave(principal: Principal): void
  /** Makes the count of the bytes that one exchange keeps of its body. */
  openBodyRoom(principal: Principal): BodyRoom
  readonly runningCount: number
  /** Exchanges of the account that run now. */
  countOf(accountId: string): number
}

/** What the body of one exchange takes. */
export interface BodyRoom {
  /** Takes room for a body of this size in all, or returns a refusal. */
  reserve(bytes: number): Refusal | undefined
  /** Idempotent. */
  free(): void
}

export interface BodyCaps {
  readonly totalBytesMax: number
  /** A body of this size fits where no other is under way. */
  readonly bodyBytesMax: number
}

/** Shares of all bytes. Several accounts have to send much until others find no room. */
const accountShare = 2
const keyShare = 4

export function createRunningLimits(caps: {
  readonly perKeyMax: number
  readonly perAccountMax: number
  readonly bodies: BodyCaps
}): RunningLimits {
  const byKey = new Map<string, number>()
  const byAccount = new Map<string, number>()
  let runningCount = 0
  const bodies = new BodyBytes(caps.bodies)

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
    openBodyRoom: (principal) => new OpenRoom(bodies, principal),
    countOf: (accountId) => byAccount.get(accountId) ?? 0,
    get runningCount() {
      return runningCount
    },
  }
}

function isFull(count: number, max: number): boolean {
  return max > 0 && count >= max
}

/** Removes zero counts, so that the maps have only keys and accounts with running exchanges. */
function countDown(counts: Map<string, number>, id: string, by = 1): void {
  const count = counts.get(id) ?? 0
  invariant(count >= by, 'an exchange left without having entered')
  if (count === by) counts.delete(id)
  else counts.set(id, count - by)
}

class OpenRoom implements BodyRoom {
  readonly #all: BodyBytes
  readonly #principal: Principal
  #bytes = 0

  constructor(all: BodyBytes, principal: Principal) {
    this.#all = all
    this.#principal = principal
  }

  reserve(bytes: number): Refusal | undefined {
    if (bytes <= this.#bytes) return undefined
    const full = this.#all.add(this.#principal, bytes - this.#bytes)
    if (full === undefined) this.#bytes = bytes
    return full
  }

  free(): void {
    if (this.#bytes > 0) this.#all.remove(this.#principal, this.#bytes)
    this.#bytes = 0
  }
}

/** The bytes of all bodies under way. */
class BodyBytes {
  readonly #byKey = new Map<string, number>()
  readonly #byAccount = new Map<string, number>()
  #bytes = 0
  readonly #caps: BodyCaps

  constructor(caps: BodyCaps) {
    this.#caps = caps
  }

  add({ keyId, accountId }: Principal, more: number): Refusal | undefined {
    const keyBytes = (this.#byKey.get(keyId) ?? 0) + more
    const accountBytes = (this.#byAccount.get(accountId) ?? 0) + more
    if (keyBytes > this.#shareOf(keyShare)) return tooManyBytes('key')
    if (accountBytes > this.#shareOf(accountShare)) return tooManyBytes('account')
    if (this.#bytes + more > this.#shareOf(1)) return noRoom
    this.#byKey.set(keyId, keyBytes)
    this.#byAccount.set(accountId, accountBytes)
    this.#bytes += more
    return undefined
  }

  remove({ keyId, accountId }: Principal, bytes: number): void {
    countDown(this.#byKey, keyId, bytes)
    countDown(this.#byAccount, accountId, bytes)
    this.#bytes -= bytes
  }

  #shareOf(share: number): number {
    return Math.max(this.#caps.totalBytesMax / share, this.#caps.bodyBytesMax)
  }
}

const noRoom = refuse(
  'relay.overloaded',
  'The gateway has no room for another request body of this size right now. Try again.',
  { 'retry-after': '1' },
)

function tooManyBytes(owner: 'key' | 'account'): Refusal {
  return refuse(
    'access.too_many_bytes',
    `The running requests of this ${owner} are too large together. Wait until one of them ends.`,
    { 'retry-after': '1' },
  )
}

function tooMany(owner: 'key' | 'account', max: number): Refusal {
  return refuse(
    'access.too_many_running',
    `Concurrency limit reached: this ${owner} already has ${max} requests running. Wait until one of them ends.`,
    { 'retry-after': '1' },
  )
}
