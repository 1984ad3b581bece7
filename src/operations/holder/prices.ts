/** The list prices in force, and the factor on them that the account pays. */
import { z } from 'zod'
import { formatUsd, picos } from '../../base/money.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import { printPrices } from '../../metering/price-form.ts'
import { pricesAt } from '../../metering/prices.ts'
import { currency, usd } from '../answer-forms.ts'
import { noInput } from '../operation.ts'
import { readVersions } from '../prices/versions.ts'
import { holderRead } from './holder-read.ts'

const pricesForm = z.strictObject({
  currency,
  /** A millionth of a dollar is a whole number of pico-dollars, so the factor is exact. */
  multiplier: usd,
  /** USD per million tokens by class, before the multiplier. */
  prices: z.array(
    z.strictObject({
      model: z.string(),
      vendor: z.string(),
      format: z.string(),
      price: z.custom<ReturnType<typeof printPrices>>(),
    }),
  ),
})

export const holderPrices = holderRead(
  { input: noInput, answer: pricesForm },
  async ({ snapshot, account, nowMs }) => {
    const { vendors, models, prices } = await readCatalogue(snapshot)
    const formats = new Map(vendors.map(({ name, format }) => [name, format]))
    const byModel = Map.groupBy(prices, (price) => price.model)
    return {
      currency: 'USD' as const,
      multiplier: formatUsd(picos(BigInt(account.priceMultiplierPpm) * 1_000_000n)),
      prices: models.filter(isInUse).flatMap(({ id, vendor }) => {
        const inForce = pricesAt(readVersions(byModel.get(id) ?? []), nowMs)
        const format = formats.get(vendor)
        if (inForce === undefined || format === undefined) return []
        return [{ model: id, vendor, format, price: printPrices(inForce) }]
      }),
    }
  },
)
