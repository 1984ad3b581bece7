/**
 * What the ledger ought to hold, kept apart from it: each admitted exchange at its hold, then at its
 * exact charge once that is on its way, until the store has acknowledged it. And what was left for it when
 * it was admitted, in each scope.
 */
import type { HoldRequest, Ledger } from '../../../src/ledger/ledger.ts'

interface Held {
  readonly accountId: string
  readonly keyId: string
  picos: bigint
}

export class HoldBook {
  /** Called for each request that the ledger has admitted. */
  onPlaced: (request: HoldRequest) => void = () => undefined
  uncoveredCount = 0
  readonly #heldById = new Map<string, Held>()
  /** The hold of every exchange there ever was; a charge never passes it here. */
  readonly placedById = new Map<string, bigint>()
  #limitedCount = 0

  get count(): number {
    return this.#heldById.size
  }

  /** Requests that a limit of their key has refused. */
  get limitedCount(): number {
    return this.#limitedCount
  }

  get heldPicos(): bigint {
    let sum = 0n
    for (const { picos } of this.#heldById.values()) sum += picos
    return sum
  }

  /** Sums the holds of an account, or of a key, without the exchanges that `isBooked` names. */
  heldOf(owner: string, isBooked: (exchangeId: string) => boolean): bigint {
    let sum = 0n
    for (const [exchangeId, { accountId, keyId, picos }] of this.#heldById)
      if ((accountId === owner || keyId === owner) && !isBooked(exchangeId)) sum += picos
    return sum
  }

  /** The same ledger, with its holds written down here. */
  watch(ledger: Ledger): Ledger {
    return {
      place: async (request) => {
        const placed = await ledger.place(request)
        if (placed.kind === 'hold') {
          const { accountId, keyId, amountPicos } = placed
          this.#heldById.set(placed.exchangeId, { accountId, keyId, picos: amountPicos })
          this.placedById.set(placed.exchangeId, amountPicos)
          if (placed.isUncovered) this.uncoveredCount++
          this.onPlaced(request)
        }
        if (placed.kind === 'spending_limit') this.#limitedCount++
        return placed
      },
      settle: (hold, record) => {
        const held = this.#heldById.get(hold.exchangeId)
        if (held !== undefined) held.picos = record.amountPicos
        return ledger.settle(hold, record)
      },
      check: async (request) => {
        const refusal = await ledger.check(request)
        if (refusal?.kind === 'spending_limit') this.#limitedCount++
        return refusal
      },
      count: (request) => ledger.count(request),
      usage: (...question) => ledger.usage(...question),
      headroom: (...question) => ledger.headroom(...question),
      openHolds: () => ledger.openHolds(),
      readHeld: (accountIds) => ledger.readHeld(accountIds),
      refresh: () => ledger.refresh(),
      isAvailable: () => ledger.isAvailable(),
      close: () => ledger.close(),
    }
  }

  acknowledge(exchangeIds: readonly string[]): void {
    for (const exchangeId of exchangeIds) this.#heldById.delete(exchangeId)
  }

  /** The process has died, and holds live in it. */
  forget(): void {
    this.#heldById.clear()
  }
}
