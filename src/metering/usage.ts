/**
 * The usage of an answer by price class, and whether a vendor's counts can be true of the request that
 * they answer. Classes are disjoint: a token is counted in exactly one, so a cost is a plain sum of
 * count × price. It knows no money. A bound is broken only by counts that no honest vendor could give,
 * because work that a vendor does by itself (server tools, compaction, an advisor) goes beyond the body.
 */

/** Tools that the vendor runs and bills by the use: no factor applies to them. */
export const useClasses = [
  'web_search',
  'file_search',
  'code_interpreter',
  'image_generation',
] as const

export type UseClass = (typeof useClasses)[number]

/** Uses by tool; an absent tool has none. */
export type UseCounts = { readonly [Class in UseClass]?: number }

/** Every class that can have its own price. Those that are no use count tokens. */
export const usageClasses = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'input_audio',
  'output_audio',
  'cache_read_audio',
  ...useClasses,
] as const

export type UsageClass = (typeof usageClasses)[number]

export function isUse(usageClass: UsageClass): usageClass is UseClass {
  return useClasses.some((use) => use === usageClass)
}

/** Counts by class: non-negative integers; an absent class is zero. */
export type UsageCounts = { readonly [Class in UsageClass]?: number }

/** How an answer was served, in the words of the vendors' answers: this decides its price. */
export interface NamedService {
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

/**
 * A run of one model inside an answer. An answer has one part unless the vendor lists iterations
 * (server-side fallback, compaction, advisor), each served by its own model.
 */
export interface UsagePart extends NamedService {
  /** The model that served this part as the vendor names it; absent = the requested one. */
  readonly model?: string
  /** The vendor says that another model than had begun served it: a fallback, an advisor. */
  readonly isOtherModel?: boolean
  readonly counts: UsageCounts
  /** All prompt tokens of this part, cached ones included: what long-context thresholds look at. */
  readonly promptTokens: number
}

export interface Usage {
  readonly parts: readonly UsagePart[]
  /** The counts that `/v1/usage` shows, named as the vendors' answers name them. */
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
  | 'estimated' // no usable count came; counted from the delivered text
  | 'implausible' // the vendor's count broke a bound; the charge was kept within the hold
  | 'uncovered' // admitted by its likely cost, with less left than the most it could cost
  | 'over_hold' // believed and above the hold: more input, or more delivered, than was to be expected
  | 'unpriced_model' // the answer names a model without a price; the requested one's was used
  | 'not_free' // it came to nothing, and the account's allowance for that is used up
  | 'hold_expired' // not charged: its hold had expired, and the balance no longer covered it
  | 'lost_estimated' // what cut attempts may have cost the operator is estimated from their time
  | 'default_price' // no price for a class, tier, speed or region; the default in rates.ts was used

/** What a request asks for beyond text, as far as it bounds its answer. Absent = it does not ask for it. */
export interface AskedExtras {
  readonly asksAudioOutput?: boolean
  /** The request asks for no output, and costs its prompt. */
  readonly asksNoOutput?: boolean
  /** The answer repeats the prompt, which is no output. */
  readonly echoesPrompt?: boolean
  /** The requested audio has fewer bytes than its samples. */
  readonly isSpeechCompressed?: boolean
  /** Tools that the vendor runs, and the most uses of all of them. */
  readonly serverTools?: { readonly uses: number } | undefined
  /** The number of searches that the hold covers. */
  readonly webSearchesMax?: number
  /** The most uses of other tools that the vendor runs and bills by the use. */
  readonly vendorTools?: UseCounts | undefined
}

/** The bounds that a request sets to the counts of its answer. */
export interface RequestBounds extends AskedExtras {
  /** The usual number of the prompt's tokens, without audio: for an estimated charge. */
  readonly promptTokensLikely: number
  readonly audioTokensLikely?: number
  /** The most input of all parts of the answer together. */
  readonly inputTokensMax: number
  /** Of one choice, on the channel that has answered. */
  readonly maxOutputTokens: number
  readonly choiceCount: number
  /** Estimated where the vendor counts more output than the limit allows. Absent = it was not needed. */
  readonly deliveredTokens?: number
}

/**
 * Output beyond the limit where the vendor works by itself: summaries and advice have limits of their own and
 * are not delivered. One allowance for the whole answer, however many parts it has.
 */
const serverWorkOutputTokens = 200_000
const partsMax = 1_000
/**
 * Above every request's own bound: a thousand parts of a million tokens. Totals are kept in 64 bits,
 * which hold nine thousand million answers of this size; JSON shows nine million of them exactly.
 */
const tokensMax = 1_000_000_000

/**
 * Returns whether the counts can be true of the request. Bounds hold for all parts of an answer together: the
 * vendor may run several models, or one in turns.
 */
export function isPlausible(usage: Usage, bounds: RequestBounds): boolean {
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  const inputMax = inputLimit(bounds)
  const outputMax = outputLimit(usage.parts, bounds)
  return (
    isWellFormed(usage) &&
    usage.parts.length <= partsMax &&
    sumOf(usage, promptTokensOf) <= inputMax &&
    sumOf(usage, outputTokensOf) <= outputMax &&
    areUsesWithin(usage, bounds) &&
    isCountUpTo(inputTokens, inputMax) &&
    isCountUpTo(outputTokens, outputMax) &&
    isCountUpTo(cacheTokens, inputMax)
  )
}

function areUsesWithin(usage: Usage, { vendorTools, serverTools }: RequestBounds): boolean {
  for (const use of useClasses) {
    const most = use === 'web_search' ? serverTools?.uses : vendorTools?.[use]
    if (sumOfClass(usage, use) > (most ?? 0)) return false
  }
  return true
}

/** Cuts the reported counts to the request's bounds, so that no statistics show nonsense. */
export function boundReported(usage: Usage, bounds: RequestBounds): Usage {
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  const inputMax = inputLimit(bounds)
  const reported = {
    inputTokens: cut(inputTokens, inputMax),
    outputTokens: cut(outputTokens, outputLimit(usage.parts, bounds)),
    cacheTokens: cut(cacheTokens, inputMax),
  }
  return { ...usage, reported }
}

/** A value that is not a count is shown as zero. */
function cut(count: number, limit: number): number {
  return isCount(count) ? Math.min(count, limit) : 0
}

function inputLimit({ inputTokensMax }: RequestBounds): number {
  return Math.min(inputTokensMax, tokensMax)
}

/**
 * Returns whether the output of all parts together can be believed: within the limit of the request, or as
 * far as it was delivered beyond it. Where the vendor works by itself, one allowance is added for the whole
 * answer, for output that is neither limited nor delivered.
 */
export function isOutputWithin(usage: Usage, bounds: RequestBounds): boolean {
  return sumOf(usage, outputTokensOf) <= outputLimit(usage.parts, bounds)
}

function outputLimit(parts: Usage['parts'], bounds: RequestBounds): number {
  const limit = Math.max(outputTokensMax(bounds), bounds.deliveredTokens ?? 0)
  // Several parts mean that the vendor ran more than one model by itself.
  const isServerWork = bounds.serverTools !== undefined || parts.length > 1
  return Math.min(limit + (isServerWork ? serverWorkOutputTokens : 0), tokensMax)
}

export function sumOf(usage: Usage, tokensOf: (part: UsagePart) => number): number {
  let sum = 0
  for (const part of usage.parts) sum += tokensOf(part)
  return sum
}

export function sumOfClass({ parts }: Usage, usageClass: UsageClass): number {
  let sum = 0
  for (const { counts } of parts) sum += counts[usageClass] ?? 0
  return sum
}

export function outputTokensMax(bounds: RequestBounds): number {
  return bounds.maxOutputTokens * bounds.choiceCount
}

export function promptTokensOf(part: UsagePart): number {
  const { counts } = part
  const counted =
    (counts.input ?? 0) +
    (counts.cache_read ?? 0) +
    (counts.cache_write_5m ?? 0) +
    (counts.cache_write_1h ?? 0) +
    (counts.input_audio ?? 0) +
    (counts.cache_read_audio ?? 0)
  return Math.max(counted, part.promptTokens)
}

export function outputTokensOf(part: UsagePart): number {
  return (part.counts.output ?? 0) + (part.counts.output_audio ?? 0)
}

/** Checks that every number a charge multiplies is a non-negative integer that is exact. */
export function isWellFormed({ parts }: Usage): boolean {
  return parts.every(isWellFormedPart)
}

function isWellFormedPart(part: UsagePart): boolean {
  return isCount(part.promptTokens) && Object.values(part.counts).every(isCount)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isCountUpTo(value: number, limit: number): boolean {
  return isCount(value) && value <= limit
}
