/**
 * How much of the input came from vendors' prompt caches, by model and channel: today (UTC) beside the seven
 * days before. From table report_day; reads only.
 */
import { dayMs, utcDay } from '../base/clock.ts'
import type { Queryable, Row } from '../storage/database.ts'

/** Input of answers on one channel, in tokens. */
export interface CacheUse {
  readonly model: string
  readonly channel: string
  readonly today: CachedInput
  readonly week: CachedInput
}

export interface CachedInput {
  /** All input, from the cache or not. */
  readonly promptTokens: number
  readonly cacheReadTokens: number
}

const weekDays = 7

/** Sorted by model and channel; those without input today and in the week are missing. */
export async function readCacheUse(
  database: Queryable,
  nowMs: number,
): Promise<readonly CacheUse[]> {
  const isToday = 'day = $2'
  const sum = (column: string, day: string): string =>
    `CAST(COALESCE(SUM(CASE WHEN ${day} THEN ${column} END), 0) AS BIGINT)`
  const rows = await database.query(
    `SELECT model, channel,
            ${sum('prompt_tokens', isToday)} AS today_prompt,
            ${sum('cache_read_tokens', isToday)} AS today_read,
            ${sum('prompt_tokens', `NOT ${isToday}`)} AS week_prompt,
            ${sum('cache_read_tokens', `NOT ${isToday}`)} AS week_read
       FROM report_day
      WHERE day >= $1 AND day <= $2 AND channel <> '' AND prompt_tokens > 0
      GROUP BY model, channel ORDER BY model, channel`,
    [utcDay(nowMs - weekDays * dayMs), utcDay(nowMs)],
  )
  return rows.map((row) => ({
    model: String(row['model']),
    channel: String(row['channel']),
    today: cachedInput(row, 'today'),
    week: cachedInput(row, 'week'),
  }))
}

function cachedInput(row: Row, period: 'today' | 'week'): CachedInput {
  return {
    promptTokens: Number(row[`${period}_prompt`]),
    cacheReadTokens: Number(row[`${period}_read`]),
  }
}

/** Of 0 to 1, with three digits; null without input. */
export function hitRate({ promptTokens, cacheReadTokens }: CachedInput): number | null {
  return promptTokens === 0 ? null : Math.round((1_000 * cacheReadTokens) / promptTokens) / 1_000
}
