/**
 * From counts to money: what an exchange may cost at most, for its hold, and what it did cost, for its
 * charge. Pure, exact and never negative. Whether an answer is charged at all is decided in
 * `settlement.ts`.
 */
import { minPicos, type Picos } from '../base/money.ts'
import { unchangedPpm, type Prices, findPrices, type PricedModels } from './prices.ts'
import {
  priceLine,
  recompute,
  roundUpScaled,
  scaledFactor,
  scaleUp,
  type PricedPart,
  type PriceLine,
  type PriceLines,
} from './price-lines.ts'
import { rateOf, selectRates, type RateCard, type Served, type UsageFormat } from './rates.ts'
import {
  usageClasses,
  useClasses,
  type Usage,
  type UsageClass,
  type UsageMark,
  type UsagePart,
  type RequestBounds,
  type UseCounts,
} from './usage.ts'

export interface QuoteFacts extends Pick<
  RequestBounds,
  'maxOutputTokens' | 'choiceCount' | 'asksAudioOutput' | 'webSearchesMax' | 'vendorTools'
> {
  readonly prices: Prices
  readonly format: UsageFormat
  readonly inputTokens: number
  readonly multiplierPpm: number
  /** All input may be written into the vendor's cache, so the higher price counts. Absent = none is. */
  readonly cacheWrite?: 'short' | 'long' | undefined
  /** The service that the request asks for, where it says so. The answer may be served cheaper. */
  readonly requested?: Omit<Served, 'promptTokens'> | undefined
  /** How many of `inputTokens` are audio; the higher of the text and the audio price counts. */
  readonly audioTokens?: number | undefined
  /** Of other models that may also answer or advise, each up to the same limits. */
  readonly otherPrices?: readonly Prices[]
}

/**
 * Returns the cost of the tokens: input × input price + output limit × choices × output price + fee, each
 * at the highest of the prices that can apply: the list price, the long-context price where the input is
 * above its threshold, the prices of the requested tier, speed and region, those of a cache write where there
 * may be one, and those of audio where there is audio. Uses of tools are added, and the same again for every
 * other model that the request names. A charge is not above the quote while its counts are not, and the
 * answer is served as the request asks.
 */
export function quote(facts: QuoteFacts): Picos {
  const { inputScaled, outputScaled } = highestScaled(facts)
  const sum = inputScaled + outputScaled * BigInt(facts.maxOutputTokens)
  return roundUpScaled(sum, facts.multiplierPpm)
}

/**
 * Returns the largest output limit whose quote the available money covers; zero where it does not cover
 * one token. The exchange's own output limit is ignored.
 */
export function affordableOutputTokens(
  facts: Omit<QuoteFacts, 'maxOutputTokens'> & { readonly availablePicos: Picos },
): number {
  const { inputScaled, outputScaled } = highestScaled(facts)
  const multiplier = BigInt(facts.multiplierPpm)
  // The quote rounds up, so it is covered exactly when the unrounded amount is.
  const left = scaleUp(facts.availablePicos) * BigInt(unchangedPpm) - inputScaled * multiplier
  if (left < 0n) return 0
  const perToken = outputScaled * multiplier
  if (perToken === 0n) return Number.MAX_SAFE_INTEGER
  const affordable = left / perToken
  return affordable > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(affordable)
}

/** Returns input with fee, and one output token in every choice, in the scale of `price-lines.ts`. */
function highestScaled(facts: Omit<QuoteFacts, 'maxOutputTokens'>): {
  readonly inputScaled: bigint
  readonly outputScaled: bigint
} {
  const own = highestOf(facts.prices, facts)
  let inputScaled = own.input + scaleUp(facts.prices.requestFeePicos)
  let output = own.output
  for (const prices of facts.otherPrices ?? []) {
    const other = highestOf(prices, facts)
    inputScaled += other.input
    output += other.output
  }
  return {
    inputScaled,
    outputScaled: facts.choiceCount === 1 ? output : output * BigInt(facts.choiceCount),
  }
}

/** Returns the input of one model without fee, and one output token of one choice. */
function highestOf(
  prices: Prices,
  facts: Omit<QuoteFacts, 'maxOutputTokens'>,
): { readonly input: bigint; readonly output: bigint } {
  const { audioTokens = 0, asksAudioOutput = false, cacheWrite } = facts
  const uses = usesOf(facts)
  let input = 0n
  let audio = 0n
  let used = 0n
  let output = 0n
  for (const card of possibleCards(prices, facts)) {
    const rates = scaledRates(card)
    input = larger(input, rates.input)
    if (cacheWrite !== undefined) input = larger(input, rates.shortWrite)
    if (cacheWrite === 'long') input = larger(input, rates.longWrite)
    output = larger(output, rates.output)
    if (asksAudioOutput) output = larger(output, rates.outputAudio)
    audio = larger(audio, rates.inputAudio)
    if (uses !== undefined) used = larger(used, scaledUses(card, uses))
  }
  const text = input * BigInt(facts.inputTokens - audioTokens)
  const spoken = audioTokens === 0 ? 0n : larger(input, audio) * BigInt(audioTokens)
  return { input: text + spoken + used, output }
}

function usesOf({ webSearchesMax = 0, vendorTools }: Partial<QuoteFacts>): UseCounts | undefined {
  if (webSearchesMax === 0 && vendorTools === undefined) return undefined
  return { web_search: webSearchesMax, ...vendorTools }
}

/** No factor applies to uses. */
function scaledUses(card: RateCard, uses: UseCounts): bigint {
  let sum = 0n
  for (const use of useClasses) {
    const count = uses[use] ?? 0
    if (count > 0) sum += scaleUp(rateOf(card, use).pricePicos) * BigInt(count)
  }
  return sum
}

/** Returns the rate cards of every way in which the exchange can be served. */
function possibleCards(
  prices: Prices,
  facts: Omit<QuoteFacts, 'maxOutputTokens'>,
): readonly RateCard[] {
  const { format, requested, inputTokens } = facts
  const isLong = prices.longContext !== undefined && inputTokens > prices.longContext.aboveTokens
  if (!isLong && requested === undefined) return [selectRates(prices, short, format)]
  // A prompt estimated above the threshold may turn out below it, so both kinds of price can apply.
  let ways: readonly Served[] = isLong ? [short, { promptTokens: inputTokens }] : [short]
  // The vendor may serve each requested property or not, independently.
  for (const kind of ['tier', 'speed', 'geo'] as const)
    if (requested?.[kind] !== undefined)
      ways = [...ways, ...ways.map((way) => ({ ...way, [kind]: requested[kind] }))]
  return ways.map((way) => selectRates(prices, way, format))
}

const short: Served = { promptTokens: 0 }

/** Prices of one token with all factors, in the scale of `price-lines.ts`. */
interface ScaledRates {
  readonly input: bigint
  /** Written into the five-minute cache. */
  readonly shortWrite: bigint
  /** Written into the one-hour cache. */
  readonly longWrite: bigint
  readonly inputAudio: bigint
  readonly output: bigint
  readonly outputAudio: bigint
}

/** Cards of the list price live as long as their prices, so their rates are computed once. */
const knownRates = new WeakMap<RateCard, ScaledRates>()

function scaledRates(card: RateCard): ScaledRates {
  let rates = knownRates.get(card)
  if (rates === undefined) {
    const factor = scaledFactor(card.modifiers)
    const scaled = (usageClass: UsageClass): bigint => rateOf(card, usageClass).pricePicos * factor
    rates = {
      input: scaled('input'),
      shortWrite: scaled('cache_write_5m'),
      longWrite: scaled('cache_write_1h'),
      inputAudio: scaled('input_audio'),
      output: scaled('output'),
      outputAudio: scaled('output_audio'),
    }
    knownRates.set(card, rates)
  }
  return rates
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

export interface ChargeFacts extends PricedModels {
  readonly format: UsageFormat
  readonly multiplierPpm: number
}

export interface Charge {
  readonly amountPicos: Picos
  readonly bill: PriceLines
  readonly marks: readonly UsageMark[]
}

/** Prices the counts: every part at the prices of the model that served it, plus the fee once. */
export function charge(usage: Usage, facts: ChargeFacts): Charge {
  const marks: UsageMark[] = []
  const parts = usage.parts.map((part) => pricePart(part, facts, marks))
  const bill: PriceLines = {
    parts,
    feePicos: facts.prices.requestFeePicos,
    multiplierPpm: facts.multiplierPpm,
    capPicos: undefined,
  }
  return { amountPicos: recompute(bill), bill, marks }
}

function pricePart(part: UsagePart, facts: ChargeFacts, marks: UsageMark[]): PricedPart {
  const { model, prices, isPriced } = findPrices(facts, part)
  if (!isPriced) mark(marks, 'unpriced_model')
  const card = selectRates(prices, part, facts.format)
  const lines: PriceLine[] = []
  let hasDefault = card.isDefault
  for (const usageClass of usageClasses) {
    const count = part.counts[usageClass]
    if (count === undefined || count === 0) continue
    const rate = rateOf(card, usageClass)
    hasDefault ||= rate.isDefault
    lines.push(priceLine(usageClass, count, rate.pricePicos))
  }
  // A part without a count costs nothing at any price, so it needs no mark.
  if (hasDefault && lines.length > 0) mark(marks, 'default_price')
  return { model, isLongContext: card.isLongContext, modifiers: card.modifiers, lines }
}

function mark(marks: UsageMark[], given: UsageMark): void {
  if (!marks.includes(given)) marks.push(given)
}

/** Limits a charge to its hold, and records the limit in its bill. */
export function capToHold(made: Charge, holdPicos: Picos): Charge {
  const bill: PriceLines = { ...made.bill, capPicos: holdPicos }
  return { ...made, amountPicos: minPicos(made.amountPicos, holdPicos), bill }
}
