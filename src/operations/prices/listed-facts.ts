/**
 * What the community's list says of a model besides its prices: how much it reads and writes, whether it
 * thinks without being asked, and whether its dated editions cost the same. Pure. The invariant: undefined
 * where the list does not know; it has no field for the tokens of an image.
 */
import { tokenLimitMax } from '../../channels/catalogue/model-fields.ts'
import { withoutDate } from '../../channels/model-names.ts'
import { encodePrices, parsePrices } from '../../metering/price-form.ts'
import type { UsageFormat } from '../../metering/rates.ts'
import { numberIn, pricesOf, type ListedModel, type PriceList } from './community-list.ts'

export interface ListedFacts {
  readonly maxInputTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  readonly thinks: true | undefined
  readonly dated: true | undefined
}

export function factsOf(model: ListedModel, list: PriceList, format: UsageFormat): ListedFacts {
  return {
    // For embeddings it is the limit of one text; only bytes bound all that the model reads.
    maxInputTokens:
      model.fields.get('mode') === 'embedding' ? undefined : limitIn(model, 'max_input_tokens'),
    maxOutputTokens: limitIn(model, 'max_output_tokens'),
    thinks: thinksUnasked(model, format) ? true : undefined,
    dated: hasOnePrice(model, list, format) ? true : undefined,
  }
}

function limitIn(model: ListedModel, field: string): number | undefined {
  const limit = numberIn(model, field)
  return limit !== undefined && Number.isSafeInteger(limit) && limit >= 1 && limit <= tokenLimitMax
    ? limit
    : undefined
}

/**
 * In the chat format models that reason do so unless the request says otherwise, but for those whose usual
 * effort is `none`. In the messages format a request asks for it, but for models that think by themselves.
 */
function thinksUnasked({ fields }: ListedModel, format: UsageFormat): boolean {
  if (fields.get('thinking_always_on') === true) return true
  if (fields.get('thinking_on_by_default') === true) return true
  if (format === 'messages' || fields.get('supports_reasoning') !== true) return false
  return fields.get('default_reasoning_effort') !== 'none'
}

/**
 * Whether no dated edition of the model has prices other than its own. An edition is not dated again, and an
 * entry of prices alone, as the console makes one to change them, knows of no editions.
 */
function hasOnePrice(model: ListedModel, list: PriceList, format: UsageFormat): boolean {
  if (model.vendor === undefined || withoutDate(model.name) !== undefined) return false
  const own = priceText(model, format)
  const isEdition = ({ name }: ListedModel): boolean =>
    name.startsWith(model.name) && withoutDate(name) === model.name
  const editions = list.values().filter(isEdition)
  return editions.every((edition) => priceText(edition, format) === own)
}

/** Undefined where the prices cannot be taken. */
function priceText(model: ListedModel, format: UsageFormat): string | undefined {
  const read = pricesOf(model, format)
  return read.kind === 'prices' ? encodePrices(parsePrices(read.form)) : undefined
}
