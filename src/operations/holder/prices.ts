/** The list prices in force, and the factor on them that the account pays. */
import { z } from 'zod'
import { formatUsd, picos } from '../../base/money.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import { printPrices } from '../../metering/price-form.ts'
import { pricesAt } from '../../metering/prices.ts'
import { readVersions } from '../prices/versions.ts'
import { holderRead } from './holder-read.ts'

export const holderPrices = holderRead(z.strictObject({}), async ({ snapshot, account, nowMs }) => {
  const { vendors, models, prices } = await readCatalogue(snapshot)
  const formats = new Map(vendors.map(({ name, format }) => [name, format]))
  const byModel = Map.groupBy(prices, (price) => price.model)
  return {
    currency: 'USD' as const,
    /** A millionth of a dollar is a whole number of pico-dollars, so the factor is exact. */
    multiplier: formatUsd(picos(BigInt(account.priceMultiplierPpm) * 1_000_000n)),
    prices: models.filter(isInUse).flatMap(({ id, vendor }) => {
      const inForce = pricesAt(readVersions(byModel.get(id) ?? []), nowMs)
      const format = formats.get(vendor)
      if (inForce === undefined || format === undefined) return []
      // USD per million tokens by class, before the multiplier.
      return [{ model: id, vendor, format, price: printPrices(inForce) }]
    }),
  }
})
