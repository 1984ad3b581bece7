/**
 * Makes charges as a gateway does, from the hold to the durable charge, and measures them: alone, together,
 * and while old exchanges are deleted.
 */
import { type Clock, sleep, systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import { firstExchangeIdAt, longestExchangeMs } from '../../src/ledger/entry-store.ts'
import {
  dropMonthsBefore,
  removeOldExchanges,
  saveExchangeCut,
} from '../../src/ledger/exchange-retention.ts'
import type { ExchangeRecord, Ledger } from '../../src/ledger/ledger.ts'
import type { Database } from '../../src/storage/database.ts'
import { Histogram } from '../measure/statistics.ts'
import type { History } from './history.ts'
import type { RetentionFigures } from './report.ts'
import type { GrowthStore } from './store.ts'

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

  /** Makes one charge after the other until `isOver` returns true; records microseconds. */
  async oneByOne(isOver: (count: number) => boolean): Promise<Histogram> {
    const taken = new Histogram(longestUs)
    for (let count = 0; !isOver(count); count++) {
      const startedMs = performance.now()
      await this.#once()
      taken.record((performance.now() - startedMs) * 1_000)
    }
    return taken
  }

  /** Makes this many charges, `atOnce` of them in parallel; returns the milliseconds for all. */
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
    const likelyPicos = request.amountPicos
    const hold = await this.#ledger.place({ ...request, likelyPicos, keyLimits: noKeyLimits })
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
    firstEventMs: 250,
    attempts: [],
    code: undefined,
    client: '',
    address: '',
    ownCostPicos: zeroPicos,
    isOwnCostKnown: false,
  }
}

const chargesToWarmUp = 200
/** The pause that the gateway's own deletion makes. */
const pauseMs = 20

export interface RetentionOptions {
  readonly store: GrowthStore
  readonly history: History
  /** 00:00 UTC of the first day whose exchanges are kept. */
  readonly cutMs: number
  readonly charging: Charging
}

export async function measureRetention(options: RetentionOptions): Promise<RetentionFigures> {
  const { store, history, charging } = options
  await charging.oneByOne((count) => count === chargesToWarmUp)
  const tablesBefore = await store.countTables()
  const database = await store.openSecond()
  try {
    let isOver = false
    const [removed, taken] = await Promise.all([
      remove(database, options).finally(() => (isOver = true)),
      charging.oneByOne(() => isOver),
    ])
    const months = tablesBefore - (await store.countTables())
    return {
      store: store.name,
      requests: history.requests,
      months,
      monthsMs: months > 0 ? removed.monthsMs : Number.NaN,
      rows: removed.rows,
      rowsSeconds: removed.rowsSeconds,
      chargeP50Ms: taken.percentile(50) / 1_000,
      chargeP99Ms: taken.percentile(99) / 1_000,
      chargeHighestMs: taken.highest / 1_000,
    }
  } finally {
    await database.close()
  }
}

/** Drops the months first, to measure them separately. */
async function remove(
  database: Database,
  { history, cutMs }: RetentionOptions,
): Promise<{ readonly monthsMs: number; readonly rows: number; readonly rowsSeconds: number }> {
  const nowMs = history.untilMs - 1
  const pause = (): Promise<void> => sleep(systemClock, pauseMs)
  const startedMs = performance.now()
  await database.transact((transaction) =>
    saveExchangeCut(transaction, { cutMs, decidedAtMs: nowMs }),
  )
  const firstId = firstExchangeIdAt(cutMs - longestExchangeMs)
  await dropMonthsBefore(database, { firstId, pause })
  const droppedMs = performance.now()
  const { removed } = await removeOldExchanges(database, { nowMs, keepMs: nowMs - cutMs, pause })
  return {
    monthsMs: droppedMs - startedMs,
    rows: removed,
    rowsSeconds: (performance.now() - droppedMs) / 1_000,
  }
}
