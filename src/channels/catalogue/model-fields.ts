/** The fields of a model in the catalogue. */
import { modelOperations } from '../../formats/format.ts'
import { parseModelPrices, priceSchema, printModelPrices } from '../../metering/price-form.ts'
import type { ModelPrices } from '../../metering/prices.ts'
import { tokensText, unknownLimits } from '../model-limits.ts'
import { modelNameForm, modelNameRule } from '../model-name-form.ts'
import { field, type WrittenField } from './field.ts'
import { flag, kept, names, optional, timeLimit, vendorName, wholeNumber, words } from './kinds.ts'

/** The most that a limit on tokens can be. */
export const tokenLimitMax = 100_000_000

const tokenLimit = wholeNumber({ min: 1, max: tokenLimitMax })
const { imageTokens: perImage } = unknownLimits

export const modelFields = {
  vendor: field('vendor', vendorName, 'The vendor of the model.'),
  maxOutputTokens: field(
    'max_output_tokens',
    kept(tokenLimit),
    'The most output tokens. It sets the hold of a request without `max_tokens`. `price import` fills it.',
    { fallback: `the stored value, else ${tokensText(unknownLimits.outputTokens)}` },
  ),
  /** The most tokens that it reads. */
  maxInputTokens: field(
    'max_input_tokens',
    kept(tokenLimit),
    'The most tokens that the model reads. No hold is for more input, and requests whose bytes do not bound it (documents, addresses, tools of the vendor) hold for all of it. `price import` fills it.',
    { fallback: `the stored value, else ${tokensText(unknownLimits.inputTokensHeld)}` },
  ),
  /** The most tokens that one image counts, which no byte of a body shows. */
  imageTokens: field(
    'image_tokens',
    optional(tokenLimit),
    'The most tokens that one image of a request can count on this model. It sets the hold of requests with images.',
    {
      fallback: `${tokensText(perImage.messages)} for messages, else ${tokensText(perImage.chat)}`,
    },
  ),
  /** Its own limit for the first event of a stream, where it differs from the gateway's setting. */
  firstEventTimeoutMs: field(
    'first_event_timeout',
    timeLimit,
    'The longest silence before the head of a stream, and from there to its first output.',
    { column: 'first_event_timeout_ms', fallback: 'the setting of that name' },
  ),
  /** How long pings alone keep its streams alive, where it differs from the gateway's setting. */
  pingTimeoutMs: field(
    'ping_timeout',
    timeLimit,
    'How long pings alone keep a begun stream alive.',
    { column: 'ping_timeout_ms', fallback: 'the setting of that name' },
  ),
  /** Other names by which clients ask for it. */
  also: field(
    'also',
    optional(names(modelNameForm, modelNameRule)),
    'Other names that clients may ask by. The vendor gets the id of the model in their place, or the name that the channel has for it.',
  ),
  /** It also answers to its id with a date behind it. */
  dated: field(
    'dated',
    kept(flag()),
    '`true` for a model that also answers to `NAME-YYYYMMDD` and `NAME-YYYY-MM-DD`, at the same prices. The vendor gets the name as the client sent it, unless the channel has another. `price import` fills it.',
    { fallback: 'the stored value, else `false`' },
  ),
  /** It may be silent for minutes. */
  thinks: field(
    'thinks',
    kept(flag()),
    '`true` for a model that may be silent for minutes in the middle of an answer. The gateway then waits for up to 10 minutes, or for `idle_timeout` where that is longer. `price import` fills it.',
    { fallback: 'the stored value, else `false`' },
  ),
  /** Its operations; absent = all that its prices allow. */
  operations: field(
    'operations',
    optional(words(modelOperations, 'must name at least one operation')),
    'For vendors of the chat format: which of `chat`, `responses`, `embeddings` and `completions` the model offers. Others get a 404 that names these. Health checks ask by the first of them.',
    { fallback: 'all that its prices allow' },
  ),
}

/** Undefined: the file gives no price, and the stored prices stay. Its versions have a table of their own. */
const price: WrittenField<ModelPrices | undefined> = {
  key: 'price',
  schema: priceSchema.transform(parseModelPrices).optional(),
  print: (value) => value && printModelPrices(value),
  control: 'prices',
  fallback: 'stored prices',
  meaning:
    'One set of [prices](#prices), or a list of versions of which all but one have a `valid_from`.',
}

export const modelEntryFields = { ...modelFields, prices: price }
