/**
 * Medians and percentiles. A histogram counts whole microseconds up to a limit, so that recording a
 * value costs one addition and percentiles are exact below the limit.
 */

/** Returns the middle value, or the mean of the two middle ones; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  if (sorted.length % 2 === 1) return upper
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the smallest value with at least `percent` of all at or below it; null for an empty list. */
export function percentileOf(sorted: readonly number[], percent: number): number | null {
  const wanted = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  return sorted[wanted - 1] ?? null
}

export class Histogram {
  readonly #counts: Uint32Array
  #total = 0
  #highest = 0

  /** Counts values at or above `limitUs` as the limit. */
  constructor(limitUs: number) {
    this.#counts = new Uint32Array(limitUs + 1)
  }

  get total(): number {
    return this.#total
  }

  /** The largest recorded value, also above the limit. */
  get highest(): number {
    return this.#highest
  }

  record(valueUs: number): void {
    const value = valueUs < 0 ? 0 : Math.round(valueUs)
    const index = Math.min(value, this.#counts.length - 1)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total++
    if (value > this.#highest) this.#highest = value
  }

  /** Returns the smallest value with at least `percent` of all at or below it; NaN if there is none. */
  percentile(percent: number): number {
    if (this.#total === 0) return Number.NaN
    const wanted = Math.max(1, Math.ceil((percent / 100) * this.#total))
    let seen = 0
    for (let value = 0; value < this.#counts.length; value++) {
      seen += this.#counts[value] ?? 0
      if (seen >= wanted) return value
    }
    return this.#highest
  }

  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
    this.#highest = 0
  }
}
