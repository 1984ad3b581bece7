/** Charges as a gateway makes them, from the hold to the durable charge, and how long they take. */
import type { Clock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import type { ExchangeRecord, Ledger } from '../../src/ledger/ledger.ts'
import { Histogram } from '../measure/statistics.ts'

const longestUs = 1_000_000

export class Charging {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #accountIds: readonly string[]
  #next = 0

  constructor(ledger: Ledger, clock: Clock, accountIds: readonly string[]) {
    this.#ledger = ledger
    this.#clock = clock
    this.#accountIds = accountIds
  }

  /** One after the other, until `isOver` says so; each in whole microseconds. */
  async oneByOne(isOver: (count: number) => boolean): Promise<Histogram> {
    const taken = new Histogram(longestUs)
    for (let count = 0; !isOver(count); count++) {
      const startedMs = performance.now()
      await this.#once()
      taken.record((performance.now() - startedMs) * 1_000)
    }
    return taken
  }

  /** So many, `atOnce` of them at any time; how long all of it took. */
  async together(charges: number, atOnce: number): Promise<number> {
    const startedMs = performance.now()
    await Promise.all(
      Array.from({ length: atOnce }, async (_, client) => {
        for (let index = client; index < charges; index += atOnce) await this.#once()
      }),
    )
    return performance.now() - startedMs
  }

  async #once(): Promise<void> {
    const atMs = this.#clock.now()
    const accountId = this.#accountIds[this.#next++ % this.#accountIds.length] ?? ''
    const exchangeId = newId('ex', atMs)
    const request = {
      exchangeId,
      accountId,
      keyId: `key_${accountId}_0`,
      amountPicos: picos(1_000_000n),
      atMs,
    }
    const hold = await this.#ledger.place({ ...request, keyDailyLimitPicos: zeroPicos })
    if (hold.kind !== 'hold') throw new Error(`a charge was refused: ${hold.kind}`)
    await this.#ledger.settle(hold, recordOf(request))
  }
}

function recordOf(
  request: Pick<ExchangeRecord, 'exchangeId' | 'accountId' | 'keyId' | 'amountPicos'> & {
    readonly atMs: number
  },
): ExchangeRecord {
  const { atMs, ...known } = request
  return {
    ...known,
    vendor: 'alpha',
    model: 'model-0',
    operation: 'messages.create',
    isStream: true,
    channel: 'alpha-main',
    startedAtMs: atMs,
    endedAtMs: atMs,
    ending: 'completed',
    status: 200,
    attemptCount: 1,
    usage: {
      parts: [{ promptTokens: 1, counts: { input: 1 } }],
      reported: { inputTokens: 1, outputTokens: 0, cacheTokens: 0 },
    },
    marks: [],
    priceLines: '{"parts":[{"model":"model-0","lines":[["input",1,"1000000"]]}]}',
    vendorRequestId: undefined,
    operatorCostPicos: zeroPicos,
  }
}
