/**
 * The prices of a model: per usage class, what changes them (long prompts, tiers, speeds, regions),
 * their versions in time, and which model's prices a part of an answer takes. It knows no charge and no
 * vendor. Every price is a whole number of pico-dollars.
 */
import type { Picos } from '../base/money.ts'
import type { UsageClass, UsagePart } from './usage.ts'

/** Picos per token by class, or per use of a tool. `rates.ts` has the price of an absent class. */
export type ClassPrices = { readonly [Class in UsageClass]?: Picos } & {
  readonly input: Picos
  /** Absent for a model that makes no output: no operation with output runs on it. */
  readonly output?: Picos
}

/** How a tier, speed or region changes the prices: by a factor in millionths, or by its own prices. */
export type PriceChange =
  | { readonly kind: 'multiplier'; readonly ppm: number }
  | {
      readonly kind: 'prices'
      readonly classes: ClassPrices
      /** Present exactly where the model has long-context prices. */
      readonly longContext?: ClassPrices
    }

export interface Prices {
  readonly classes: ClassPrices
  /** Added once to each charge. */
  readonly requestFeePicos: Picos
  /** A prompt with more tokens than `aboveTokens` prices the whole request at these. */
  readonly longContext?: { readonly aboveTokens: number; readonly classes: ClassPrices }
  /** By the names vendors' answers use: `flex`, `priority`, `batch`. */
  readonly tiers: ReadonlyMap<string, PriceChange>
  readonly speeds: ReadonlyMap<string, PriceChange>
  readonly geos: ReadonlyMap<string, PriceChange>
}

export interface PriceVersion {
  /** Wall time from which it is in force; 0 = always. */
  readonly validFromMs: number
  readonly prices: Prices
}

/** The versions of one model's prices, the earliest first. */
export type ModelPrices = readonly PriceVersion[]

/** Returns the prices in force at `atMs`; undefined before the first version. */
export function pricesAt(modelPrices: ModelPrices, atMs: number): Prices | undefined {
  for (let index = modelPrices.length - 1; index >= 0; index--) {
    const version = modelPrices[index]
    if (version !== undefined && version.validFromMs <= atMs) return version.prices
  }
  return undefined
}

/** A multiplier in millionths that leaves a price as it is. */
export const unchangedPpm = 1_000_000

export interface PricedModels {
  readonly requestedModel: string
  /** The channel's name for the requested model, where that differs. */
  readonly upstreamModel?: string | undefined
  /** Prices of the requested model. */
  readonly prices: Prices
  /** Prices of any other model in the catalogue when the exchange began. */
  readonly pricesFor: (model: string) => Prices | undefined
}

interface FoundPrices {
  readonly model: string
  readonly prices: Prices
  /** False where the answer names a model without a price, so the requested model's is used. */
  readonly isPriced: boolean
}

/**
 * Finds the prices for one part of an answer. Vendors name the serving model in their own way: a dated
 * snapshot of the requested alias, the channel's own name for it, or another model (a fallback, an
 * advisor). Every name has a price.
 *
 *     the answer names                                   its prices
 *     the requested model, by the id or the channel's    the requested model's
 *     name for it
 *     another model than had begun, or another edition   that model's own, where the catalogue has
 *     than the requested one                             exactly this name
 *     a snapshot of the requested model                  the requested model's
 *     any other name                                     that model's own, exactly so named or without
 *                                                        its date; else the requested model's, marked
 */
export function findPrices(
  models: PricedModels,
  part: Pick<UsagePart, 'model' | 'isOtherModel'>,
): FoundPrices {
  const { requestedModel, upstreamModel, prices, pricesFor } = models
  const { model: served, isOtherModel = false } = part
  const requested = { model: requestedModel, prices, isPriced: true }
  if (served === undefined || served === requestedModel || served === upstreamModel)
    return requested
  const servedName = undated(served)
  const isOtherEdition = servedName !== served && undated(requestedModel) !== requestedModel
  const own = pricesFor(served)
  if (own !== undefined && (isOtherModel || isOtherEdition))
    return { model: served, prices: own, isPriced: true }
  if (isRequested(models, served)) return requested
  if (own !== undefined) return { model: served, prices: own, isPriced: true }
  const found = pricesFor(servedName)
  if (found !== undefined) return { model: servedName, prices: found, isPriced: true }
  return { ...requested, isPriced: false }
}

/** Whether a name in an answer means the requested model. */
export function isRequested(
  { requestedModel, upstreamModel }: Pick<PricedModels, 'requestedModel' | 'upstreamModel'>,
  served: string,
): boolean {
  if (served === requestedModel) return true
  const servedName = undated(served)
  return (
    servedName === undated(upstreamModel ?? requestedModel) ||
    servedName === undated(requestedModel)
  )
}

/** Removes the edition from a model's name: `-20260115`, `-2026-01-15`, `-latest`. */
export function undated(model: string): string {
  return model.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, '')
}
