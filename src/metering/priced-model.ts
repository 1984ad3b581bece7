/**
 * Whose prices an answer's part takes. Vendors name the serving model in their own way: a dated
 * snapshot of the alias that was asked for, the channel's own name for it, or another model
 * altogether (a fallback, an advisor). No name is ever free.
 */
import type { Prices } from './price-book.ts'

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

export function findPrices(models: PricedModels, served: string | undefined): FoundPrices {
  const { requestedModel, upstreamModel, prices, pricesFor } = models
  const requested = { model: requestedModel, prices, isPriced: true }
  if (served === undefined || served === requestedModel) return requested
  const servedName = undated(served)
  if (servedName === undated(upstreamModel ?? requestedModel)) return requested
  if (servedName === undated(requestedModel)) return requested
  for (const model of [served, servedName]) {
    const found = pricesFor(model)
    if (found !== undefined) return { model, prices: found, isPriced: true }
  }
  return { ...requested, isPriced: false }
}

/** A model's name without what says which edition it is: `-20260115`, `-2026-01-15`, `-latest`. */
export function undated(model: string): string {
  return model.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, '')
}
