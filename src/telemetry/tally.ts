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
export class SeriesByLabels<Series> {
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
