/**
 * Writes the price of one model in the form of the community's list, in which `POST /prices/import` takes
 * prices. Amounts stay decimal text: USD per million tokens become USD per token by an exponent.
 */
import { decimalOf, otherParts } from './price.ts'
import type { PriceVersion } from './queries.ts'

type Price = PriceVersion['price']

/** Classes by token, with their names in the list. */
const listedNames: Readonly<Record<string, string>> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write_5m: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  input_audio: 'input_cost_per_audio_token',
  output_audio: 'output_cost_per_audio_token',
  cache_read_audio: 'cache_read_input_audio_token_cost',
}

/** An import leaves these as they are where its list does not name them. */
const kept: readonly string[] = ['request', 'tiers', 'speeds', 'geos']

/** Whether the model has prices that an import would remove. */
export function hasUnlistedParts(price: Price): boolean {
  return otherParts(price).some(
    (name) => !(name in listedNames) && !kept.includes(name) && name !== 'web_search',
  )
}

/** `amounts` replace those of `price`; an empty one removes the class. */
export function listText(
  model: string,
  price: Price,
  amounts: Readonly<Record<string, string>>,
): string {
  const fields = Object.entries(listedNames).flatMap(([name, listed]) => {
    const amount = amounts[name] ?? decimalOf(price, name) ?? ''
    return amount === '' ? [] : [`${JSON.stringify(listed)}: ${amount}e-06`]
  })
  if (decimalOf(price, 'output') === undefined && decimalOf(price, 'input') !== undefined)
    fields.push('"mode": "embedding"')
  const search = decimalOf(price, 'web_search')
  if (search !== undefined)
    fields.push(`"search_context_cost_per_query": { "search_context_size_medium": ${search}e-03 }`)
  return `{ ${JSON.stringify(model)}: { ${fields.join(', ')} } }`
}
