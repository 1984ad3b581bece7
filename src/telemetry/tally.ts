/**
 * Counts of the request path, kept cheaply and passed to the metrics library when it is scraped: in the
 * library, finding a series by its labels costs more than everything else that an exchange counts. Memory is
 * bounded by the label values, which come from closed sets.
 */

interface Branch<Series> {
  readonly children: Map<string, Branch<Series>>
  series: Series | undefined
}

/** One series for each combination of label values, found without building a key from them. */
class SeriesByLabels<Series> {
  readonly all: Series[] = []
  readonly #root: Branch<Series> = { children: new Map(), series: undefined }
  readonly #begin: (values: readonly string[]) => Series

  constructor(begin: (values: readonly string[]) => Series) {
    this.#begin = begin
  }

  find(values: readonly string[]): Series {
    let branch = this.#root
    for (const value of values) {
      let next = branch.children.get(value)
      if (next === undefined) {
        next = { children: new Map(), series: undefined }
        branch.children.set(value, next)
      }
      branch = next
    }
    if (branch.series === undefined) {
      branch.series = this.#begin(values)
      this.all.push(branch.series)
    }
    return branch.series
  }
}

/** Sums by label values. */
export class Tally {
  readonly #sums = new SeriesByLabels((values) => ({ values, sum: 0 }))

  add(more: number, ...values: readonly string[]): void {
    this.#sums.find(values).sum += more
  }

  /** Passes on every sum that is not zero, and resets it. */
  take(hand: (values: readonly string[], sum: number) => void): void {
    for (const series of this.#sums.all) {
      if (series.sum !== 0) hand(series.values, series.sum)
      series.sum = 0
    }
  }
}

const keptMax = 128

interface Kept {
  readonly values: readonly string[]
  /** Plain numbers: they leave no objects for the garbage collector. */
  readonly samples: Float64Array
  count: number
}

type HandSamples = (values: readonly string[], samples: Float64Array) => void

/** Single values by label values, passed on at a scrape or when 128 have gathered. */
export class Samples {
  readonly #hand: HandSamples
  readonly #kept = new SeriesByLabels<Kept>((values) => ({
    values,
    samples: new Float64Array(keptMax),
    count: 0,
  }))

  constructor(hand: HandSamples) {
    this.#hand = hand
  }

  add(sample: number, ...values: readonly string[]): void {
    const kept = this.#kept.find(values)
    kept.samples[kept.count++] = sample
    if (kept.count === keptMax) this.#flush(kept)
  }

  flush(): void {
    for (const kept of this.#kept.all) if (kept.count > 0) this.#flush(kept)
  }

  #flush(kept: Kept): void {
    this.#hand(kept.values, kept.samples.subarray(0, kept.count))
    kept.count = 0
  }
}
