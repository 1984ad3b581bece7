/** Reads a model's prices as the gateway prints them, and says those in words that fit no column. */
import { formatUsdExact } from '../ui/format.ts'
import { scaleUsd, usdText } from './usd.ts'
import { className, inPriceOrder } from './words.ts'

type Price = Readonly<Record<string, unknown>>

/** Undefined where the model has no price of this class. */
export function priceIn(price: Price, word: string): string | undefined {
  const value = price[word]
  if (typeof value === 'number') return usdText(value)
  return typeof value === 'string' ? value : undefined
}

export function furtherPrices(price: Price, factor: string): readonly string[] {
  const long = tableIn(price['long_context'])
  const above = priceIn(long, 'above')
  return [
    ...(above === undefined
      ? []
      : [
          `Above ${Number(above).toLocaleString('en-US')} prompt tokens: ${classTexts(long, factor)}`,
        ]),
    ...groups.flatMap(([group, title]) =>
      Object.entries(tableIn(price[group])).map(([name, change]) => {
        const changed = tableIn(change)
        const multiplier = priceIn(changed, 'multiplier')
        const text = multiplier === undefined ? classTexts(changed, factor) : `× ${multiplier}`
        return `${title} ${name}: ${text}`
      }),
    ),
  ]
}

const groups = [
  ['tiers', 'Tier'],
  ['speeds', 'Speed'],
  ['geos', 'Region'],
] as const

function classTexts(price: Price, factor: string): string {
  return inPriceOrder(Object.keys(price))
    .flatMap((word) => {
      const value = word === 'above' ? undefined : priceIn(price, word)
      return value === undefined
        ? []
        : [`${className(word)} ${formatUsdExact(scaleUsd(value, factor))}`]
    })
    .join(', ')
}

function tableIn(value: unknown): Price {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {}
}
