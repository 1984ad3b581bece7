/**
 * How long a vendor may be silent: the one place that chooses the limits of a stream's three waits, from the
 * catalogue, the settings and the learned times. Pure.
 *
 *     request ──▶ head ──▶ sign of work ──▶ first output ──▶ output ──▶ …
 *        └─ head ──┘└───────── output ───────────┘└─ between ──┘
 *
 * Each of the first two has a short limit, after which another channel takes over where one is usable, and a
 * long one, after which the attempt fails. Docs: docs/reliability.md, ADR 37.
 */
import { minuteMs } from '../base/clock.ts'
import type { Channel, Model } from './channel.ts'
import { sureCount, unknownLimitMs } from './health/timing.ts'

export const waitNames = ['head', 'output'] as const

export type WaitName = (typeof waitNames)[number]

/** The facts about one wait that the answers of a channel have shown. */
export interface KnownWait {
  readonly answers: number
  /** 0 where nothing is known. */
  readonly longestMs: number
}

export interface Limit {
  /** Infinity where there is none. */
  readonly shortMs: number
  readonly isLearned: boolean
  readonly longMs: number
}

export interface SilenceSettings {
  /** The longest silence of a vendor that is at work. */
  readonly firstEventTimeoutMs: number
}

interface Waiting {
  readonly channel: Pick<Channel, 'firstEventTimeoutMs'>
  readonly model: Pick<Model, 'firstEventTimeoutMs' | 'thinks'>
  readonly settings: SilenceSettings
  readonly asksReasoning: boolean
  /** Probes or requests have shown that the channel fails. */
  readonly isFailing: boolean
  readonly known: KnownWait
}

/** A wait above this multiple of the longest known one is unusual. */
export const learnedFactor = 1.5
/** How long a model that thinks may be silent before its first output, while nothing is learned. */
const thinkingMs = 10 * minuteMs

const waits = {
  head: { leastMs: 10_000, unlearnedMs: unknownLimitMs, thinkingMs: Infinity },
  output: { leastMs: 20_000, unlearnedMs: minuteMs, thinkingMs },
} as const

/** Returns the limit of one of the waits before the first output. */
export function limitOf(wait: WaitName, waiting: Waiting): Limit {
  const { channel, model, settings, asksReasoning, isFailing, known } = waiting
  const longMs =
    channel.firstEventTimeoutMs ?? model.firstEventTimeoutMs ?? settings.firstEventTimeoutMs
  const { unlearnedMs: usualMs, thinkingMs } = waits[wait]
  const isThinking = model.thinks === true
  if (wait === 'head' && isThinking) return { shortMs: Infinity, isLearned: false, longMs }
  const learnedMs = learnedLimitOf(wait, known)
  if (learnedMs !== undefined) return { shortMs: learnedMs, isLearned: true, longMs }
  const reasons = isThinking || (wait === 'output' && asksReasoning)
  const unlearnedMs = reasons ? thinkingMs : usualMs
  // It has been silent for about as long before: until its times are known, nothing is unusual.
  const isUsual = !isFailing && known.longestMs * learnedFactor > unlearnedMs
  return { shortMs: isUsual ? Infinity : unlearnedMs, isLearned: false, longMs }
}

/** Returns the short limit that answers have shown; undefined while they are too few. */
export function learnedLimitOf(
  wait: WaitName,
  { answers, longestMs }: KnownWait,
): number | undefined {
  if (answers < sureCount) return undefined
  return Math.max(waits[wait].leastMs, longestMs * learnedFactor)
}

/** Returns the longest silence between two outputs. */
export function idleLimitOf(
  { idleTimeoutMs }: Pick<Channel, 'idleTimeoutMs'>,
  { thinks }: Pick<Model, 'thinks'>,
  settings: { readonly idleTimeoutMs: number },
): number {
  if (idleTimeoutMs !== undefined) return idleTimeoutMs
  return thinks === true ? Math.max(settings.idleTimeoutMs, thinkingMs) : settings.idleTimeoutMs
}
