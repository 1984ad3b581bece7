/**
 * A store that gets a longer and longer past: so many requests a day of many accounts, keys and
 * models, day after day. The books of it agree, so an audit can be measured on it as well. The rows
 * are made by the store's own engine, without syncing; whoever measures opens it as ever.
 */
import { newId } from '../../src/base/id.ts'
import { picos } from '../../src/base/money.ts'
import { credit } from '../../src/ledger/entry-store.ts'
import type { Database, Dialect } from '../../src/storage/database.ts'
import { dayMs, historyScript, type HistoryShape } from './history-sql.ts'

/** A migrated store without accounts, while nobody else uses it. */
export interface HistoryStore {
  readonly dialect: Dialect
  /** Runs several statements in one transaction. */
  run(script: string): Promise<void>
}

export interface History {
  readonly accountIds: readonly string[]
  /** As many exchanges, and as many charges. */
  readonly requests: number
  readonly days: number
  /** The first moment of the next day that has no requests yet. */
  readonly untilMs: number
  /** Adds whole days until there are at least so many requests. */
  extendTo(store: HistoryStore, requests: number): Promise<History>
}

const creditPicos = picos(8_000_000n * 10n ** 12n)
/** A script's rows are in memory while it runs. */
const daysPerScript = 8

export async function beginHistory(
  database: Database,
  shape: HistoryShape,
  startMs: number,
): Promise<History> {
  const accountIds = Array.from({ length: shape.accounts }, (_, index) =>
    newId('acc', startMs + index),
  )
  await database.transact(async (transaction) => {
    for (const [index, id] of accountIds.entries()) {
      await transaction.query('INSERT INTO account (id, name, created_at_ms) VALUES ($1, $2, $3)', [
        id,
        `account-${index}`,
        startMs,
      ])
      await credit(transaction, {
        accountId: id,
        kind: 'credit',
        amountPicos: creditPicos,
        reference: 'opening-balance',
        atMs: startMs,
      })
    }
  })
  return historyOf({ shape, accountIds, startMs, days: 0 })
}

interface Past {
  readonly shape: HistoryShape
  readonly accountIds: readonly string[]
  readonly startMs: number
  readonly days: number
}

function historyOf(past: Past): History {
  const { shape, accountIds, startMs, days } = past
  return {
    accountIds,
    requests: days * shape.requestsPerDay,
    days,
    untilMs: startMs + days * dayMs,
    async extendTo(store, requests) {
      const wantedDays = Math.max(days, Math.ceil(requests / shape.requestsPerDay))
      for (let firstDay = days; firstDay < wantedDays; firstDay += daysPerScript) {
        const span = { firstDay, days: Math.min(daysPerScript, wantedDays - firstDay) }
        await store.run(historyScript({ dialect: store.dialect, shape, startMs, ...span }))
      }
      return historyOf({ ...past, days: wantedDays })
    },
  }
}
