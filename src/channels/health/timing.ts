/** The times and counts that several rules of health share. */
import type { Random } from '../../base/random.ts'

/** How many results in a row decide: failures ask for a burst, a burst switches off, passes end a trial. */
export const proofCount = 3
/** With fewer failing callers, one client with several accounts may be the cause. */
export const failingCallersMin = 3

/** How many outcomes or samples are enough to judge a channel … */
export const sampleCount = 20
/** … and how many need no confirmation. */
export const sureCount = 50
/** The highest share of failed or slow answers of a channel that works. */
export const toleratedShare = 0.2

/** How soon a channel is looked at again while requests wait for the result; also the shortest rest. */
export const lookMs = 1_000
/** The pause after a passed probe, and after a throttle whose vendor names no time. */
export const shortPauseMs = 5_000
/** Between two probes that settle one doubt: traffic may answer first. */
export const probeGapMs = 15_000
/** The longest wait for a first event while nothing is known about the times of a model; also of a probe. */
export const unknownLimitMs = 30_000
/** The first back-off, and the time between probes of a channel that serves little or nothing. */
export const retryMs = 30_000
/** A channel that works again must be back within minutes, however many times it relapsed. */
export const backOffMaxMs = 120_000
/** The longest wait that grows or that a vendor asks for. Latency samples and failovers count as long. */
export const waitMaxMs = 300_000
/** Events longer ago than this do not count any more. */
export const forgottenAfterMs = 600_000

/** Every random part of a waiting time, to either side. */
export const jitterShare = 0.2

export function jittered(durationMs: number, random: Random): number {
  return durationMs * (1 + jitterShare * (2 * random() - 1))
}
