/**
 * What models of the catalogue lack for their holds, in words: for the notes of `apply` and for `doctor`.
 * Pure. The invariant: silent about a model whose limits are all known, and about one that is not served.
 * `image_tokens` is never missed: the hold without it covers all that vendors are known to count.
 */
import type { Channel, Model, Vendor } from '../../channels/channel.ts'
import { inTurns } from '../../base/turns.ts'
import { tokensText, unknownLimits } from '../../channels/model-limits.ts'
import { needsOutputPrice, offeredOperations } from '../../channels/offer.ts'
import { pricesAt } from '../../metering/prices.ts'
import { namesPerTurn } from './review.ts'

type LimitedModel = Pick<
  Model,
  'id' | 'vendor' | 'maxInputTokens' | 'maxOutputTokens' | 'operations' | 'prices'
>

interface Surroundings {
  readonly vendors: ReadonlyMap<string, Pick<Vendor, 'requireMaxTokens'>>
  readonly channels: ReadonlyMap<string, Pick<Channel, 'models' | 'outputLimit'>>
}

export const limitCodes = ['max_input_tokens', 'max_output_tokens'] as const

export interface MissingLimit {
  readonly code: (typeof limitCodes)[number]
  /** The first models without it, and how many more there are. */
  readonly facts: { readonly names: readonly string[]; readonly rest: number }
  /** What to set and what happens otherwise, with a small letter first and no full stop. */
  readonly text: string
}

export async function findMissingLimits(
  models: readonly LimitedModel[],
  { vendors, channels }: Surroundings,
  nowMs: number,
): Promise<readonly MissingLimit[]> {
  const someFieldFails = (id: string): boolean =>
    channels.values().some((one) => one.outputLimit !== undefined && one.models.has(id))
  const writing: LimitedModel[] = []
  await inTurns(models, namesPerTurn, (model) => {
    if (makesOutput(model, nowMs)) writing.push(model)
  })
  const withoutInput = writing.filter(({ maxInputTokens }) => maxInputTokens === undefined)
  const withoutOutput = writing.filter(
    ({ id, maxOutputTokens, vendor }) =>
      maxOutputTokens === undefined &&
      (vendors.get(vendor)?.requireMaxTokens === false || someFieldFails(id)),
  )
  return [
    ...explain(
      withoutInput,
      'max_input_tokens',
      `a request holds for ${tokensText(unknownLimits.inputTokensHeld)} tokens of input at most, and where its bytes do not bound the input the vendor may count ${tokensText(unknownLimits.inputTokensBelieved)}`,
    ),
    ...explain(
      withoutOutput,
      'max_output_tokens',
      `a request whose output no field limits holds for ${tokensText(unknownLimits.outputTokens)} tokens of output`,
    ),
  ]
}

/** A model that makes only embeddings has no limit of output, and its limit of input is that of one text. */
function makesOutput({ prices, ...offer }: LimitedModel, nowMs: number): boolean {
  const current = pricesAt(prices, nowMs)
  return current !== undefined && offeredOperations(offer, current).some(needsOutputPrice)
}

const namesShownMax = 5

function explain(
  models: readonly LimitedModel[],
  field: MissingLimit['code'],
  consequence: string,
): readonly MissingLimit[] {
  if (models.length === 0) return []
  const shown = models.slice(0, namesShownMax).map(({ id }) => id)
  const rest = models.length - shown.length
  const names = shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '')
  return [
    {
      code: field,
      facts: { names: shown, rest },
      text: `models without ${field}: ${names}; ${consequence}; set it, or fill it in with turnpike price import`,
    },
  ]
}
