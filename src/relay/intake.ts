/**
 * From a known caller to an understood request: size, type, body, fields, and every model that it
 * names. Reads the body once, keeps its bytes as they came, and re-encodes nothing. Each check answers
 * alone and in the order the product promises.
 */
import type { Principal } from '../access/principal.ts'
import type { Clock } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import type { Model } from '../channels/channel.ts'
import { readBody, type BodyReading } from '../http/body.ts'
import { findVersionFault } from '../http/headers.ts'
import type { IncomingRequest } from '../http/incoming-request.ts'
import { pricesAt, type Prices } from '../metering/price-book.ts'
import { RequestBody } from './request-body.ts'
import type { ForwardedOperation, Identified, Prepared } from './stages.ts'

export interface IntakeParts {
  readonly clock: Clock
  readonly bodyBytesMax: number
  readonly bodyTimeoutMs: number
}

export type Intake = Prepared | Refusal | 'client_gone'

/** At once where the whole body has come with its head, as nearly every one does. */
export function intake(
  identified: Identified,
  operation: ForwardedOperation,
  parts: IntakeParts,
): Intake | Promise<Intake> {
  const { request, response } = identified
  if ((request.body.announcedBytes ?? 0) > parts.bodyBytesMax) return tooLarge(parts.bodyBytesMax)
  const unsupported = findTypeFault(request)
  if (unsupported !== undefined) return unsupported

  if (request.awaitsInvitation) response.invite()
  const read = readBody(request.body, {
    bytesMax: parts.bodyBytesMax,
    timeoutMs: parts.bodyTimeoutMs,
    clock: parts.clock,
  })
  const understand = (reading: BodyReading): Intake =>
    understood(identified, operation, reading, parts)
  return read instanceof Promise ? read.then(understand) : understand(read)
}

function understood(
  identified: Identified,
  operation: ForwardedOperation,
  read: BodyReading,
  parts: IntakeParts,
): Intake {
  const { request, format, vendor } = identified
  if (read.kind === 'too_large') return tooLarge(parts.bodyBytesMax)
  if (read.kind === 'timed_out')
    return refuse('http.body_timeout', 'The request body did not arrive in time.')
  if (read.kind === 'client_gone') return 'client_gone'

  const versionFault = findVersionFault(request.rawHeaders, vendor.name, vendor.versionHeader)
  if (versionFault !== undefined) return refuse('relay.request_invalid', versionFault)
  const facts = format.readRequest(read.body, {
    requireMaxTokens: vendor.requireMaxTokens,
    operation,
    allowedFeatures: vendor.allowedFeatures,
  })
  if ('kind' in facts) {
    const refusal = refuse('relay.request_invalid', facts.message)
    return facts.details === undefined ? refusal : { ...refusal, details: facts.details }
  }
  const found = findModel(identified, facts.model)
  if (found.kind === 'refusal') return found
  const otherPrices = findOtherPrices(identified, facts.extras.otherModels)
  if ('kind' in otherPrices) return otherPrices
  const { model, prices } = found
  const body = new RequestBody(read.body)
  return { ...identified, operation, model, prices, otherPrices, body, facts }
}

function tooLarge(bytesMax: number): Refusal {
  const mebibytes = Math.floor(bytesMax / 1_048_576)
  const limit = mebibytes > 0 ? `${mebibytes} MiB` : `${bytesMax} bytes`
  return refuse('http.body_too_large', `The request body is larger than ${limit}.`)
}

function findTypeFault(request: IncomingRequest): Refusal | undefined {
  const encoding = request.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    return refuse('http.unsupported_media_type', 'Send the body without a content-encoding.')
  const contentType = (request.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (contentType === 'application/json' || contentType?.endsWith('+json') === true)
    return undefined
  return refuse(
    'http.unsupported_media_type',
    'The body must be JSON: send "content-type: application/json".',
  )
}

interface FoundModel {
  readonly kind: 'found'
  readonly model: Model
  readonly prices: Prices
}

function findModel(identified: Identified, modelId: string): FoundModel | Refusal {
  const { snapshot, vendor, principal, startedAtMs } = identified
  const model = snapshot.models.get(modelId)
  const prices = model === undefined ? undefined : pricesAt(model.prices, startedAtMs)
  // A model without a price in force is not served: it must never run for nothing.
  if (model === undefined || prices === undefined || model.vendor !== vendor.name)
    return refuse(
      'relay.model_unknown',
      `There is no model "${shown(modelId)}" here. GET /${vendor.name}/v1/models lists those there are.`,
    )
  if (!mayUse(principal, modelId))
    return refuse('access.model_not_allowed', `This key may not use the model "${shown(modelId)}".`)
  return { kind: 'found', model, prices }
}

const none: readonly never[] = []

/** A key's models are all it may have answer, whatever place of a request names them. */
function findOtherPrices(
  identified: Identified,
  modelIds: readonly string[],
): readonly Prices[] | Refusal {
  if (modelIds.length === 0) return none
  const otherPrices: Prices[] = []
  for (const modelId of modelIds) {
    const found = findModel(identified, modelId)
    if (found.kind === 'refusal')
      return { ...found, message: `${found.message} The request names it beside \`model\`.` }
    otherPrices.push(found.prices)
  }
  return otherPrices
}

export function mayUse(principal: Principal, modelId: string): boolean {
  return principal.allowedModels === undefined || principal.allowedModels.has(modelId)
}

const shownModelMax = 100

/** A client's own text in an error of ours: short, and without what could act on a terminal. */
function shown(text: string): string {
  return text.slice(0, shownModelMax).replace(/[^\x20-\x7e]/g, '?')
}
