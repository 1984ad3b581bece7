/**
 * Decides whether a model on a channel has become slow: each time is compared with the baseline of its
 * kind, and a quantile test over a short window decides. Pure; it knows no other channel, so the comparison
 * with others is made outside. Invariant: the baseline learns nothing while slowness is suspected.
 */
import type { Channel } from '../channel.ts'
import { isTrusted, learnValues, type Baseline, type Quantiles } from './latency-baseline.ts'

/** The facts that the time of a request depends on: streamed or whole, and the size of its input. */
export interface LatencyTraits {
  readonly isStream: boolean
  readonly inputTokens: number
}

export interface LatencySample {
  /** See `latencyKind`. */
  readonly latencyKind: number
  /** Milliseconds to the first event of a stream; milliseconds per token of a whole answer. */
  readonly value: number
  /** The baseline of another channel, where more is known about that than about this one. */
  readonly inherited?: Quantiles | undefined
  /** It was counted as slow already while it was still awaited. */
  readonly isCounted?: boolean
}

interface Slot {
  readonly index: number
  readonly total: number
  readonly slow: number
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
  readonly slots: readonly Slot[]
  /** Samples in a row above three times the baseline. */
  readonly highRun: number
  /** Since when slow; undefined while it is not. */
  readonly slowSince: number | undefined
  /** Of the last samples since it became slow, newest last: which were slow. */
  readonly sinceSlow: readonly boolean[]
  readonly relapse: number
  readonly returnedAt: number | undefined
  /** Next time an alternative may be compared; the gap grows while there is none that is better. */
  readonly compareAt: number
  readonly compareGapMs: number
  readonly isSuspected: boolean
}

const sizeSteps = [2_000, 16_000, 64_000] as const
const kindsPerForm = sizeSteps.length + 1
const latencyKindCount = 2 * kindsPerForm

const slotMs = 3_000
const windowMs = 30_000
const windowMaxMs = 300_000
const windowSamples = 20
const windowSamplesMin = 10
const highFactor = 3
const highRunLength = 20
const pendingMax = 32
const sinceSlowMax = 10
const sinceSlowBadMax = 1
const streamMarginMs = 500
const wholeMargin = 1.5
const slowHoldMs = 180_000
const slowHoldMaxMs = 48 * 60_000
const slowRelapseWithinMs = 600_000
const compareGapMinMs = 60_000
const compareGapMaxMs = 16 * 60_000
/** A suspicion this long after the last one is a new one. */
const newSuspicionMs = 600_000
/** As recent as the slowness: older samples of an alternative prove nothing. */
const comparedWithinMs = windowMs
const comparedSamplesMin = 8
const comparedSlowShareMax = 0.2

export const freshLatency: LatencyState = {
  baselines: [],
  pending: undefined,
  slots: [],
  highRun: 0,
  slowSince: undefined,
  sinceSlow: [],
  relapse: 0,
  returnedAt: undefined,
  compareAt: 0,
  compareGapMs: compareGapMinMs,
  isSuspected: false,
}

export function latencyKind({ isStream, inputTokens }: LatencyTraits): number {
  let size = 0
  for (const step of sizeSteps) if (inputTokens >= step) size++
  return (isStream ? 0 : kindsPerForm) + size
}

export function isStreamKind(kind: number): boolean {
  return kind < kindsPerForm
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
  const pinned = channel.baselines?.get(model)
  if (pinned === undefined || !isStreamKind(kind)) return undefined
  return { p50: pinned.p50Ms, p95: pinned.p95Ms, p99: pinned.p95Ms }
}

/** Above this a sample is slow. */
export function slowAbove(kind: number, usual: Quantiles): number {
  const margin = isStreamKind(kind) ? usual.p50 + streamMarginMs : usual.p50 * wholeMargin
  return Math.max(usual.p95, margin)
}

export interface ObserveContext {
  readonly now: number
  /** The channel serves normally, so the baseline may learn from it. */
  readonly mayLearn: boolean
}

export function observe(
  latency: LatencyState,
  sample: LatencySample,
  context: ObserveContext,
): LatencyState {
  const { latencyKind: kind, value } = sample
  const usual = sample.inherited ?? ownQuantiles(latency, kind)
  const { pending, baselines } = pend(latency, sample, context)
  if (usual === undefined)
    return pending === latency.pending ? latency : { ...latency, pending, baselines }
  const isSlow = value > slowAbove(kind, usual)
  const isHigh = isSlow && value > highFactor * usual.p50
  const highRun = isHigh ? Math.min(latency.highRun + 1, highRunLength) : 0
  if (sample.isCounted === true) return { ...latency, pending, baselines, highRun }
  const { slots, sinceSlow } = counted(latency, isSlow, context.now)
  return settleSuspicion({ ...latency, pending, baselines, highRun, slots, sinceSlow }, context.now)
}

/** A request has waited for its first event longer than usual and waits on. */
export function countOverdue(latency: LatencyState, now: number): LatencyState {
  return settleSuspicion({ ...latency, ...counted(latency, true, now) }, now)
}

function counted(
  latency: LatencyState,
  isSlow: boolean,
  now: number,
): Pick<LatencyState, 'slots' | 'sinceSlow'> {
  const index = Math.floor(now / slotMs)
  const last = latency.slots.at(-1)
  const isSame = last !== undefined && last.index === index
  const slot: Slot = {
    index,
    total: (isSame ? last.total : 0) + 1,
    slow: (isSame ? last.slow : 0) + (isSlow ? 1 : 0),
  }
  const slots = isSame
    ? latency.slots.with(latency.slots.length - 1, slot)
    : [...latency.slots.slice(firstNeeded(latency.slots, now)), slot]
  if (latency.slowSince === undefined) return { slots, sinceSlow: latency.sinceSlow }
  return { slots, sinceSlow: [...latency.sinceSlow.slice(1 - sinceSlowMax), isSlow] }
}

/** Index of the oldest slot that the window or a comparison may still need. */
function firstNeeded(slots: readonly Slot[], now: number): number {
  let total = 0
  for (let position = slots.length - 1; position >= 0; position--) {
    const slot = slots[position]
    if (slot === undefined) break
    const ageMs = now - slot.index * slotMs
    if (ageMs > windowMaxMs || (ageMs > comparedWithinMs && total >= windowSamples))
      return position + 1
    total += slot.total
  }
  return 0
}

function pend(
  latency: LatencyState,
  { latencyKind: kind, value }: LatencySample,
  { now, mayLearn }: ObserveContext,
): Pick<LatencyState, 'pending' | 'baselines'> {
  if (!mayLearn || latency.slowSince !== undefined || isFrozen(latency)) return latency
  const before = latency.pending
  const pending = { kind, value, count: (before?.count ?? 0) + 1, before }
  if (pending.count < pendingMax) return { pending, baselines: latency.baselines }
  return { pending: undefined, baselines: learned(latency, pending, now) }
}

/** Where nothing better has been found for long, the model itself has changed its pace. */
function isFrozen(latency: LatencyState): boolean {
  return latency.isSuspected && latency.compareGapMs < compareGapMaxMs
}

function learned(latency: LatencyState, pending: Pending, now: number): LatencyState['baselines'] {
  const byKind = Array.from({ length: latencyKindCount }, (): number[] => [])
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
  if (isSuspected === latency.isSuspected) return latency
  if (!isSuspected) return { ...latency, isSuspected }
  const isNew = now - latency.compareAt >= newSuspicionMs
  const compareGapMs = isNew ? compareGapMinMs : latency.compareGapMs
  // Samples from the beginning of the slowdown do not belong into the baseline.
  return { ...latency, isSuspected, compareGapMs, pending: undefined }
}

/**
 * At least half of the window is slower than 95 in 100 used to be; or twenty in a row took three
 * times as long, however few they are among what a busy channel answered within the window.
 */
function isSlowNow(latency: LatencyState, now: number): boolean {
  const newest = latency.slots.at(-1)
  if (newest === undefined || now - newest.index * slotMs > windowMaxMs) return false
  if (latency.highRun >= highRunLength) return true
  const { total, slow } = sumWindow(latency, now)
  return total >= windowSamplesMin && slow * 2 >= total
}

function sumWindow(
  latency: LatencyState,
  now: number,
): { readonly total: number; readonly slow: number } {
  let total = 0
  let slow = 0
  for (let position = latency.slots.length - 1; position >= 0; position--) {
    const slot = latency.slots[position]
    if (slot === undefined) break
    const ageMs = now - slot.index * slotMs
    if (ageMs > windowMaxMs || (ageMs > windowMs && total >= windowSamples)) break
    total += slot.total
    slow += slot.slow
  }
  return { total, slow }
}

export type Comparison = 'better' | 'worse' | 'unknown'

/** Whether traffic may move to this channel: it has enough recent samples and is not slow. */
export function compareAsAlternative(
  latency: LatencyState,
  now: number,
): { readonly comparison: Comparison; readonly missing: number } {
  let total = 0
  let slow = 0
  for (const slot of latency.slots) {
    if (now - slot.index * slotMs > comparedWithinMs) continue
    total += slot.total
    slow += slot.slow
  }
  if (total < comparedSamplesMin)
    return { comparison: 'unknown', missing: comparedSamplesMin - total }
  return { comparison: slow <= total * comparedSlowShareMax ? 'better' : 'worse', missing: 0 }
}

/** No better channel was found: the gap to the next comparison doubles. */
export function postponeComparison(latency: LatencyState, now: number): LatencyState {
  const gapMs = latency.compareGapMs
  return {
    ...latency,
    compareAt: now + gapMs,
    compareGapMs: Math.min(gapMs * 2, compareGapMaxMs),
  }
}

export function enterSlow(latency: LatencyState, now: number): LatencyState {
  const isRelapse =
    latency.returnedAt !== undefined && now - latency.returnedAt < slowRelapseWithinMs
  return {
    ...latency,
    slowSince: now,
    sinceSlow: [],
    pending: undefined,
    highRun: 0,
    isSuspected: false,
    relapse: isRelapse ? latency.relapse + 1 : 0,
    compareGapMs: compareGapMinMs,
  }
}

/** When the demotion may end at the earliest; meanwhile samples decide. */
export function mayLeaveSlow(latency: LatencyState, now: number): boolean {
  if (latency.slowSince === undefined) return false
  const holdMs = Math.min(slowHoldMs * 2 ** Math.min(latency.relapse, 10), slowHoldMaxMs)
  if (now - latency.slowSince < holdMs || latency.sinceSlow.length < sinceSlowMax) return false
  return latency.sinceSlow.filter(Boolean).length <= sinceSlowBadMax
}

export function leaveSlow(latency: LatencyState, now: number): LatencyState {
  return { ...forgetRecent(latency), returnedAt: now }
}

/** Keeps the baselines and forgets recent samples: times of an outage measure nothing. */
export function forgetRecent(latency: LatencyState): LatencyState {
  return {
    ...latency,
    slowSince: undefined,
    sinceSlow: [],
    slots: [],
    pending: undefined,
    highRun: 0,
    isSuspected: false,
  }
}
