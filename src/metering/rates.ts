/**
 * The price of a token: the model's prices × how the answer was served (prompt length, tier, speed,
 * region). It knows no amounts. Every class has a price: where the catalogue gives none, the defaults
 * below apply, and the result is marked as a default.
 *
 * | class without a price | costs |
 * |---|---|
 * | output | input (only a model that makes no output has no price for it) |
 * | cache_read | input (no discount is assumed) |
 * | cache_write_5m | 1.25 × input |
 * | cache_write_1h | 2 × input |
 * | input_audio | 16 × input |
 * | cache_read_audio | input_audio |
 * | output_audio | 8 × output |
 * | web_search | USD 10 per 1000 uses |
 * | file_search, code_interpreter, image_generation | USD 2.50, 30, 250 per 1000 uses |
 *
 * The last three are for answers that report a tool that the request did not ask for: without a price in
 * the catalogue such a request is refused.
 * A tier, speed, region or long-context entry with its own prices need not repeat every class: a
 * missing class keeps its ratio to input (output_audio: to output) in the model's own prices. Factors
 * apply to tokens, never to uses of tools or the request's fee.
 */
import { maxPicos, picos, type Picos } from '../base/money.ts'
import { unchangedPpm, type ClassPrices, type PriceChange, type Prices } from './prices.ts'
import { isUse, type UsageClass, type UseClass } from './usage.ts'

/** The two ways vendors report; tier names mean different things in them. */
export type UsageFormat = 'messages' | 'chat'

/** How an answer, or a part of one, was served. */
export interface Served {
  readonly promptTokens: number
  readonly tier?: string | undefined
  readonly speed?: string | undefined
  readonly geo?: string | undefined
}

export type ModifierKind = 'tier' | 'speed' | 'geo'

/** A property of the answer that changed the prices. */
export interface Modifier {
  readonly kind: ModifierKind
  readonly name: string
  /** Factor in millionths; unchanged where the tier has its own prices. */
  readonly ppm: number
}

export interface RateCard {
  readonly prices: Prices
  readonly isLongContext: boolean
  readonly modifiers: readonly Modifier[]
  /** Sets of prices that replace the model's own; of several, the higher price counts. */
  readonly replacements: readonly ClassPrices[]
  /** The answer was served in a way the catalogue gives no price for. */
  readonly isDefault: boolean
}

export interface ClassRate {
  readonly pricePicos: Picos
  readonly isDefault: boolean
}

interface DefaultChanges {
  readonly tier: ReadonlyMap<string, number>
  readonly speed: ReadonlyMap<string, number>
  readonly geo: ReadonlyMap<string, number>
}

/** Names that mean the list price; they need no price in the catalogue. */
const neutralNames: ReadonlySet<string> = new Set([
  '',
  'standard',
  'standard_only',
  'default',
  'auto',
  'global',
  'not_available',
])

/**
 * What both vendors publish for these names. `priority` of the messages format exists only under
 * contracts with their own prices, so no factor is assumed for it.
 */
const defaultChanges: Readonly<Record<UsageFormat, DefaultChanges>> = {
  messages: {
    tier: new Map([['batch', 500_000]]),
    speed: new Map([['fast', 2_000_000]]),
    geo: new Map([['us', 1_100_000]]),
  },
  chat: {
    tier: new Map([
      ['flex', 500_000],
      ['batch', 500_000],
      ['priority', 2_000_000],
      ['ultrafast', 6_000_000],
    ]),
    speed: new Map(),
    geo: new Map(),
  },
}

/** For one use. */
const defaultUsePicos: Readonly<Record<UseClass, Picos>> = {
  web_search: picos(10_000_000_000n),
  file_search: picos(2_500_000_000n),
  code_interpreter: picos(30_000_000_000n),
  image_generation: picos(250_000_000_000n),
}

/** Selects the prices for tokens served this way. */
export function selectRates(prices: Prices, served: Served, format: UsageFormat): RateCard {
  const { longContext } = prices
  const isLongContext = longContext !== undefined && served.promptTokens > longContext.aboveTokens
  if (
    !isLongContext &&
    isAtListPrice(served.tier, prices.tiers) &&
    isAtListPrice(served.speed, prices.speeds) &&
    isAtListPrice(served.geo, prices.geos)
  )
    return listCard(prices)
  const modifiers: Modifier[] = []
  const replacements: ClassPrices[] = []
  let isDefault = false
  for (const [kind, name, changes] of [
    ['tier', served.tier, prices.tiers],
    ['speed', served.speed, prices.speeds],
    ['geo', served.geo, prices.geos],
  ] as const) {
    if (name === undefined) continue
    const change = changes.get(name)
    if (change !== undefined) {
      if (change.kind === 'prices') replacements.push(setOf(change, isLongContext))
      const ppm = change.kind === 'multiplier' ? change.ppm : unchangedPpm
      modifiers.push({ kind, name, ppm })
    } else if (!neutralNames.has(name)) {
      isDefault = true
      modifiers.push({ kind, name, ppm: defaultChanges[format][kind].get(name) ?? unchangedPpm })
    }
  }
  if (longContext !== undefined && isLongContext && replacements.length === 0)
    replacements.push(longContext.classes)
  return { prices, isLongContext, modifiers, replacements, isDefault }
}

function isAtListPrice(
  name: string | undefined,
  changes: ReadonlyMap<string, PriceChange>,
): boolean {
  return name === undefined || (neutralNames.has(name) && !changes.has(name))
}

const listCards = new WeakMap<Prices, RateCard>()

/** Nearly every exchange is served at the list price: they share one card. */
function listCard(prices: Prices): RateCard {
  let card = listCards.get(prices)
  if (card === undefined) {
    card = { prices, isLongContext: false, modifiers: [], replacements: [], isDefault: false }
    listCards.set(prices, card)
  }
  return card
}

function setOf(change: PriceChange & { kind: 'prices' }, isLongContext: boolean): ClassPrices {
  return isLongContext ? (change.longContext ?? change.classes) : change.classes
}

/** Returns the price of one class on a card, before the card's factors. */
export function rateOf(card: RateCard, usageClass: UsageClass): ClassRate {
  const own = ownRate(card.prices.classes, usageClass)
  if (card.replacements.length === 0) return own
  const [first, ...others] = card.replacements
  if (first === undefined) return own
  let rate = replacedRate(card.prices.classes, own, first, usageClass)
  for (const other of others) {
    const next = replacedRate(card.prices.classes, own, other, usageClass)
    rate = {
      pricePicos: maxPicos(rate.pricePicos, next.pricePicos),
      isDefault: rate.isDefault || next.isDefault,
    }
  }
  return rate
}

/** Whether a request may use a tool: all but searches need one in the catalogue. */
export function isPricedUse({ classes }: Prices, use: UseClass): boolean {
  return use === 'web_search' || classes[use] !== undefined
}

function ownRate(classes: ClassPrices, usageClass: UsageClass): ClassRate {
  const given = classes[usageClass]
  return given === undefined
    ? { pricePicos: defaultPrice(classes, usageClass), isDefault: true }
    : { pricePicos: given, isDefault: false }
}

function defaultPrice(classes: ClassPrices, usageClass: UsageClass): Picos {
  switch (usageClass) {
    case 'input':
    case 'cache_read':
      return classes.input
    case 'output':
      return classes.output ?? classes.input
    case 'cache_write_5m':
      return picos(divideUp(classes.input * 5n, 4n))
    case 'cache_write_1h':
      return picos(classes.input * 2n)
    case 'input_audio':
      return picos(classes.input * 16n)
    case 'cache_read_audio':
      return classes.input_audio ?? picos(classes.input * 16n)
    case 'output_audio':
      return picos((classes.output ?? classes.input) * 8n)
    case 'web_search':
    case 'file_search':
    case 'code_interpreter':
    case 'image_generation':
      return defaultUsePicos[usageClass]
  }
}

function replacedRate(
  base: ClassPrices,
  own: ClassRate,
  replacement: ClassPrices,
  usageClass: UsageClass,
): ClassRate {
  const given = replacement[usageClass]
  if (given !== undefined) return { pricePicos: given, isDefault: false }
  if (isUse(usageClass)) return own
  const anchor = usageClass === 'output_audio' ? 'output' : 'input'
  const before = base[anchor] ?? 0n
  const after = replacement[anchor]
  // A model whose input is free has no relation to keep; the replacement's own defaults hold.
  if (before === 0n || after === undefined) return ownRate(replacement, usageClass)
  const scaled = divideUp(own.pricePicos * after, before)
  return { pricePicos: picos(scaled), isDefault: own.isDefault }
}

/** Integer division that rounds up; both sides are non-negative, the divisor positive. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
