/** What a model offers: what the catalogue names, as far as the model's prices allow it. */
import { modelOperations, type ModelOperation, type VendorOperation } from '../formats/format.ts'
import type { Prices } from '../metering/prices.ts'
import type { Model } from './channel.ts'

type Offer = Pick<Model, 'operations'>

/** Embeddings are input and nothing else. */
export function needsOutputPrice(operation: ModelOperation): boolean {
  return operation !== 'embeddings'
}

export function offeredOperations(model: Offer, prices: Prices): readonly ModelOperation[] {
  const hasPrice = prices.classes.output !== undefined
  return modelOperations.filter(
    (name) => (model.operations?.has(name) ?? true) && (hasPrice || !needsOutputPrice(name)),
  )
}

export function offers(
  model: Offer,
  prices: Prices,
  { hasOutput, modelOperation }: Pick<VendorOperation, 'hasOutput' | 'modelOperation'>,
): boolean {
  if (hasOutput && prices.classes.output === undefined) return false
  return modelOperation === undefined || (model.operations?.has(modelOperation) ?? true)
}
