/**
 * What the operator pays a vendor on one channel: prices by model, or a factor on list prices. Own cost
 * is computed as a charge is, from the same counts, without the account's multiplier. Pure and exact: a
 * fraction of a pico-dollar appears only through factors, and is rounded up once for each source of prices.
 */
import { addPicos, minPicos, picos, picosPerUsd, zeroPicos, type Picos } from '../base/money.ts'
import { charge, type ChargeFacts } from './charge.ts'
import { findPrices, pricesAt, unchangedPpm, type ModelPrices, type Prices } from './prices.ts'
import type { Usage, UsagePart } from './usage.ts'

export interface CostPrices {
  /** On the list price of each model that has no cost prices; in millionths. Absent = not known. */
  readonly factorPpm?: number
  readonly models: ReadonlyMap<string, ModelPrices>
}

interface CostFacts extends Omit<ChargeFacts, 'multiplierPpm'> {
  readonly usage: Usage
  /** Undefined where the channel carries no cost prices. */
  readonly cost: CostPrices | undefined
  /** Wall time at which the exchange began: it decides which version of a price is in force. */
  readonly atMs: number
}

export interface OwnCost {
  readonly amountPicos: Picos
  /** False where a part was priced at list price, without a cost price: then it is an estimate. */
  readonly isKnown: boolean
}

/** Returns the cost prices of a model at a moment, or undefined where the channel has none for it. */
export function costPricesAt(
  cost: CostPrices | undefined,
  model: string,
  atMs: number,
): Prices | undefined {
  const versions = cost?.models.get(model)
  return versions === undefined ? undefined : pricesAt(versions, atMs)
}

/** 10,000 USD: no request costs more. It keeps the sums of a day within 64 bits, whatever a price says. */
const ownCostMax = picos(10_000n * picosPerUsd)

/** Prices counts as the vendor bills them to the operator; at list price where that is not known. */
export function ownCost(facts: CostFacts): OwnCost {
  const { cost, atMs } = facts
  const costOf = (model: string): Prices | undefined => costPricesAt(cost, model, atMs)
  const atCost: UsagePart[] = []
  const atFactor: UsagePart[] = []
  const requested = costOf(facts.requestedModel)
  // The fee of the request is priced with the requested model.
  let isKnown = requested !== undefined || cost?.factorPpm !== undefined
  for (const part of facts.usage.parts) {
    const { model, isPriced } = findPrices(facts, part)
    const hasCost = costOf(model) !== undefined
    if (!isPriced || (!hasCost && cost?.factorPpm === undefined)) isKnown = false
    const group = hasCost ? atCost : atFactor
    group.push({ ...part, model })
  }
  const amountPicos = addPicos(
    priceGroup(facts, {
      parts: atCost,
      prices: requested,
      pricesFor: costOf,
      multiplierPpm: unchangedPpm,
    }),
    priceGroup(facts, {
      parts: atFactor,
      prices: requested === undefined ? facts.prices : undefined,
      pricesFor: facts.pricesFor,
      multiplierPpm: cost?.factorPpm ?? unchangedPpm,
    }),
  )
  return { amountPicos: minPicos(amountPicos, ownCostMax), isKnown }
}

/** The parts of an answer whose prices have one source. */
interface PriceGroup extends Pick<ChargeFacts, 'pricesFor' | 'multiplierPpm'> {
  readonly parts: readonly UsagePart[]
  /** Prices of the requested model. Where this source has them, the fee of the request is added. */
  readonly prices: Prices | undefined
}

function priceGroup(facts: CostFacts, { parts, prices, ...source }: PriceGroup): Picos {
  if (parts.length === 0 && prices === undefined) return zeroPicos
  const usage = { ...facts.usage, parts }
  const withoutFee = { ...facts.prices, requestFeePicos: zeroPicos }
  return charge(usage, { ...facts, ...source, prices: prices ?? withoutFee }).amountPicos
}
