/**
 * What an exchange is charged, however it ended. It knows no socket and books nothing. Whatever it
 * is told, the amount is never negative, never above the hold unless the vendor's own plausible
 * counts say so, and every departure from those counts is marked.
 *
 * | ending | charged |
 * |---|---|
 * | refused, failed | nothing |
 * | completed, client_left: nothing in the answer, or a refusal before any output | nothing |
 * | completed, client_left: final counts | those counts |
 * | completed, client_left: no final counts | input, and the output that was delivered |
 * | upstream_cut | nothing; by the operator's choice as a client that left |
 * | gateway_cut: no output yet | nothing; otherwise as a client that left |
 */
import { zeroPicos, type Picos } from '../base/money.ts'
import { capToHold, charge, type Charge } from './charge.ts'
import { unchangedPpm } from './price-book.ts'
import {
  boundReported,
  checkAgainstRequest,
  isWellFormed,
  outputTokensMax,
  outputTokensOf,
  promptTokensOf,
  type RequestBounds,
} from './plausibility.ts'
import { formatPriceLines } from './price-lines.ts'
import type { PricedModels } from './priced-model.ts'
import type { UsageFormat } from './rates.ts'
import type { TokenCounter } from './token-counter.ts'
import type { Usage, UsageMark, UsagePart } from './usage.ts'

/** What the meter knows when the exchange ends; a format's `MeterReading` is one. */
export interface AnswerCounts {
  readonly usage: Usage | undefined
  readonly isFinal: boolean
  readonly isImplausible: boolean
  readonly hasOutput: boolean
  /** A refusal before any output. */
  readonly isRefusal: boolean
  /** Output text as far as it was kept, and the UTF-8 bytes of all of it. */
  readonly output: { readonly text: string; readonly bytes: number }
}

/** How an exchange ended, in the ledger's words. */
export type SettledEnding =
  'completed' | 'client_left' | 'upstream_cut' | 'gateway_cut' | 'refused' | 'failed'

/** What a stream costs that the vendor broke off. */
export type CutPolicy = 'nothing' | 'delivered'

export interface SettlementFacts extends PricedModels {
  readonly ending: SettledEnding
  /** Undefined where no answer has begun. */
  readonly counts: AnswerCounts | undefined
  readonly format: UsageFormat
  readonly bounds: RequestBounds
  readonly holdPicos: Picos
  readonly multiplierPpm: number
  readonly cutPolicy: CutPolicy
}

export interface ChargeDecision {
  readonly amountPicos: Picos
  /** What was charged for; undefined where nothing is charged. */
  readonly usage: Usage | undefined
  readonly marks: readonly UsageMark[]
  /** See `price-lines.ts`; empty where nothing is charged. */
  readonly priceLines: string
  /** Where nothing is charged: what the vendor's counts come to at list price. */
  readonly operatorCostPicos: Picos
}

/**
 * A vendor counts the end marks of an empty answer as a few tokens. More than these without any
 * visible output is hidden reasoning, which is work done and is charged.
 */
const emptyAnswerTokensMax = 8

/** Decides at once where the vendor's counts suffice; asks the counter only for an estimate. */
export function decideCharge(
  facts: SettlementFacts,
  counter: TokenCounter,
): ChargeDecision | Promise<ChargeDecision> {
  const { counts, ending } = facts
  if (counts === undefined || ending === 'refused' || ending === 'failed')
    return chargeNothing(facts)
  if (ending === 'upstream_cut' && (facts.cutPolicy === 'nothing' || !counts.hasOutput))
    return chargeNothing(facts)
  if (ending === 'gateway_cut' && !counts.hasOutput) return chargeNothing(facts)
  if (isEmptyAnswer(counts, ending)) return chargeNothing(facts)
  const { usage } = counts
  if (usage !== undefined && counts.isFinal && isWellFormed(usage) && isComplete(usage, counts))
    return chargeUsage(facts, usage, [])
  return chargeEstimate(facts, counts, counter)
}

function chargeNothing(facts: SettlementFacts): ChargeDecision {
  return {
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    operatorCostPicos: operatorCost(facts),
  }
}

function operatorCost(facts: SettlementFacts): Picos {
  const usage = facts.counts?.usage
  if (usage === undefined || checkAgainstRequest(usage, facts.bounds) !== 'ok') return zeroPicos
  return charge({ ...facts, usage, multiplierPpm: unchangedPpm }).amountPicos
}

function isEmptyAnswer(counts: AnswerCounts, ending: SettledEnding): boolean {
  if (counts.isRefusal) return true
  if (counts.hasOutput) return false
  // Whoever leaves before the first output leaves a vendor that is at work on the prompt.
  if (ending === 'client_left' && !counts.isFinal) return false
  if (counts.usage === undefined) return true
  // Written so that counts which are no numbers do not turn an empty answer into a charge.
  return !(sumOf(counts.usage, outputTokensOf) > emptyAnswerTokensMax)
}

/** Compatible servers send zeros for counts they do not keep; no prompt and no output is zero. */
function isComplete(usage: Usage, counts: AnswerCounts): boolean {
  if (sumOf(usage, promptTokensOf) === 0) return false
  return !counts.hasOutput || sumOf(usage, outputTokensOf) > 0
}

function sumOf(usage: Usage, tokensOf: (part: UsagePart) => number): number {
  let sum = 0
  for (const part of usage.parts) sum += tokensOf(part)
  return sum
}

function chargeUsage(
  facts: SettlementFacts,
  usage: Usage,
  marks: readonly UsageMark[],
): ChargeDecision {
  const { counts, bounds, holdPicos } = facts
  const made = charge({ ...facts, usage })
  const isBelieved = counts?.isImplausible !== true && checkAgainstRequest(usage, bounds) === 'ok'
  if (!isBelieved)
    return decision(capToHold(made, holdPicos), boundReported(usage, bounds), [
      ...marks,
      'implausible',
    ])
  const isOverHold = made.amountPicos > holdPicos
  return decision(made, usage, isOverHold ? [...marks, 'over_hold'] : marks)
}

function decision(made: Charge, usage: Usage, marks: readonly UsageMark[]): ChargeDecision {
  return {
    amountPicos: made.amountPicos,
    usage,
    marks: [...marks, ...made.marks],
    priceLines: formatPriceLines(made.bill),
    operatorCostPicos: zeroPicos,
  }
}

async function chargeEstimate(
  facts: SettlementFacts,
  counts: AnswerCounts,
  counter: TokenCounter,
): Promise<ChargeDecision> {
  const delivered = await estimateDelivered(facts, counts, counter)
  const running = counts.usage
  const usable = running !== undefined && isWellFormed(running) ? running : noUsage
  const withPrompt = withPromptEstimate(usable, facts.bounds)
  const usage = withOutputTokens(withPrompt, Math.min(delivered, outputTokensMax(facts.bounds)))
  return chargeUsage(facts, usage, ['estimated'])
}

/** Models of the messages format cut text finer than the public vocabulary that is counted with. */
const tokenRatioPercent: Readonly<Record<UsageFormat, number>> = { messages: 140, chat: 100 }

async function estimateDelivered(
  facts: SettlementFacts,
  counts: AnswerCounts,
  counter: TokenCounter,
): Promise<number> {
  const { text, bytes } = counts.output
  if (bytes === 0) return 0
  const keptTokens = await counter.count(text)
  const keptBytes = Buffer.byteLength(text)
  // What was not kept is taken to be like what was; with nothing kept, like English text.
  const tokens =
    keptBytes === 0 ? bytes / bytesPerToken : keptTokens * Math.max(bytes / keptBytes, 1)
  return Math.ceil((tokens * tokenRatioPercent[facts.format]) / 100)
}

const bytesPerToken = 4.2

const noUsage: Usage = {
  parts: [],
  reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
}

/**
 * The estimate made for the hold is an upper guess at three bytes a token; a charge takes what text
 * usually comes to, 4.2 bytes a token.
 */
const usualPromptPercent = 71

function withPromptEstimate(usage: Usage, bounds: RequestBounds): Usage {
  if (sumOf(usage, promptTokensOf) > 0) return usage
  const input = Math.max(Math.ceil((bounds.inputTokensEstimate * usualPromptPercent) / 100), 1)
  const [first, ...others] = usage.parts
  const part: UsagePart = {
    ...first,
    promptTokens: input,
    counts: { ...first?.counts, input },
  }
  const reported = { ...usage.reported, inputTokens: input }
  return { parts: [part, ...others], reported }
}

/** Raises the output to `tokens` where the vendor's own running count is lower. */
function withOutputTokens(usage: Usage, tokens: number): Usage {
  const missing = tokens - sumOf(usage, outputTokensOf)
  const last = usage.parts.at(-1)
  if (missing <= 0 || last === undefined) return usage
  const counts = { ...last.counts, output: (last.counts.output ?? 0) + missing }
  const reported = {
    ...usage.reported,
    outputTokens: usage.reported.outputTokens + missing,
  }
  return { parts: [...usage.parts.slice(0, -1), { ...last, counts }], reported }
}
