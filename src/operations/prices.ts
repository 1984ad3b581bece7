/**
 * Prices as operators read them: in force now and known for later, per model, as the
 * catalogue writes them.
 */
import { readCatalogue, type PriceRow } from '../channels/channel-store.ts'
import { decodePrices, printPrices, type PriceForm } from '../metering/price-book.ts'
import type { OperationContext } from './context.ts'
import { timeText } from './views.ts'

export interface PriceView {
  readonly model: string
  readonly vendor: string
  /** Null = since ever. */
  readonly valid_from: string | null
  readonly state: 'in_force' | 'later' | 'past'
  /** USD per million tokens by class, in the form of the catalogue. */
  readonly price: PriceForm
}

/** Every version of every model that is not retired; by model, then by time. */
export async function listPrices(context: OperationContext): Promise<readonly PriceView[]> {
  const { models, prices } = await context.database.snapshot(readCatalogue)
  const nowMs = context.clock.now()
  return models
    .filter((model) => model.retiredAtMs === undefined)
    .flatMap((model) => {
      const versions = prices.filter((price) => price.model === model.id)
      const inForce = versions.findLast((version) => version.validFromMs <= nowMs)
      return versions.map((version) => viewPrice(version, model.vendor, { inForce, nowMs }))
    })
}

function viewPrice(
  version: PriceRow,
  vendor: string,
  moment: { readonly inForce: PriceRow | undefined; readonly nowMs: number },
): PriceView {
  const { validFromMs } = version
  return {
    model: version.model,
    vendor,
    valid_from: validFromMs === 0 ? null : timeText(validFromMs),
    state: validFromMs > moment.nowMs ? 'later' : version === moment.inForce ? 'in_force' : 'past',
    price: printPrices(decodePrices(version.prices)),
  }
}
