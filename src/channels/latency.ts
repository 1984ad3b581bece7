/**
 * Whether a model on a channel has become slow: times are judged one by one against what is usual
 * for their kind, and a quantile test over a short window decides. Pure; it knows no other channel,
 * so that "is the alternative better" is asked and answered outside. The invariant: nothing is
 * learned while slowness is suspected or established.
 */
import type { Channel } from './channel.ts'
import { isTrusted, learnValues, type Baseline, type Quantiles } from './latency-baseline.ts'

/** Kind of a request by what its time depends on: streamed or whole, and the size of its input. */
export interface LatencyTraits {
  readonly isStream: boolean
  readonly inputTokens: number
}

export interface LatencySample {
  /** See `latencyKind`. */
  readonly latencyKind: number
  /** Milliseconds to the first event of a stream; milliseconds per token of a whole answer. */
  readonly value: number
  /** What is usual for this kind elsewhere, where more is known about that than about this channel. */
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
  /** Next time the channel may be probed because too few requests speak for or against slowness. */
  readonly thinAt: number
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
const thinSlowMin = 3
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
/** As recent as the slowness itself: what an alternative showed before says nothing about now. */
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
  thinAt: 0,
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

/** What is usual for this kind on this channel, where enough is known. */
export function ownQuantiles(latency: LatencyState, kind: number): Quantiles | undefined {
  const baseline = latency.baselines[kind]
  return isTrusted(baseline) ? baseline : undefined
}

/** An operator's word for streams; its upper end stands for what is beyond it. */
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
  /** The channel serves normally, so that what it shows may become what is usual. */
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

/** Drops a suspicion that no sample of late supports, or finds one. */
export function settleSuspicion(latency: LatencyState, now: number): LatencyState {
  if (latency.slowSince !== undefined) return latency
  const isSuspected = isSlowNow(latency, now)
  if (isSuspected === latency.isSuspected) return latency
  if (!isSuspected) return { ...latency, isSuspected }
  const isNew = now - latency.compareAt >= newSuspicionMs
  const compareGapMs = isNew ? compareGapMinMs : latency.compareGapMs
  // What came in while the slowdown began is no part of what is usual.
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

/**
 * On a quiet channel a few slow requests are all there is for minutes: so many probes would make
 * enough samples to tell. Zero where there are enough, or nothing to tell.
 */
export function missingSamples(latency: LatencyState, now: number): number {
  if (now < latency.thinAt || latency.slowSince !== undefined) return 0
  const { total, slow } = sumWindow(latency, now)
  if (slow < thinSlowMin || slow * 2 < total) return 0
  return Math.max(0, windowSamplesMin - total)
}

export function noteMissingAsked(latency: LatencyState, now: number): LatencyState {
  return { ...latency, thinAt: now + windowMaxMs }
}

export type Comparison = 'better' | 'worse' | 'unknown'

/** Whether this channel is a good place to move to: enough was seen of late and it was not slow. */
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

/** Nothing better was found: asked again later, and ever later. */
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

/** Keeps what is usual, forgets what was seen of late: an outage's times are no measure of anything. */
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
