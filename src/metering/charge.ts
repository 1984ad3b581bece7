/**
 * From counts to money: what an exchange may cost beforehand, and what it did cost. Pure, exact and
 * never negative. It decides nothing about whether an answer is charged at all; `settlement.ts` does.
 */
import { minPicos, type Picos } from '../base/money.ts'
import { unchangedPpm, type Prices } from './price-book.ts'
import { findPrices, type PricedModels } from './priced-model.ts'
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
  type Usage,
  type UsageClass,
  type UsageMark,
  type UsagePart,
} from './usage.ts'

export interface QuoteFacts {
  readonly prices: Prices
  readonly format: UsageFormat
  /** An upper guess. */
  readonly inputTokens: number
  readonly maxOutputTokens: number
  readonly choiceCount: number
  readonly multiplierPpm: number
  /** Has all of the input priced as a one-hour cache write where that is dearer. */
  readonly asksOneHourCache: boolean
  /** What the request itself asks for, where that is known. The answer may be served cheaper. */
  readonly asked?: Omit<Served, 'promptTokens'>
  /** How many of `inputTokens` are sound, priced as such where that is dearer. */
  readonly audioTokens?: number
  readonly asksAudioOutput?: boolean
  readonly webSearchesMax?: number
  /** Of models that may answer or advise beside the exchange's own, each up to the same limits. */
  readonly otherPrices?: readonly Prices[]
}

/**
 * The most an exchange is expected to cost: input estimate × input price + output limit × choices ×
 * output price + fee, each at the dearest of the prices that can apply by what is known: the list
 * price, the long-context price where the estimate is above its threshold, those of the tier, speed
 * and region asked for, and those of sound where there is sound. Searches come on top, and the same
 * again for every other model that the request names. A charge stays at or below it while input and
 * searches stay within their estimate and the input is neither a five-minute cache write nor served
 * dearer than asked.
 */
export function quote(facts: QuoteFacts): Picos {
  const { inputScaled, outputScaled } = dearestScaled(facts)
  const sum = inputScaled + outputScaled * BigInt(facts.maxOutputTokens)
  return roundUpScaled(sum, facts.multiplierPpm)
}

/**
 * The largest output limit whose quote the available money covers; zero where not one token is.
 * Whatever output limit the exchange itself has is not looked at.
 */
export function affordableOutputTokens(
  facts: Omit<QuoteFacts, 'maxOutputTokens'> & { readonly availablePicos: Picos },
): number {
  const { inputScaled, outputScaled } = dearestScaled(facts)
  const multiplier = BigInt(facts.multiplierPpm)
  // The quote rounds up, so it is covered exactly when the unrounded amount is.
  const left = scaleUp(facts.availablePicos) * BigInt(unchangedPpm) - inputScaled * multiplier
  if (left < 0n) return 0
  const perToken = outputScaled * multiplier
  if (perToken === 0n) return Number.MAX_SAFE_INTEGER
  const affordable = left / perToken
  return affordable > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(affordable)
}

/** Input with fee, and one token of output in every choice, in the scale of `price-lines.ts`. */
function dearestScaled(facts: Omit<QuoteFacts, 'maxOutputTokens'>): {
  readonly inputScaled: bigint
  readonly outputScaled: bigint
} {
  const own = dearestOf(facts.prices, facts)
  let inputScaled = own.input + scaleUp(facts.prices.requestFeePicos)
  let output = own.output
  for (const prices of facts.otherPrices ?? []) {
    const other = dearestOf(prices, facts)
    inputScaled += other.input
    output += other.output
  }
  return {
    inputScaled,
    outputScaled: facts.choiceCount === 1 ? output : output * BigInt(facts.choiceCount),
  }
}

/** The same without fee for one model that may work on it, and one token of one choice. */
function dearestOf(
  prices: Prices,
  facts: Omit<QuoteFacts, 'maxOutputTokens'>,
): { readonly input: bigint; readonly output: bigint } {
  const { audioTokens = 0, asksAudioOutput = false, webSearchesMax = 0 } = facts
  let input = 0n
  let sound = 0n
  let search = 0n
  let output = 0n
  for (const card of possibleCards(prices, facts)) {
    const rates = scaledRates(card)
    input = larger(input, rates.input)
    if (facts.asksOneHourCache) input = larger(input, rates.longWrite)
    output = larger(output, rates.output)
    if (asksAudioOutput) output = larger(output, rates.speech)
    sound = larger(sound, rates.sound)
    search = larger(search, rates.search)
  }
  const text = input * BigInt(facts.inputTokens - audioTokens)
  const heard = audioTokens === 0 ? 0n : larger(input, sound) * BigInt(audioTokens)
  const searched = webSearchesMax === 0 ? 0n : search * BigInt(webSearchesMax)
  return { input: text + heard + searched, output }
}

/** Every way the exchange can come to be served, by what is known beforehand. */
function possibleCards(
  prices: Prices,
  facts: Omit<QuoteFacts, 'maxOutputTokens'>,
): readonly RateCard[] {
  const { format, asked, inputTokens } = facts
  const isLong = prices.longContext !== undefined && inputTokens > prices.longContext.aboveTokens
  if (!isLong && asked === undefined) return [selectRates(prices, short, format)]
  // A prompt estimated above the threshold may turn out below it, so both kinds of price can apply.
  let ways: readonly Served[] = isLong ? [short, { promptTokens: inputTokens }] : [short]
  // What is asked for may be served or not, each by itself.
  for (const kind of ['tier', 'speed', 'geo'] as const)
    if (asked?.[kind] !== undefined)
      ways = [...ways, ...ways.map((way) => ({ ...way, [kind]: asked[kind] }))]
  return ways.map((way) => selectRates(prices, way, format))
}

const short: Served = { promptTokens: 0 }

/** What a token costs at most, each in the scale of `price-lines.ts`. */
interface ScaledRates {
  readonly input: bigint
  /** Written into the one-hour cache. */
  readonly longWrite: bigint
  readonly sound: bigint
  readonly output: bigint
  readonly speech: bigint
  /** Of one search: no factor applies to it. */
  readonly search: bigint
}

/** Of the cards that live as long as their prices; the others are made for one exchange. */
const knownRates = new WeakMap<RateCard, ScaledRates>()

function scaledRates(card: RateCard): ScaledRates {
  let rates = knownRates.get(card)
  if (rates === undefined) {
    const factor = scaledFactor(card.modifiers)
    const scaled = (usageClass: UsageClass): bigint => rateOf(card, usageClass).pricePicos * factor
    rates = {
      input: scaled('input'),
      longWrite: scaled('cache_write_1h'),
      sound: scaled('input_audio'),
      output: scaled('output'),
      speech: scaled('output_audio'),
      search: scaleUp(rateOf(card, 'web_search').pricePicos),
    }
    knownRates.set(card, rates)
  }
  return rates
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

export interface ChargeFacts extends PricedModels {
  readonly usage: Usage
  readonly format: UsageFormat
  readonly multiplierPpm: number
}

export interface Charge {
  readonly amountPicos: Picos
  readonly bill: PriceLines
  readonly marks: readonly UsageMark[]
}

/** What the counts cost, every part at the prices of the model that served it, plus the fee once. */
export function charge(facts: ChargeFacts): Charge {
  const marks: UsageMark[] = []
  const parts: PricedPart[] = []
  for (const part of facts.usage.parts) parts.push(pricePart(part, facts, marks))
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
  // A part without a count costs nothing whatever its prices, so it needs no explanation.
  if (hasDefault && lines.length > 0) mark(marks, 'default_price')
  return { model, isLongContext: card.isLongContext, modifiers: card.modifiers, lines }
}

function mark(marks: UsageMark[], given: UsageMark): void {
  if (!marks.includes(given)) marks.push(given)
}

/** Keeps a charge within its hold, and says so in its bill. */
export function capToHold(made: Charge, holdPicos: Picos): Charge {
  const bill: PriceLines = { ...made.bill, capPicos: holdPicos }
  return { ...made, amountPicos: minPicos(made.amountPicos, holdPicos), bill }
}
