/** Books a past span by span, as time went on, with the figures by hour that a gateway records. */
import { utcDay } from '../../../src/base/clock.ts'
import type { ExchangeRecord } from '../../../src/ledger/ledger.ts'
import { recordMoment } from '../../../src/ledger/report-moment-store.ts'
import type { Database } from '../../../src/storage/database.ts'
import { bookExchanges } from './books.ts'
import type { Span } from './past.ts'

export const dayMs = 86_400_000
export const hourMs = 3_600_000

/** As often as the gateway records the figures of a day. */
const quarterMs = 900_000

/**
 * Books what `draw` returns for each span from the past to the present: whole UTC days, but quarters of an
 * hour for yesterday and today, because figures of both are shown by hour and compared at the same time.
 */
export async function bookPast(
  database: Database,
  past: Span,
  draw: (span: Span) => Promise<readonly ExchangeRecord[]>,
): Promise<void> {
  const todayMs = Math.floor(past.untilMs / dayMs) * dayMs
  for (let fromMs = past.fromMs; fromMs < past.untilMs;) {
    const stepMs = fromMs >= todayMs - dayMs ? quarterMs : dayMs
    const untilMs = Math.min(Math.floor(fromMs / stepMs) * stepMs + stepMs, past.untilMs)
    await bookExchanges(database, await draw({ fromMs, untilMs }))
    if (stepMs === quarterMs && untilMs % quarterMs === 0 && untilMs % dayMs !== 0)
      await recordMoment(database, {
        day: utcDay(fromMs),
        nextDay: utcDay(fromMs + dayMs),
        minute: (untilMs % dayMs) / 60_000,
      })
    fromMs = untilMs
  }
}

/** PostgreSQL does it by itself within minutes. */
export async function analyzeTables(database: Database): Promise<void> {
  for (const table of ['account', 'key', 'entry', 'exchange', 'free_exchange', 'report_day'])
    await database.query(`ANALYZE ${table}`)
}
