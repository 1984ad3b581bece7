/** Medians, percentiles, turns and the clock of the measurements. */

/** Microseconds of the monotonic clock. */
export function monotonicUs(): number {
  return performance.now() * 1_000
}

/** Returns the middle value, or the mean of the two middle ones; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  if (sorted.length % 2 === 1) return upper
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the smallest value with at least `percent` of all at or below it; null for an empty list. */
export function percentileOf(values: readonly number[], percent: number): number | null {
  const sorted = values.toSorted((left, right) => left - right)
  const wanted = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  return sorted[wanted - 1] ?? null
}

/** Returns the same items, starting with another one each round. */
export function rotate<Item>(items: readonly Item[], round: number): readonly Item[] {
  const start = items.length === 0 ? 0 : Math.max(0, round) % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
