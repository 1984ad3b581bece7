/** What a model offers: what the catalogue names, as far as the model's prices allow it. */
import { invariant } from '../base/errors.ts'
import {
  modelOperations,
  type Format,
  type ForwardedOperation,
  type ModelOperation,
  type VendorOperation,
} from '../formats/format.ts'
import { pricesAt, type Prices } from '../metering/prices.ts'
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

/** Without prices only the names count. */
export function offers(
  model: Offer,
  prices: Prices | undefined,
  {
    outputLimitFields,
    modelOperation,
  }: Pick<VendorOperation, 'outputLimitFields' | 'modelOperation'>,
): boolean {
  const hasOutput = outputLimitFields !== undefined
  if (hasOutput && prices !== undefined && prices.classes.output === undefined) return false
  return modelOperation === undefined || (model.operations?.has(modelOperation) ?? true)
}

/** The operation by which a model is checked: the first of its format that it offers. */
export function checkOperation(
  { operations }: Format,
  model: Model | undefined,
  nowMs: number,
): ForwardedOperation {
  const prices = model === undefined ? undefined : pricesAt(model.prices, nowMs)
  const asking = operations
    .filter((operation) => operation.kind === 'forwarded')
    .filter((operation) => operation.checkBodies !== undefined)
  const found = asking.find((operation) => offers(model ?? {}, prices, operation)) ?? asking[0]
  invariant(found !== undefined, 'every format has an operation by which its models are checked')
  return found
}
