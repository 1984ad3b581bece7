/**
 * Decides what an exchange is charged, however it ended. It knows no socket and stores nothing.
 * Invariant: 0 ≤ amount, and amount ≤ hold unless the vendor's own plausible counts are above it. Every
 * difference from those counts is marked.
 *
 * | ending | charged |
 * |---|---|
 * | refused, failed | nothing |
 * | completed, client_left: it came to nothing, see `cameToNothing` | nothing, while the allowance lasts |
 * | completed, client_left: final counts | those counts; output beyond the limit as far as it was delivered |
 * | completed, client_left: no final counts | input, and the output that was delivered |
 * | upstream_cut | nothing; by the operator's choice as a client that left |
 * | gateway_cut: no output yet | nothing; otherwise as a client that left |
 */
import { minPicos, zeroPicos, type Picos } from '../base/money.ts'
import { capToHold, charge, type Charge } from './charge.ts'
import { ownCost, type CostPrices, type OwnCost } from './cost-prices.ts'
import {
  cutToDelivered,
  estimateDelivered,
  withDeliveredBound,
  withinLimit,
  type AnswerOutput,
  type DeliveredTokens,
} from './delivered.ts'
import type { PricedModels } from './prices.ts'
import {
  boundReported,
  isOutputWithin,
  isPlausible,
  isWellFormed,
  outputTokensMax,
  outputTokensOf,
  promptTokensOf,
  sumOf,
  sumOfClass,
  type RequestBounds,
  usageClasses,
  useClasses,
  type Usage,
  type UsageClass,
  type UsageCounts,
  type UsageMark,
  type UsagePart,
  type UseClass,
  type UseCounts,
} from './usage.ts'
import { formatPriceLines } from './price-lines.ts'
import type { UsageFormat } from './rates.ts'
import type { TokenCounter } from './token-counter.ts'

/** The meter's counts when the exchange ends; a format's `MeterReading` is one. */
export interface AnswerCounts {
  /** The vendor's counts received so far; undefined while there are none. */
  readonly usage: Usage | undefined
  /** `usage` is the final count of the whole answer. */
  readonly isFinal: boolean
  /** The vendor's counts are inconsistent (negative, fractional, falling) and must not be used. */
  readonly isImplausible: boolean
  /** Some output has been seen: text, tool arguments, thinking, a refusal's text, a stop sequence. */
  readonly hasOutput: boolean
  /** The answer is a refusal before any output, which vendors do not bill. */
  readonly isRefusal: boolean
  /** Live: it grows with the answer. */
  readonly output: AnswerOutput
  /** Searches by the vendor's own tools whose results have arrived. */
  readonly webSearches?: number
  /** Uses of other tools of the vendor that the answer shows and its usage does not count. Absent = none. */
  readonly vendorToolUses?: UseCounts
  /** The tier that it names without a count: one with a count has it there. Absent = none. */
  readonly tier?: string | undefined
}

/** How an exchange ended; decides the charge. */
export type Ending =
  | 'completed' // the whole answer is ready for the client
  | 'client_left' // the client went away after the answer had begun
  | 'upstream_cut' // the vendor broke off after the answer had begun
  | 'gateway_cut' // the gateway ended it after it had begun: past its deadline, or going down
  | 'refused' // the vendor answered with an error that is the client's own
  | 'failed' // no channel gave an answer

/** The charge for a stream that the vendor broke off. */
export type CutPolicy = 'nothing' | 'delivered'

export interface SettlementFacts extends PricedModels {
  readonly ending: Ending
  /** Undefined where no answer has begun. */
  readonly counts: AnswerCounts | undefined
  readonly format: UsageFormat
  readonly bounds: RequestBounds
  readonly holdPicos: Picos
  /** No charge may be above the hold, but for output that was delivered beyond its limit. */
  readonly isHoldFinal: boolean
  /** Not even for that. Absent = it may be. */
  readonly holdsMost?: boolean
  readonly multiplierPpm: number
  readonly cutPolicy: CutPolicy
  /** The client left before the first byte. Absent = it did not. */
  readonly isUnseen?: boolean
  /** The account's allowance for exchanges that came to nothing does not cover it. Absent = it does. */
  readonly isNotFree?: boolean
  /** What the operator pays on the answering channel, and when the exchange began. Absent = not known. */
  readonly cost?: { readonly prices: CostPrices; readonly atMs: number } | undefined
}

/** What an answer costs the operator. Both amounts are free of the account's multiplier. */
interface AnswerCosts {
  /** An estimate: the vendor's final counts are missing, or the channel has no cost prices. */
  readonly operatorCostPicos: Picos
  /** What the vendor counted, at the channel's cost prices. */
  readonly ownCostPicos: Picos
  /** False where the answer is charged, and neither amount contains its cost. */
  readonly isOwnCostKnown: boolean
}

export interface ChargeDecision extends AnswerCosts {
  readonly amountPicos: Picos
  /** The charged usage; undefined where nothing is charged. */
  readonly usage: Usage | undefined
  readonly marks: readonly UsageMark[]
  /** See `price-lines.ts`; empty where nothing is charged. */
  readonly priceLines: string
  /** The vendor has counted and delivered more output than the limit allows. Absent = it has not. */
  readonly isBeyondLimit?: boolean
}

/** Uses the vendor's counts where they are complete, and the token counter only for an estimate. */
export function decideCharge(
  given: SettlementFacts,
  counter: TokenCounter,
): ChargeDecision | Promise<ChargeDecision> {
  const facts = withVendorToolUses(given)
  const { counts, ending } = facts
  if (counts === undefined || ending === 'refused' || ending === 'failed')
    return chargeNothing(facts, counter)
  if (ending === 'upstream_cut' && (facts.cutPolicy === 'nothing' || !counts.hasOutput))
    return chargeNothing(facts, counter)
  if (ending === 'gateway_cut' && !counts.hasOutput) return chargeNothing(facts, counter)
  if (facts.isNotFree !== true && cameToNothing(facts)) return chargeNothing(facts, counter)
  const { usage } = counts
  if (usage !== undefined && counts.isFinal && isWellFormed(usage) && isComplete(usage, facts))
    return isOutputWithin(usage, facts.bounds)
      ? chargeUsage(facts, usage, [])
      : chargeBeyondLimit(facts, { counts, usage }, counter)
  return chargeEstimate(facts, counts, counter)
}

/** The client got nothing: it left before the first byte, or the answer has no output and counts none. */
export function cameToNothing({
  ending,
  counts,
  bounds,
  isUnseen = false,
}: Pick<SettlementFacts, 'ending' | 'counts' | 'bounds' | 'isUnseen'>): boolean {
  if (counts === undefined || (ending !== 'completed' && ending !== 'client_left')) return false
  return isUnseen || isEmptyAnswer(counts, bounds)
}

/** Adds the uses of tools to the vendor's counts. */
function withVendorToolUses(facts: SettlementFacts): SettlementFacts {
  const { counts } = facts
  if (counts?.usage === undefined || counts.vendorToolUses === undefined) return facts
  return { ...facts, counts: { ...counts, usage: withUses(counts.usage, counts.vendorToolUses) } }
}

async function chargeNothing(
  facts: SettlementFacts,
  counter: TokenCounter,
): Promise<ChargeDecision> {
  return {
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    ...(await unchargedCosts(facts, counter)),
  }
}

const noCosts: AnswerCosts = {
  operatorCostPicos: zeroPicos,
  ownCostPicos: zeroPicos,
  isOwnCostKnown: true,
}

const unknownCosts: AnswerCosts = { ...noCosts, isOwnCostKnown: false }

/** What the vendor may bill the operator: its counts, or an estimate where it was cut before them. */
async function unchargedCosts(facts: SettlementFacts, counter: TokenCounter): Promise<AnswerCosts> {
  const { counts } = facts
  if (counts === undefined) return noCosts
  const isCut = !counts.isFinal && !counts.isRefusal
  const { usage, bounds } = isCut
    ? await estimateUsage(facts, counts, counter)
    : { usage: counts.usage, bounds: facts.bounds }
  if (usage === undefined || !isPlausible(usage, bounds)) return noCosts
  const { amountPicos, isKnown } = costOf(facts, usage)
  return isKnown && !isCut
    ? { ...noCosts, ownCostPicos: amountPicos }
    : { ...noCosts, operatorCostPicos: amountPicos }
}

/** `isExact`: the counts are the vendor's own, and believed. */
function chargedCosts(facts: SettlementFacts, usage: Usage, isExact: boolean): AnswerCosts {
  if (facts.cost === undefined) return unknownCosts
  const { amountPicos, isKnown } = costOf(facts, usage)
  if (!isKnown) return unknownCosts
  return isExact
    ? { ...noCosts, ownCostPicos: amountPicos }
    : { ...noCosts, operatorCostPicos: minPicos(amountPicos, facts.holdPicos) }
}

function costOf({ cost, ...facts }: SettlementFacts, usage: Usage): OwnCost {
  return ownCost({ ...facts, usage, cost: cost?.prices, atMs: cost?.atMs ?? 0 })
}

/** Whatever the vendor counted as output is paid for, seen or not; so is work that it did not count. */
function isEmptyAnswer(
  { isRefusal, hasOutput, isFinal, usage }: AnswerCounts,
  { asksNoOutput = false }: RequestBounds,
): boolean {
  if (isRefusal) return true
  if (asksNoOutput) return false
  return !hasOutput && isFinal && usage !== undefined && sumOf(usage, outputTokensOf) === 0
}

/**
 * Compatible servers send zeros for counts they do not keep; no prompt and no output is zero, but for the
 * output of an operation that makes none.
 */
function isComplete(usage: Usage, { counts, bounds }: SettlementFacts): boolean {
  if (sumOf(usage, promptTokensOf) === 0) return false
  const needsOutput = counts?.hasOutput === true && outputTokensMax(bounds) > 0
  return !needsOutput || sumOf(usage, outputTokensOf) > 0
}

function chargeUsage(
  facts: SettlementFacts,
  usage: Usage,
  marks: readonly UsageMark[],
): ChargeDecision {
  const { counts, bounds, holdPicos } = facts
  const made = charge(usage, facts)
  const isOverHold = made.amountPicos > holdPicos
  const isBelieved =
    counts?.isImplausible !== true &&
    isPlausible(usage, bounds) &&
    !(isOverHold && facts.isHoldFinal)
  const costs = chargedCosts(facts, usage, isBelieved && !marks.includes('estimated'))
  if (!isBelieved) {
    const reported = boundReported(usage, bounds)
    return decision(capToHold(made, holdPicos), reported, [...marks, 'implausible'], costs)
  }
  return decision(made, usage, isOverHold ? [...marks, 'over_hold'] : marks, costs)
}

function decision(
  made: Charge,
  usage: Usage,
  marks: readonly UsageMark[],
  { operatorCostPicos, ownCostPicos, isOwnCostKnown }: AnswerCosts,
): ChargeDecision {
  return {
    amountPicos: made.amountPicos,
    usage,
    marks: [...marks, ...made.marks],
    priceLines: formatPriceLines(made.bill),
    operatorCostPicos,
    ownCostPicos,
    isOwnCostKnown,
  }
}

/**
 * Charges output beyond the limit: the client has the delivered part and pays for it, up to the count.
 * Output that was neither allowed nor delivered is not believed.
 */
async function chargeBeyondLimit(
  facts: SettlementFacts,
  { counts, usage }: { readonly counts: AnswerCounts; readonly usage: Usage },
  counter: TokenCounter,
): Promise<ChargeDecision> {
  const delivered = await estimateDelivered(counts.output, facts, counter)
  const bounds = withDeliveredBound(facts.bounds, delivered)
  const believed = cutToDelivered(usage, delivered, bounds)
  const charged = chargeUsage(
    isOutputWithin(believed, bounds) ? beyondLimit(facts, bounds) : facts,
    believed,
    believed === usage ? [] : ['estimated'],
  )
  return { ...charged, isBeyondLimit: delivered.isBeyondLimit && !counts.isImplausible }
}

/** Output delivered beyond the limit is paid above the hold, too. */
function beyondLimit(facts: SettlementFacts, bounds: RequestBounds): SettlementFacts {
  return { ...facts, bounds, isHoldFinal: facts.holdsMost === true }
}

async function chargeEstimate(
  facts: SettlementFacts,
  counts: AnswerCounts,
  counter: TokenCounter,
): Promise<ChargeDecision> {
  const { usage, bounds } = await estimateUsage(facts, counts, counter)
  const isBeyondLimit = !isOutputWithin(usage, facts.bounds)
  const known = isBeyondLimit ? beyondLimit(facts, bounds) : { ...facts, bounds }
  return chargeUsage(known, usage, ['estimated'])
}

/** The vendor's running counts where there are any, the prompt, and the output delivered so far. */
async function estimateUsage(
  facts: SettlementFacts,
  counts: AnswerCounts,
  counter: TokenCounter,
): Promise<{ readonly usage: Usage; readonly bounds: RequestBounds }> {
  const delivered = withinLimit(
    await estimateDelivered(counts.output, facts, counter),
    facts.bounds,
  )
  const bounds = withDeliveredBound(facts.bounds, delivered)
  const running = counts.usage
  const usable =
    running !== undefined && isWellFormed(running) ? running : servedWithoutCounts(counts.tier)
  const withOutput = withDelivered(withPromptEstimate(usable, bounds), delivered)
  const believed = cutToDelivered(withOutput, delivered, bounds)
  return { usage: withUses(believed, seenUses(counts, bounds)), bounds }
}

/** Never more than the hold covers. */
function seenUses(
  { webSearches = 0, vendorToolUses = {} }: AnswerCounts,
  { webSearchesMax = 0, vendorTools = {} }: RequestBounds,
): UseCounts {
  const seen: { [Class in UseClass]?: number } = {}
  for (const use of useClasses)
    seen[use] = Math.min(vendorToolUses[use] ?? 0, vendorTools[use] ?? 0)
  seen.web_search = (seen.web_search ?? 0) + Math.min(webSearches, webSearchesMax)
  return seen
}

function servedWithoutCounts(tier: string | undefined): Usage {
  return {
    parts: [{ promptTokens: 0, counts: {}, ...(tier !== undefined && { tier }) }],
    reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
  }
}

/** Audio is estimated separately. */
function withPromptEstimate(usage: Usage, bounds: RequestBounds): Usage {
  if (sumOf(usage, promptTokensOf) > 0) return usage
  const { promptTokensLikely, audioTokensLikely: audio = 0 } = bounds
  const input = Math.max(promptTokensLikely, 1)
  const [first, ...others] = usage.parts
  const part: UsagePart = {
    ...first,
    promptTokens: input + audio,
    counts: { ...first?.counts, input, ...(audio > 0 && { input_audio: audio }) },
  }
  const reported = { ...usage.reported, inputTokens: input + audio }
  return { parts: [part, ...others], reported }
}

/** Raises the output to the delivered part where the vendor's own running count is lower. */
function withDelivered(usage: Usage, { text, spoken }: DeliveredTokens): Usage {
  const missing = text + spoken - sumOf(usage, outputTokensOf)
  if (missing <= 0) return usage
  const unspoken = spoken - sumOfClass(usage, 'output_audio')
  const audio = Math.min(missing, Math.max(unspoken, 0))
  const reported = { ...usage.reported, outputTokens: usage.reported.outputTokens + missing }
  return withMore({ ...usage, reported }, { output: missing - audio, output_audio: audio })
}

/** Raises the uses of tools to those whose results came where the vendor's own count is lower. */
function withUses(usage: Usage, uses: UseCounts): Usage {
  const missing: { [Class in UseClass]?: number } = {}
  for (const use of useClasses) {
    missing[use] = Math.max((uses[use] ?? 0) - sumOfClass(usage, use), 0)
  }
  return withMore(usage, missing)
}

/** Adds counts that the vendor reports for no part to the last part. */
function withMore(usage: Usage, more: UsageCounts): Usage {
  const last = usage.parts.at(-1)
  if (last === undefined) return usage
  const counts: { [Class in UsageClass]?: number } = { ...last.counts }
  for (const usageClass of usageClasses) {
    const count = more[usageClass] ?? 0
    if (count > 0) counts[usageClass] = (counts[usageClass] ?? 0) + count
  }
  return { ...usage, parts: [...usage.parts.slice(0, -1), { ...last, counts }] }
}
