/**
 * Prices a paid probe from the vendor's own counts: at the channel's cost prices, or at list price. Pure.
 * Counts that are impossible for so small a request are ignored; the cost is unknown then.
 */
import { ownCost, type OwnCost } from '../../metering/cost-prices.ts'
import {
  isPlausible,
  usageClasses,
  type Usage,
  type UsageClass,
  type UsageCounts,
} from '../../metering/usage.ts'
import { pricesAt } from '../../metering/prices.ts'
import type { Snapshot } from '../channel.ts'
import { formatOfPlace, modelOfPlace } from '../places.ts'
import type { HealthPlace } from '../health/health-place.ts'

/** Generous for a question of one word and one token of answer; vendors add their own prompts. */
const checkBounds = {
  promptTokensLikely: 64,
  inputTokensMax: 16_384,
  maxOutputTokens: 1_024,
  choiceCount: 1,
}

/** Undefined where the model has no price, or the counts make no sense. */
export function priceCheck(
  { channel: name, model: place }: HealthPlace,
  usage: Usage,
  { snapshot, nowMs }: { readonly snapshot: Snapshot; readonly nowMs: number },
): OwnCost | undefined {
  const id = modelOfPlace(place)
  const model = snapshot.models.get(id)
  const vendor = model === undefined ? undefined : snapshot.vendors.get(model.vendor)
  const prices = model === undefined ? undefined : pricesAt(model.prices, nowMs)
  if (vendor === undefined || prices === undefined) return undefined
  if (!isPlausible(usage, checkBounds)) return undefined
  const channel = snapshot.channels.get(name)
  return ownCost({
    usage,
    format: formatOfPlace(place, vendor.format),
    cost: channel?.cost,
    atMs: nowMs,
    requestedModel: id,
    upstreamModel: channel?.models.get(id),
    prices,
    pricesFor(served) {
      const other = snapshot.models.get(served)
      return other === undefined ? undefined : pricesAt(other.prices, nowMs)
    },
  })
}

/** All parts of an answer together. */
export function countsOf(usage: Usage): UsageCounts {
  const counts: { [Class in UsageClass]?: number } = {}
  for (const part of usage.parts)
    for (const usageClass of usageClasses) {
      const count = part.counts[usageClass]
      if (count !== undefined) counts[usageClass] = (counts[usageClass] ?? 0) + count
    }
  return counts
}
