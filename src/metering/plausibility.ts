/**
 * Whether a vendor's counts can be true of the request they answer. It knows no money. A bound is
 * broken only by counts that no honest vendor could give, because work a vendor does on its own
 * account (server tools, compaction, an advisor) rightly goes beyond what the body shows.
 */
import { usageClasses, type Usage, type UsagePart } from './usage.ts'

/** What the request allows an answer to count. */
export interface RequestBounds {
  /** The gateway's upper guess. */
  readonly inputTokensEstimate: number
  /** The most that images and documents can come to beyond that. */
  readonly blobTokensMax?: number
  /** How many tokens of the estimate are sound, and how many these usually come to. */
  readonly audioTokens?: number
  readonly audioTokensUsual?: number
  readonly asksAudioOutput?: boolean
  readonly isSpeechCompressed?: boolean
  /** As many searches as the hold is made for. */
  readonly webSearchesMax?: number
  /** The request asks for tools that the vendor runs itself. */
  readonly hasServerTools?: boolean
  /** Part of the prompt lies with the vendor and not in the body. */
  readonly hasStoredPrompt?: boolean
  readonly maxOutputTokens: number
  readonly choiceCount: number
  readonly bodyBytes: number
}

/**
 * - `ok`: believe it.
 * - `implausible`: well-formed, beyond a bound.
 * - `unusable`: not even counts (fractions, negative or gigantic numbers).
 */
export type Plausibility = 'ok' | 'implausible' | 'unusable'

/** Chat templates and the hidden prompts that come with tools. */
const promptOverheadTokens = 16_384
/** What a vendor's own tools feed to the model, in all of its turns, or what it has kept for it. */
const serverWorkPromptTokens = 5_000_000
/** Summaries and advice obey limits of their own. */
const serverWorkOutputTokens = 200_000
const webSearchesMax = 200
const partsMax = 1_000
/**
 * Whatever a request allows: a thousand parts of a million tokens. Figures are kept in 64 bits, which
 * hold nine thousand million answers of this size, and nine million to the token as JSON shows them.
 */
const tokensMax = 1_000_000_000

export function checkAgainstRequest(usage: Usage, bounds: RequestBounds): Plausibility {
  if (!isWellFormed(usage)) return 'unusable'
  const limits = findLimits(usage, bounds)
  const isWithin =
    usage.parts.length <= partsMax &&
    usage.parts.every((part) => isPartWithin(part, limits)) &&
    isReportedWithin(usage, limits)
  return isWithin ? 'ok' : 'implausible'
}

/** The reported figures cut to what the request allows, so that nobody's statistics show nonsense. */
export function boundReported(usage: Usage, bounds: RequestBounds): Usage {
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  const { reportedPromptTokens, reportedOutputTokens } = findLimits(usage, bounds)
  const reported = {
    inputTokens: cut(inputTokens, reportedPromptTokens),
    outputTokens: cut(outputTokens, reportedOutputTokens),
    cacheTokens: cut(cacheTokens, reportedPromptTokens),
  }
  return { ...usage, reported }
}

/** What is no count at all is shown as none. */
function cut(figure: number, limit: number): number {
  return isCount(figure) ? Math.min(figure, limit) : 0
}

/** The most that a part can count, and that the figures of the whole answer can. */
interface Limits {
  readonly promptTokens: number
  readonly outputTokens: number
  readonly webSearches: number
  readonly reportedPromptTokens: number
  readonly reportedOutputTokens: number
}

function findLimits({ parts }: Usage, bounds: RequestBounds): Limits {
  const hasServerTools = bounds.hasServerTools === true
  // Several parts mean that the vendor worked on its own account.
  const isServerWork = hasServerTools || parts.length > 1
  const isBeyondBody = isServerWork || bounds.hasStoredPrompt === true
  const prompt = promptTokensMax(bounds) + (isBeyondBody ? serverWorkPromptTokens : 0)
  const output = outputTokensMax(bounds)
  const promptTokens = Math.min(prompt, tokensMax)
  const outputTokens = Math.min(
    isServerWork ? Math.max(output, serverWorkOutputTokens) : output,
    tokensMax,
  )
  // Every part reads the prompt anew, and the figures can be the sums over all of them.
  const count = Math.max(parts.length, 1)
  return {
    promptTokens,
    outputTokens,
    // Nothing searches that was given no tool for it, so no such count lifts any other bound.
    webSearches: hasServerTools ? webSearchesMax : 0,
    reportedPromptTokens: Math.min(promptTokens * count, tokensMax),
    reportedOutputTokens: Math.min(outputTokens * count, tokensMax),
  }
}

function isPartWithin(part: UsagePart, limits: Limits): boolean {
  return (
    promptTokensOf(part) <= limits.promptTokens &&
    outputTokensOf(part) <= limits.outputTokens &&
    (part.counts.web_search ?? 0) <= limits.webSearches
  )
}

/** With iterations nothing is charged by these figures, and the vendor tells them apart. */
function isReportedWithin({ reported }: Usage, limits: Limits): boolean {
  const { inputTokens, outputTokens, cacheTokens } = reported
  return (
    isCountUpTo(inputTokens, limits.reportedPromptTokens) &&
    isCountUpTo(outputTokens, limits.reportedOutputTokens) &&
    isCountUpTo(cacheTokens, limits.reportedPromptTokens)
  )
}

/** No byte of text is more than one token; what is not text has a bound of its own. */
function promptTokensMax(bounds: RequestBounds): number {
  const { bodyBytes, inputTokensEstimate, blobTokensMax = 0 } = bounds
  return bodyBytes + inputTokensEstimate + blobTokensMax + promptOverheadTokens
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

/** All that a charge multiplies is a count: a non-negative integer that arithmetic keeps exact. */
export function isWellFormed({ parts }: Usage): boolean {
  return parts.every(isWellFormedPart)
}

function isWellFormedPart(part: UsagePart): boolean {
  if (!isCount(part.promptTokens)) return false
  return usageClasses.every((usageClass) => isCount(part.counts[usageClass] ?? 0))
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isCountUpTo(value: number, limit: number): boolean {
  return isCount(value) && value <= limit
}
