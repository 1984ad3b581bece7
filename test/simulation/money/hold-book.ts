/**
 * What the ledger ought to hold, kept apart from it: each admitted exchange at its hold, then at its
 * exact charge once that is on its way, until the store has acknowledged it.
 */
import type { Ledger } from '../../../src/ledger/ledger.ts'

export class HoldBook {
  readonly #heldById = new Map<string, bigint>()
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
    for (const picos of this.#heldById.values()) sum += picos
    return sum
  }

  /** The same ledger, with its holds written down here. */
  watch(ledger: Ledger): Ledger {
    return {
      place: async (request) => {
        const placed = await ledger.place(request)
        if (placed.kind === 'hold') {
          this.#heldById.set(placed.exchangeId, placed.amountPicos)
          this.placedById.set(placed.exchangeId, placed.amountPicos)
        }
        if (placed.kind === 'spending_limit') this.#limitedCount++
        return placed
      },
      settle: (hold, record) => {
        if (this.#heldById.has(hold.exchangeId))
          this.#heldById.set(hold.exchangeId, record.amountPicos)
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
