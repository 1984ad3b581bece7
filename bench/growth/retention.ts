/**
 * What it costs to let old exchanges go while a gateway charges: months that are tables of their own
 * first, then what is left of the cut, row by row, as the gateway's own bookkeeping does it.
 */
import { sleep, systemClock } from '../../src/base/clock.ts'
import { firstExchangeIdAt, longestExchangeMs } from '../../src/ledger/entry-store.ts'
import { saveExchangeCut } from '../../src/ledger/exchange-cut-store.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { Database } from '../../src/storage/database.ts'
import { dropMonthsBefore } from '../../src/storage/months.ts'
import type { Charging } from './charges.ts'
import type { RetentionFigures } from './figures.ts'
import type { History } from './history.ts'
import type { GrowthStore } from './store.ts'

const chargesToWarmUp = 200
/** As the gateway's own bookkeeping pauses. */
const pauseMs = 20

export interface RetentionWish {
  readonly store: GrowthStore
  readonly past: History
  /** 00:00 UTC of the first day whose exchanges stay. */
  readonly cutMs: number
  readonly charging: Charging
}

export async function measureRetention(wish: RetentionWish): Promise<RetentionFigures> {
  const { store, past, charging } = wish
  await charging.oneByOne((count) => count === chargesToWarmUp)
  const tablesBefore = await store.countTables()
  const database = await store.openBeside()
  try {
    let isOver = false
    const [removed, taken] = await Promise.all([
      remove(database, wish).finally(() => (isOver = true)),
      charging.oneByOne(() => isOver),
    ])
    const months = tablesBefore - (await store.countTables())
    return {
      store: store.name,
      requests: past.requests,
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

/** The months apart, so that their time can be told. */
async function remove(
  database: Database,
  { past, cutMs }: RetentionWish,
): Promise<{ readonly monthsMs: number; readonly rows: number; readonly rowsSeconds: number }> {
  const nowMs = past.untilMs - 1
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
