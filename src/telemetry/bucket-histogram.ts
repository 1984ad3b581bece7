/**
 * A histogram whose buckets are counted here: in the metrics library one sample costs more than everything
 * else that an exchange counts. The library prints it like its own. A sample allocates nothing.
 */
import { Histogram, type HistogramConfiguration } from 'prom-client'
import { SeriesByLabels } from './tally.ts'

interface Series {
  readonly values: readonly string[]
  /** Samples by bucket, those above all bounds, and the sum of all samples. */
  readonly counts: Float64Array
}

export class BucketHistogram extends Histogram {
  readonly #bounds: readonly number[]
  readonly #labelNames: readonly string[]
  readonly #name: string
  /** Knows all but the values. */
  readonly #blank: Histogram
  readonly #series: SeriesByLabels<Series>

  constructor(
    config: HistogramConfiguration<string> & {
      readonly labelNames: readonly string[]
      readonly buckets: number[]
    },
  ) {
    super(config)
    this.#bounds = config.buckets
    this.#labelNames = config.labelNames
    this.#name = config.name
    this.#blank = new Histogram({ ...config, registers: [] })
    const countsLength = config.buckets.length + 2
    this.#series = new SeriesByLabels((values) => ({
      values,
      counts: new Float64Array(countsLength),
    }))
    if (config.labelNames.length === 0) this.#series.find([])
  }

  add(sample: number, ...values: readonly string[]): void {
    const { counts } = this.#series.find(values)
    const bounds = this.#bounds
    let bucket = 0
    while (sample > (bounds[bucket] ?? Infinity)) bucket++
    counts[bucket] = (counts[bucket] ?? 0) + 1
    const sumAt = bounds.length + 1
    counts[sumAt] = (counts[sumAt] ?? 0) + sample
  }

  override async get() {
    return {
      ...(await this.#blank.get()),
      values: this.#series.all.flatMap((one) => this.#rows(one)),
    }
  }

  /** @NOTE The library's text form takes this in place of `get`. */
  getForPromString() {
    return this.get()
  }

  #rows({ values, counts }: Series) {
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index]]))
    const bounds = [...this.#bounds, '+Inf']
    let value = 0
    const buckets = bounds.map((le, bucket) => {
      value += counts[bucket] ?? 0
      return { labels: { le, ...labels }, value, metricName: `${this.#name}_bucket` }
    })
    return [
      ...buckets,
      { labels, value: counts.at(-1) ?? 0, metricName: `${this.#name}_sum` },
      { labels, value, metricName: `${this.#name}_count` },
    ]
  }
}
