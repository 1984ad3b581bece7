/**
 * What an answer used, by price class. Classes are disjoint: a token is counted in exactly one, so
 * a cost is a plain sum of count × price. How a vendor spells these counts is known in formats/.
 */

/** Every class that can carry a price of its own. All count tokens, but for `web_search` (uses). */
export const usageClasses = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'input_audio',
  'output_audio',
  'cache_read_audio',
  'web_search',
] as const

export type UsageClass = (typeof usageClasses)[number]

/** Counts by class: non-negative integers; an absent class is zero. */
export type UsageCounts = { readonly [Class in UsageClass]?: number }

/**
 * A run of one model inside an answer. An answer has one part unless the vendor lists iterations
 * (server-side fallback, compaction, advisor), each served by its own model.
 */
export interface UsagePart {
  /** The model that served this part as the vendor names it; absent = the requested one. */
  readonly model?: string
  /** The vendor says that another model than had begun served it: a fallback, an advisor. */
  readonly isOtherModel?: boolean
  readonly counts: UsageCounts
  /** All prompt tokens of this part, cached ones included: what long-context thresholds look at. */
  readonly promptTokens: number
  /** What the answer says was served; decides the price, whatever the request asked for. */
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

export interface Usage {
  readonly parts: readonly UsagePart[]
  /** The figures `/v1/usage` shows, named as the vendors' answers name them. */
  readonly reported: ReportedTokens
}

export interface ReportedTokens {
  /** `input_tokens` (messages) or `prompt_tokens` (chat). */
  readonly inputTokens: number
  /** `output_tokens` or `completion_tokens`. */
  readonly outputTokens: number
  /** Cache reads + writes (messages), `cached_tokens` (chat). */
  readonly cacheTokens: number
}

/** Why a charge is not simply the vendor's own count. Kept with the charge. */
export type UsageMark =
  | 'estimated' // no usable count came; counted from what was delivered
  | 'implausible' // the vendor's count broke a bound; the charge was kept within the hold
  | 'over_hold' // believed and above the hold: the input had been under-estimated
  | 'unpriced_model' // the answer names a model without a price; the requested one's was used
  | 'default_price' // no price for a class, tier, speed or region; the default in rates.ts was used
