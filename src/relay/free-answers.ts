/**
 * Endpoints under a vendor's prefix that the gateway answers itself, from its catalogue and at no
 * cost: the model lists that clients read when they start, and the warm-up call of one of them.
 */
import { refuse } from '../base/errors.ts'
import type { Model } from '../channels/channel.ts'
import type { ListedModel, OperationName } from '../formats/format.ts'
import { exchangeIdHeader } from '../http/headers.ts'
import type { Reply } from '../http/reply.ts'
import { pricesAt } from '../metering/price-book.ts'
import { errorReply } from './error-reply.ts'
import { mayUse } from './intake.ts'
import type { ForwardedOperation, Identified, Incoming } from './stages.ts'

export type FreeOperation = Exclude<OperationName, ForwardedOperation>

/** `modelId` is what stands behind the models' path, as sent: ids have slashes, escaped by some clients. */
export function answerFree(
  identified: Identified,
  operation: FreeOperation,
  modelId: string | undefined,
): Reply {
  if (operation === 'hello') return helloReply(identified)
  const { format, exchangeId } = identified
  const models = servedModels(identified)
  if (operation === 'models.list') return jsonBody(identified, format.modelList(models))
  const wanted = modelId === undefined ? undefined : decode(modelId)
  const model = models.find((candidate) => candidate.id === wanted)
  if (model !== undefined) return jsonBody(identified, format.modelItem(model))
  return errorReply(
    format,
    refuse(
      'relay.model_unknown',
      `There is no such model here. GET /${identified.vendor.name}/v1/models lists those there are.`,
    ),
    exchangeId,
  )
}

/** A warm-up call: no credential, no content. */
export function helloReply(incoming: Incoming): Reply {
  const headers = [exchangeIdHeader, incoming.exchangeId, 'cache-control', 'no-store']
  return { status: 200, headers, body: Buffer.alloc(0) }
}

function servedModels(identified: Identified): ListedModel[] {
  const { snapshot, vendor, principal, startedAtMs } = identified
  const isServed = (model: Model): boolean =>
    model.vendor === vendor.name &&
    mayUse(principal, model.id) &&
    pricesAt(model.prices, startedAtMs) !== undefined
  return [...snapshot.models.values()]
    .filter(isServed)
    .map(({ id, createdAtMs, maxOutputTokens }) => {
      return { id, createdAtMs, maxOutputTokens, vendor: vendor.name }
    })
}

function decode(sent: string): string | undefined {
  try {
    return decodeURIComponent(sent)
  } catch {
    // Not a well-formed escape, so it names no model.
    return undefined
  }
}

function jsonBody(identified: Identified, body: Buffer): Reply {
  const { format, exchangeId } = identified
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store']
  headers.push(exchangeIdHeader, exchangeId, format.requestIdHeader, exchangeId)
  return { status: 200, headers, body }
}
