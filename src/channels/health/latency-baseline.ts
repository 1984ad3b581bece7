/**
 * The latency baseline of one kind of request on one channel: median, 95th and 99th percentile, from a
 * histogram on a logarithmic scale whose weights halve every day. It knows no clock. Invariant: once
 * established, p50 and p95 rise by at most a tenth a day, so a slow decline does not become normal.
 */
import { dayMs } from '../../base/clock.ts'
import { sureCount } from './timing.ts'

export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Baseline extends Quantiles {
  /** Decayed counts by bin. */
  readonly weights: readonly number[]
  readonly total: number
  /** Monotonic time to which the weights are decayed. */
  readonly at: number
}

const dailyRise = 0.1
/** From this weight on a rise is limited; before, the first estimates are still finding their place. */
const establishedFrom = 200

const binRatio = Math.log(1.12)
const lowestValue = 0.1
const binCount = 140

export function isTrusted(baseline: Baseline | undefined): baseline is Baseline {
  return baseline !== undefined && baseline.total >= sureCount
}

/** Its 95th percentile rests on more than a handful of samples. */
export function isEstablished(baseline: Baseline | undefined): boolean {
  return baseline !== undefined && baseline.total >= establishedFrom
}

export function learnValues(
  baseline: Baseline | undefined,
  values: readonly number[],
  now: number,
): Baseline {
  const elapsedMs = baseline === undefined ? 0 : Math.max(0, now - baseline.at)
  const decay = 2 ** (-elapsedMs / dayMs)
  const weights =
    baseline === undefined
      ? Array.from({ length: binCount }, () => 0)
      : baseline.weights.map((weight) => weight * decay)
  for (const value of values) {
    const bin = binOf(value)
    weights[bin] = (weights[bin] ?? 0) + 1
  }
  const total = (baseline?.total ?? 0) * decay + values.length
  const found = {
    p50: quantile(weights, total * 0.5),
    p95: quantile(weights, total * 0.95),
    p99: quantile(weights, total * 0.99),
  }
  if (baseline === undefined || baseline.total < establishedFrom)
    return { ...found, weights, total, at: now }
  const riseMax = 1 + (dailyRise * elapsedMs) / dayMs
  return {
    p50: Math.min(found.p50, baseline.p50 * riseMax),
    p95: Math.min(found.p95, baseline.p95 * riseMax),
    p99: found.p99,
    weights,
    total,
    at: now,
  }
}

function binOf(value: number): number {
  const bin = Math.floor(Math.log(Math.max(value, lowestValue) / lowestValue) / binRatio)
  return Math.min(bin, binCount - 1)
}

/** The value below which `target` of the weight lies, interpolated inside its bin. */
function quantile(weights: readonly number[], target: number): number {
  let below = 0
  for (let bin = 0; bin < weights.length; bin++) {
    const weight = weights[bin] ?? 0
    if (weight > 0 && below + weight >= target) {
      const inside = (target - below) / weight
      return lowestValue * Math.exp((bin + inside) * binRatio)
    }
    below += weight
  }
  return lowestValue * Math.exp(binCount * binRatio)
}
