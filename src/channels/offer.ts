/** The operations that a model offers: those of the catalogue, as far as the model's prices allow them. */
import { invariant } from '../base/errors.ts'
import {
  modelOperations,
  type ForwardedOperation,
  type ModelOperation,
  type VendorOperation,
} from '../formats/format.ts'
import { pricesAt, type Prices } from '../metering/prices.ts'
import { formatOf } from '../formats/registry.ts'
import type { Model, Vendor } from './channel.ts'
import { formatOfPlace, modelOfPlace } from './places.ts'

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

/** The operation by which a place is checked: the first of its format that its model offers. */
export function checkOperation(
  vendor: Pick<Vendor, 'format'>,
  place: string,
  { models, nowMs }: { readonly models: ReadonlyMap<string, Model>; readonly nowMs: number },
): ForwardedOperation {
  const model = models.get(modelOfPlace(place))
  const { operations } = formatOf(formatOfPlace(place, vendor.format))
  const prices = model === undefined ? undefined : pricesAt(model.prices, nowMs)
  const asking = operations
    .filter((operation) => operation.kind === 'forwarded')
    .filter((operation) => operation.checkBodies !== undefined)
  const found = asking.find((operation) => offers(model ?? {}, prices, operation)) ?? asking[0]
  invariant(found !== undefined, 'every format has an operation by which its models are checked')
  return found
}
