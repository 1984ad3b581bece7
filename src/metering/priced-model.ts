/**
 * Whose prices an answer's part takes. Vendors name the serving model in their own way: a dated
 * snapshot of the alias that was asked for, the channel's own name for it, or another model
 * altogether (a fallback, an advisor). No name is ever free.
 */
import type { Prices } from './price-book.ts'
import type { UsagePart } from './usage.ts'

export interface PricedModels {
  readonly requestedModel: string
  /** What the channel calls the requested model, where that differs. */
  readonly upstreamModel?: string | undefined
  /** Of the requested model. */
  readonly prices: Prices
  /** Of any other model in the catalogue, at the moment the exchange began. */
  readonly pricesFor: (model: string) => Prices | undefined
}

export interface FoundPrices {
  readonly model: string
  readonly prices: Prices
  /** False where the answer names a model without a price and the requested one's stands in. */
  readonly isPriced: boolean
}

/**
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

/** Whether the name in an answer is one of the model that was asked for. */
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

/** A model's name without what says which edition it is: `-20260115`, `-2026-01-15`, `-latest`. */
export function undated(model: string): string {
  return model.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, '')
}
