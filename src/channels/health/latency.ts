/**
 * Decides whether a model on a channel has become slow: each time is compared with the baseline of its
 * kind, and a quantile test over a short window decides. Pure; it knows no other channel, so the comparison
 * with others is made outside. Invariant: while slowness is suspected, the baseline learns nothing.
 */
import type { Channel } from '../channel.ts'
import { isTrusted, learnValues, type Baseline, type Quantiles } from './latency-baseline.ts'
import { sampleCount, toleratedShare, waitMaxMs } from './timing.ts'

/** The facts that decide the time of a request: its form, the size of its input, and whether it reasons. */
export interface LatencyTraits {
  readonly isStream: boolean
  readonly inputTokens: number
  /** The body asks for reasoning, or the model thinks. Absent = neither. */
  readonly reasons?: boolean
}

export interface LatencySample {
  /** See `latencyKind`. */
  readonly latencyKind: number
  /** Milliseconds to a stream's first event, or to its head; milliseconds per token of a whole answer. */
  readonly value: number
  /** The baseline of another channel, where more is known about that than about this one. */
  readonly inherited?: Quantiles | undefined
  /** It was counted as slow already while it was still awaited. */
  readonly isCounted?: boolean
}

/** One sample and those before it, of which only the latest `sampleCount` are read. */
interface RecentSample {
  readonly at: number
  readonly isSlow: boolean
  /** How many hang together, this one included. */
  readonly length: number
  readonly before: RecentSample | undefined
}

/** One sample and those before it. */
interface Pending {
  readonly kind: number
  readonly value: number
  readonly count: number
  readonly before: Pending | undefined
}

export interface LatencyState {
  /** By `latencyKind`. */
  readonly baselines: readonly (Baseline | undefined)[]
  /** Samples not learned yet: dropped when they turn out to be the beginning of a slowdown. */
  readonly pending: Pending | undefined
  /** The last samples; since it became slow, only those since then. */
  readonly recent: RecentSample | undefined
  /** Since when slow; undefined while it is not. */
  readonly slowSince: number | undefined
  /** Since when it may be slow; undefined while it is not suspected. */
  readonly suspectedSince: number | undefined
  /** When it may next be compared with other channels. */
  readonly compareAt: number
}

const sizeSteps = [2_000, 16_000, 64_000] as const
const kindsPerForm = sizeSteps.length + 1

/** Older ones are dropped together, so that a new sample copies no other. */
const recentMax = 2 * sampleCount
/** Half of these samples must be slow, so that neither a few outliers nor one pause look like slowness. */
const windowSamplesMin = sampleCount / 2
const pendingMax = 32
const streamMarginMs = 500
const wholeMargin = 1.5
const slowMinMs = 180_000
/** A model that has been slower for this time, while no channel was faster, has a new usual time. */
const newNormalMs = 1_800_000
/** As recent as the slowness: older samples of an alternative prove nothing. */
const comparedWithinMs = 30_000
const comparedSamplesMin = 8
/** The highest share of slow samples with which a channel returns. */
const returnSlowShareMax = 0.1

export const freshLatency: LatencyState = {
  baselines: [],
  pending: undefined,
  recent: undefined,
  slowSince: undefined,
  suspectedSince: undefined,
  compareAt: 0,
}

/** Streams, whole answers, and streams of requests that reason: how long those think is their own affair. */
const groups = { stream: 0, whole: 1, reasoning: 2 } as const
const kindCount = 3 * kindsPerForm

export function latencyKind({ isStream, inputTokens, reasons }: LatencyTraits): number {
  let size = 0
  for (const step of sizeSteps) if (inputTokens >= step) size++
  const ofStream = reasons === true ? groups.reasoning : groups.stream
  return (isStream ? ofStream : groups.whole) * kindsPerForm + size
}

export function isStreamKind(kind: number): boolean {
  return Math.floor(kind / kindsPerForm) !== groups.whole
}

/** Its time is that to the head, not to the first event. */
export function isHeadKind(kind: number): boolean {
  return Math.floor(kind / kindsPerForm) === groups.reasoning
}

/** The time of a probe: a stream's first event and a one-token answer take the same. */
export const probeKind = latencyKind({ isStream: true, inputTokens: 0 })

/** Returns the channel's own baseline of this kind, where enough is known. */
export function ownQuantiles(latency: LatencyState, kind: number): Quantiles | undefined {
  const baseline = latency.baselines[kind]
  return isTrusted(baseline) ? baseline : undefined
}

/** Returns the baseline that an operator has pinned for streams; its p95 is the p99 too. */
export function pinnedQuantiles(
  channel: Pick<Channel, 'baselines'>,
  model: string,
  kind: number,
): Quantiles | undefined {
  const pinned = channel.baselines.get(model)
  if (pinned === undefined || !isStreamKind(kind)) return undefined
  return { p50: pinned.p50Ms, p95: pinned.p95Ms, p99: pinned.p95Ms }
}

/** Above this a sample is slow. */
export function slowAbove(kind: number, usual: Quantiles): number {
  const margin = isStreamKind(kind) ? usual.p50 + streamMarginMs : usual.p50 * wholeMargin
  return Math.max(usual.p95, margin)
}

/** `mayLearn`: the channel serves normally, so the baseline may learn from it. */
export function observe(
  latency: LatencyState,
  sample: LatencySample,
  { now, mayLearn }: { readonly now: number; readonly mayLearn: boolean },
): LatencyState {
  const { latencyKind: kind, value } = sample
  const usual = sample.inherited ?? ownQuantiles(latency, kind)
  const pending = mayLearn ? withPending(latency, sample, now) : latency.pending
  const isKnown = usual === undefined || sample.isCounted === true
  const recent = isKnown
    ? latency.recent
    : withSample(latency.recent, value > slowAbove(kind, usual), now)
  if (pending === latency.pending && recent === latency.recent) return latency
  const observed =
    pending?.count === pendingMax
      ? { ...latency, baselines: learned(latency, pending, now), pending: undefined, recent }
      : { ...latency, pending, recent }
  return isKnown ? observed : settleSuspicion(observed, now)
}

/** A request has waited for its first event longer than usual and waits on. */
export function countOverdue(latency: LatencyState, now: number): LatencyState {
  return settleSuspicion({ ...latency, recent: withSample(latency.recent, true, now) }, now)
}

function withSample(recent: RecentSample | undefined, isSlow: boolean, at: number): RecentSample {
  const before = recent?.length === recentMax ? latestOf(recent, sampleCount) : recent
  return { at, isSlow, length: (before?.length ?? 0) + 1, before }
}

function latestOf({ at, isSlow, before }: RecentSample, length: number): RecentSample {
  const kept = before === undefined || length === 1 ? undefined : latestOf(before, length - 1)
  return { at, isSlow, length, before: kept }
}

function withPending(
  latency: LatencyState,
  { latencyKind: kind, value }: LatencySample,
  now: number,
): Pending | undefined {
  const before = latency.pending
  if (latency.slowSince !== undefined || isFrozen(latency, now)) return before
  return { kind, value, count: (before?.count ?? 0) + 1, before }
}

/** The baseline learns nothing of a slowdown until that is the usual time of the model. */
function isFrozen({ suspectedSince }: LatencyState, now: number): boolean {
  return suspectedSince !== undefined && now - suspectedSince < newNormalMs
}

function learned(latency: LatencyState, pending: Pending, now: number): LatencyState['baselines'] {
  const byKind = Array.from({ length: kindCount }, (): number[] => [])
  for (let one: Pending | undefined = pending; one !== undefined; one = one.before)
    byKind[one.kind]?.push(one.value)
  return byKind.map((values, kind) => {
    const before = latency.baselines[kind]
    return values.length === 0 ? before : learnValues(before, values, now)
  })
}

/** Raises a suspicion, or drops one that recent samples do not support. */
export function settleSuspicion(latency: LatencyState, now: number): LatencyState {
  if (latency.slowSince !== undefined) return latency
  const isSuspected = isSlowNow(latency, now)
  if (isSuspected === (latency.suspectedSince !== undefined)) return latency
  if (!isSuspected) return { ...latency, suspectedSince: undefined }
  // Samples from the beginning of the slowdown do not belong into the baseline.
  return { ...latency, suspectedSince: now, pending: undefined }
}

/** At least half of the last samples are slower than 95 in 100 used to be. */
function isSlowNow({ recent }: LatencyState, now: number): boolean {
  const { total, slow } = countSince(recent, now - waitMaxMs)
  return total >= windowSamplesMin && slow * 2 >= total
}

function countSince(
  recent: RecentSample | undefined,
  from: number,
): { readonly total: number; readonly slow: number } {
  let total = 0
  let slow = 0
  let sample = recent
  for (let seen = 0; sample !== undefined && seen < sampleCount; seen++) {
    if (sample.at >= from) {
      total++
      if (sample.isSlow) slow++
    }
    sample = sample.before
  }
  return { total, slow }
}

export type Comparison = 'better' | 'worse' | 'unknown'

/** Whether traffic may move to this channel: it has enough recent samples and is not slow. */
export function compareAsAlternative(
  latency: LatencyState,
  now: number,
): { readonly comparison: Comparison; readonly missing: number } {
  const { total, slow } = countSince(latency.recent, now - comparedWithinMs)
  if (total < comparedSamplesMin)
    return { comparison: 'unknown', missing: comparedSamplesMin - total }
  return { comparison: slow <= total * toleratedShare ? 'better' : 'worse', missing: 0 }
}

/** No better channel was found. */
export function postponeComparison(latency: LatencyState, now: number): LatencyState {
  return { ...latency, compareAt: now + waitMaxMs }
}

export function enterSlow(latency: LatencyState, now: number): LatencyState {
  return { ...forgetRecent(latency), slowSince: now }
}

/** When the demotion may end: after some time, once its last samples are fast. */
export function mayLeaveSlow({ slowSince, recent }: LatencyState, now: number): boolean {
  if (slowSince === undefined || now - slowSince < slowMinMs) return false
  const { total, slow } = countSince(recent, slowSince)
  return total >= windowSamplesMin && slow <= total * returnSlowShareMax
}

/** Keeps the baselines and forgets recent samples: times of an outage measure nothing. */
export function forgetRecent(latency: LatencyState): LatencyState {
  return {
    ...latency,
    slowSince: undefined,
    recent: undefined,
    pending: undefined,
    suspectedSince: undefined,
  }
}
