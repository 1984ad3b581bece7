/**
 * From a known caller to an understood request: size, type, body, fields, and every model that it
 * names. Reads the body once, keeps its bytes as they came, and re-encodes nothing. The checks run in
 * the order that the product promises, and the first that fails is the answer.
 */
import type { BodyRoom } from '../access/limits.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import type { Model } from '../channels/channel.ts'
import { findNamedModel } from '../channels/model-names.ts'
import { placeOf } from '../channels/places.ts'
import { offeredOperations, offers } from '../channels/offer.ts'
import type {
  ForwardedOperation,
  RequestFacts,
  RequestFault,
  VendorOperation,
} from '../formats/format.ts'
import { findVersionFault, forwardedHeaderBytes } from '../formats/headers.ts'
import { bodyCodingOf, decodeBody, type BodyCoding } from '../http/server/coded-body.ts'
import { readBody, type BodyLimits, type IncomingRequest } from '../http/server/request.ts'
import { pricesAt, type Prices } from '../metering/prices.ts'
import { isPricedUse } from '../metering/rates.ts'
import { useClasses } from '../metering/usage.ts'
import type { ReadBody } from './body-reader.ts'
import { findLimits } from './output-limits.ts'
import { mayUse, printable, unknownModel } from './served-models.ts'
import { RequestBody, fill, type Identified, type Prepared, type RelayServices } from './stages.ts'

interface ClientGone {
  readonly kind: 'client_gone'
}

/** A refusal with the model that the request names, where it is one of the catalogue. */
export interface ModelRefusal extends Refusal {
  readonly model?: string
  /** The name by which the client asked, where that is not the model's id. */
  readonly asked?: string | undefined
}

export async function prepare(
  identified: Identified,
  operation: ForwardedOperation,
  room: BodyRoom,
  services: Pick<RelayServices, 'clock' | 'settings' | 'bodies' | 'counts'>,
): Promise<Prepared | ModelRefusal | ClientGone> {
  const { request, response } = identified
  const limits = bodyLimits(services)
  const { bytesMax } = limits
  if ((request.body.announcedBytes ?? 0) > bytesMax) return tooLarge(bytesMax)
  const unsupported = findHeadFault(identified) ?? findTypeFault(request)
  if (unsupported !== undefined) return unsupported

  const full = room.reserve(request.body.announcedBytes ?? 0)
  if (full !== undefined) return full
  if (request.expectsContinue) response.sendContinue()
  const reading = await readBody(request.body, {
    ...limits,
    reserve: (bytes) => room.reserve(bytes),
    allocate: (bytes) => services.bodies.memory.take(bytes),
  })
  switch (reading.kind) {
    case 'too_large':
      return tooLarge(bytesMax)
    case 'timed_out':
      return refuse('http.body_timeout', 'The request body did not arrive in time.')
    case 'client_gone':
    case 'refusal':
      return reading
    case 'body': {
      const coding = bodyCodingOf(request.header('content-encoding') ?? '')
      const decoded =
        coding === undefined ? reading.body : await decode(reading.body, coding, { bytesMax, room })
      if (isRefusal(decoded)) return decoded
      const parsing = readFacts(identified, operation, decoded, services)
      const read = parsing instanceof Promise ? await parsing : parsing
      const understood = understand(identified, operation, { read, room }, services)
      return response.isGone ? { kind: 'client_gone' } : understood
    }
  }
}

async function decode(
  coded: Buffer,
  coding: BodyCoding,
  { bytesMax, room }: { readonly bytesMax: number; readonly room: BodyRoom },
): Promise<Buffer | Refusal> {
  const reserve = (bytes: number): Refusal | undefined => room.reserve(bytes)
  const decoded = await decodeBody(coded, coding, { bytesMax, reserve })
  switch (decoded.kind) {
    case 'body':
      return decoded.body
    case 'too_large':
      return tooLarge(bytesMax)
    case 'refusal':
      return decoded
    case 'not_decoded':
      return refuse('relay.request_invalid', notDecoded(coding))
  }
}

function notDecoded(coding: BodyCoding): string {
  return `The body is not one whole ${coding} content with a window of at most 8 MB, as its content-encoding says.`
}

export function bodyLimits({
  clock,
  settings,
}: Pick<RelayServices, 'clock' | 'settings'>): BodyLimits {
  return { bytesMax: settings.bodyBytesMax, timeoutMs: settings.bodyTimeoutMs, clock }
}

/** A body as the reader gives it back; undefined where it could not be read now. */
type MaybeRead = ReadBody | Refusal | undefined

function understand(
  identified: Identified,
  operation: ForwardedOperation,
  { read, room }: { readonly read: MaybeRead; readonly room: BodyRoom },
  services: Pick<RelayServices, 'bodies' | 'counts'>,
): Prepared | ModelRefusal {
  if (read === undefined)
    return refuse('relay.overloaded', 'The gateway could not read the body now. Try again.', {
      'retry-after': '1',
    })
  if ('kind' in read) return read
  const { bytes, facts } = read
  if ('kind' in facts) return refusalOf(facts)
  const found = findModel(identified, operation, facts.model)
  if (found.kind === 'refusal') return found
  const otherPrices = findOtherPrices(identified, operation, facts.extras.otherModels)
  if (isRefusal(otherPrices)) return otherPrices
  const { model, prices } = found
  const unpriced = findUnpricedTool(facts, prices)
  if (unpriced !== undefined) return unpriced
  const { snapshot, format, vendor } = identified
  const place = placeOf(model.id, format.name, vendor.format)
  const channels = snapshot.channelsByModel.get(place) ?? []
  return fill(identified, {
    operation,
    model,
    prices,
    otherPrices,
    outputLimits: findLimits({ facts, model, operation }, channels, services.counts),
    body: new RequestBody(bytes, room, services.bodies.memory),
    facts,
  })
}

function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refusal'
}

function readFacts(
  { request, response, vendor, principal, format: spoken }: Identified,
  operation: ForwardedOperation,
  bytes: Buffer,
  { bodies }: Pick<RelayServices, 'bodies'>,
): MaybeRead | Promise<MaybeRead> {
  const versionFault = findVersionFault(request.fields, vendor.name, vendor.versionHeader)
  if (versionFault !== undefined) return refuse('relay.request_invalid', versionFault)
  const { allowedFeatures } = vendor
  const { accountId } = principal
  const { name: format } = spoken
  // The vendor's own setting is about its own format.
  const requireMaxTokens = format === vendor.format && vendor.requireMaxTokens
  const options = { requireMaxTokens, allowedFeatures }
  const isGone = (): boolean => response.isGone
  return bodies.read({ accountId, format, operation, bytes, options, isGone })
}

function refusalOf({ message, details }: RequestFault): Refusal {
  const refusal = refuse('relay.request_invalid', message)
  return details === undefined ? refusal : { ...refusal, details }
}

function tooLarge(bytesMax: number): Refusal {
  const mebibytes = Math.floor(bytesMax / 1_048_576)
  const limit = mebibytes > 0 ? `${mebibytes} MiB` : `${bytesMax} bytes`
  return refuse('http.body_too_large', `The request body is larger than ${limit}.`)
}

/**
 * Bounds path, query and headers of a request together, without those that do not pass. Node, the strictest
 * of the common servers, refuses a head of 16 KiB or closes the connection, which would look like a fault of
 * the channel. The rest is for headers that the gateway adds.
 */
const forwardedHeadBytesMax = 15_360

export function findHeadFault({ request, path, query }: Identified): Refusal | undefined {
  const bytes = path.length + query.length + forwardedHeaderBytes(request.fields)
  if (bytes <= forwardedHeadBytesMax) return undefined
  return refuse(
    'http.head_too_large',
    `The path, query and headers to pass on have ${bytes} bytes; at most ${forwardedHeadBytesMax} are passed on. Send fewer or shorter headers.`,
  )
}

function findTypeFault(request: IncomingRequest): Refusal | undefined {
  const encoding = request.header('content-encoding')
  const isPlain = encoding === undefined || encoding.toLowerCase() === 'identity'
  if (!isPlain && bodyCodingOf(encoding) === undefined)
    return refuse(
      'http.unsupported_media_type',
      'Send the body without a content-encoding, or with one of gzip, deflate, br and zstd.',
    )
  const contentType = (request.header('content-type') ?? '').toLowerCase()
  if (contentType === 'application/json') return undefined
  const mediaType = contentType.split(';', 1)[0]?.trim()
  if (mediaType !== 'application/json' && mediaType?.endsWith('+json') !== true)
    return refuse(
      'http.unsupported_media_type',
      'The body must be JSON: send "content-type: application/json".',
    )
  // A vendor that follows another charset would read other fields than the gateway.
  const charsets = contentType.matchAll(/;\s*charset\s*=\s*("[^"]*"|[^\s;]*)/g)
  if (charsets.every(([, charset]) => utf8Names.has(charset))) return undefined
  return refuse('http.unsupported_media_type', 'The body must be UTF-8: send it without a charset.')
}

const utf8Names: ReadonlySet<string | undefined> = new Set(['utf-8', '"utf-8"', 'utf8', '"utf8"'])

/** A tool whose uses the vendor bills runs only where the model's prices name it. */
function findUnpricedTool({ extras, model }: RequestFacts, prices: Prices): Refusal | undefined {
  for (const use of useClasses)
    if ((extras.vendorTools?.[use] ?? 0) > 0 && !isPricedUse(prices, use))
      return refuse(
        'relay.request_invalid',
        `The tool ${use} is not available with the model "${printable(model)}"; leave it out.`,
      )
  return undefined
}

/** Returns the name by which a client asked, where that is not the model's id. */
export function askedName({ id }: Model, name: string): string | undefined {
  return name === id ? undefined : name
}

interface FoundModel {
  readonly kind: 'found'
  readonly model: Model
  readonly prices: Prices
}

export function findModel(
  identified: Identified,
  operation: VendorOperation,
  modelId: string,
): FoundModel | ModelRefusal {
  const { snapshot, vendor, principal, startedAtMs } = identified
  const model = findNamedModel(snapshot, modelId)
  const prices = model === undefined ? undefined : pricesAt(model.prices, startedAtMs)
  // A model without a price in force is not served: it must never run for nothing.
  if (model === undefined || prices === undefined || model.vendor !== vendor.name)
    return unknownModel(identified, modelId)
  const asked = askedName(model, modelId)
  if (!mayUse(principal, model.id))
    return {
      ...refuse(
        'access.model_not_allowed',
        `This key may not use the model "${printable(modelId)}". GET /${vendor.name}/v1/models lists the models that it may use.`,
      ),
      model: model.id,
      asked,
    }
  if (!offers(model, prices, operation)) return { ...notOffered(model, prices), asked }
  return { kind: 'found', model, prices }
}

function notOffered(model: Model, prices: Prices): ModelRefusal {
  const served = offeredOperations(model, prices).join(', ')
  const advice = served === '' ? '' : ` It serves: ${served}.`
  const message = `The model "${printable(model.id)}" does not serve this endpoint.${advice}`
  return { ...refuse('relay.not_offered', message), model: model.id }
}

const none: readonly never[] = []

/** A key's allowed models are the only ones that may answer it, wherever a request names them. */
function findOtherPrices(
  identified: Identified,
  operation: ForwardedOperation,
  modelIds: readonly string[],
): readonly Prices[] | ModelRefusal {
  if (modelIds.length === 0) return none
  const otherPrices: Prices[] = []
  for (const modelId of modelIds) {
    const found = findModel(identified, operation, modelId)
    if (found.kind === 'refusal')
      return { ...found, message: `${found.message} The request names it beside \`model\`.` }
    // Only the name of `model` is replaced on the way, so a vendor would not know this one.
    if (found.model.also?.has(modelId) === true)
      return refuse(
        'relay.request_invalid',
        `Name the model "${printable(modelId)}" by its id beside \`model\`: "${found.model.id}".`,
      )
    otherPrices.push(found.prices)
  }
  return otherPrices
}
