/**
 * Decides whether an exchange is free that came to nothing for its client: the client left before the first
 * byte, or the answer is empty. The vendor works on it all the same, so the likely costs of such exchanges
 * within 24 hours have to stay within an allowance of the account:
 *
 *     max(0.50 USD, 2 % of what the account was charged today and yesterday)
 *
 * The store keeps the sum: a free exchange is recorded with the likely cost that it took, so a restart or
 * another gateway goes on from there. Memory has those that are not recorded yet. Only gateways that decide
 * in the same moment can pass the allowance, each with one exchange at a time.
 */
import { dayMs } from '../base/clock.ts'
import { addPicos, maxPicos, picos, picosPerUsd, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import { readWaived } from './exchange-store.ts'
import type { HoldRequest } from './ledger.ts'

export type WaiverRequest = Pick<HoldRequest, 'exchangeId' | 'accountId' | 'likelyPicos' | 'atMs'>

interface OfAccount {
  /** By exchange, until its record is durable. */
  readonly answers: Map<string, Promise<boolean>>
  /** What free exchanges among them have taken. */
  readonly taken: Map<string, Picos>
  /** The latest decision: the next one waits for it. */
  last: Promise<unknown>
}

/** The least amount that is free in 24 hours, and the part of the charges that is free if that is more. */
const freePicosMin = picos(picosPerUsd / 2n)
const chargesPerFree = 50n

export class Waivers {
  readonly #database: Queryable
  readonly #onError: (error: unknown) => void
  readonly #accounts = new Map<string, OfAccount>()

  constructor(options: {
    readonly database: Queryable
    readonly onError: (error: unknown) => void
  }) {
    this.#database = options.database
    this.#onError = options.onError
  }

  /**
   * Returns whether the exchange is free, and counts it if so. Asking again for the same exchange returns the
   * same answer. Where the store does not answer the exchange is free: no client pays for an outage.
   */
  ask(request: WaiverRequest): Promise<boolean> {
    const account = this.#accountOf(request.accountId)
    const before = account.answers.get(request.exchangeId)
    if (before !== undefined) return before
    const answer = account.last.then(() => this.#decide(request, account))
    account.last = answer
    account.answers.set(request.exchangeId, answer)
    return answer
  }

  /** The record of the exchange is durable, or there will be none. */
  ended({ exchangeId, accountId }: Pick<WaiverRequest, 'exchangeId' | 'accountId'>): void {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return
    account.answers.delete(exchangeId)
    account.taken.delete(exchangeId)
    if (account.answers.size === 0) this.#accounts.delete(accountId)
  }

  async #decide(request: WaiverRequest, account: OfAccount): Promise<boolean> {
    const isFree = await this.#fits(request, new Map(account.taken))
    if (isFree && account.answers.has(request.exchangeId))
      account.taken.set(request.exchangeId, request.likelyPicos)
    return isFree
  }

  /** `taken` counts from memory, also where it is recorded meanwhile. */
  async #fits(
    { accountId, likelyPicos, atMs }: WaiverRequest,
    taken: ReadonlyMap<string, Picos>,
  ): Promise<boolean> {
    try {
      const { waivedPicos, chargedPicos } = await readWaived(this.#database, {
        accountId,
        sinceMs: atMs - dayMs,
        exceptIds: [...taken.keys()],
      })
      const takenPicos = [...taken.values()].reduce(addPicos, zeroPicos)
      const freePicos = maxPicos(freePicosMin, picos(chargedPicos / chargesPerFree))
      return waivedPicos + takenPicos + likelyPicos <= freePicos
    } catch (error) {
      this.#onError(error)
      return true
    }
  }

  #accountOf(accountId: string): OfAccount {
    const known = this.#accounts.get(accountId)
    if (known !== undefined) return known
    const account = { answers: new Map(), taken: new Map(), last: Promise.resolve() }
    this.#accounts.set(accountId, account)
    return account
  }
}
