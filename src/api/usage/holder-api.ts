/**
 * The account holder's usage below `/v1/usage`, for the read-only token. Each answer is of the token's own
 * account only. No answer may be cached.
 */
import { presentedSecret, type Authenticate } from '../../access/authenticate.ts'
import type { Clock } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { sendReply } from '../../http/server/reply.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import {
  holderEndpoints,
  requestPath,
  type HolderEndpoint,
} from '../../operations/holder/endpoints.ts'
import type { HolderAsked, HolderReader } from '../../operations/holder/reader.ts'
import { refusalReply } from '../refusal-reply.ts'
import { sendPieces } from './holder-answers.ts'
import { misplacedParameter, readParameters } from './parameters.ts'
import type { ReadsUnderWay } from './reads-under-way.ts'

export interface HolderApiParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly isStoreAvailable: () => boolean
  readonly holderReads: ReadsUnderWay
  readonly holderReader: HolderReader
}

/** What a path asks for. */
export interface HolderRequest {
  readonly endpoint: HolderEndpoint
  /** Its name among the endpoints. */
  readonly name: string
  readonly path: string
  /** Taken from the path. */
  readonly given: Readonly<Record<string, string>>
}

/** Undefined where the path is not one of these endpoints. */
export function findHolderRequest(path: string): HolderRequest | undefined {
  const id = path.startsWith(requestPrefix) ? decode(path.slice(requestPrefix.length)) : undefined
  const name = id === undefined ? path : requestPath
  const endpoint = holderEndpoints.get(name)
  const given = id === undefined ? {} : { request: id }
  return endpoint && { endpoint, name, path, given }
}

const requestPrefix = '/v1/usage/requests/'

/** Undefined for an empty id, for U+0000, which no id has, and for text that is no well-formed escape. */
function decode(sent: string): string | undefined {
  try {
    const id = decodeURIComponent(sent)
    return id === '' || id.includes('\0') ? undefined : id
  } catch {
    return undefined
  }
}

export async function serveHolder(
  request: IncomingRequest,
  response: ResponseWriter,
  asked: HolderRequest & { readonly query: string },
  parts: HolderApiParts,
): Promise<void> {
  const refusal = await answer(request, response, asked, parts)
  if (refusal !== undefined) sendReply(request, response, refusalReply(refusal, parts.clock))
}

async function answer(
  request: IncomingRequest,
  response: ResponseWriter,
  asked: HolderRequest & { readonly query: string },
  parts: HolderApiParts,
): Promise<Refusal | undefined> {
  const caller = { address: request.clientAddress, nowMs: parts.clock.now() }
  const principal = await parts.authenticate(presentedSecret(request.fields), 'reader', caller)
  if (principal.kind === 'refusal') return principal
  request.place.showKey()
  const { accountId, keyId: actor } = principal
  return answerHolder(request, response, asked, { ...parts, who: { accountId, actor } })
}

/** Who asks: a read-only token or a member. */
type Who = Pick<HolderAsked, 'accountId' | 'actor' | 'member'>

/** Answers a caller that is known. Returns a refusal where nothing was written. */
export async function answerHolder(
  request: IncomingRequest,
  response: ResponseWriter,
  { endpoint, name, path, given, query }: HolderRequest & { readonly query: string },
  parts: Omit<HolderApiParts, 'authenticate'> & { readonly who: Who },
): Promise<Refusal | undefined> {
  const { clock, who } = parts
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' })
  const misplaced = misplacedParameter(query, path, endpoint.parameters)
  if (misplaced !== undefined) return misplaced
  const parameters = readParameters(query, endpoint.parameters)
  if ('code' in parameters) return parameters
  if (!parts.isStoreAvailable())
    return refuse('ledger.unavailable', 'The ledger is unavailable. Try again shortly.')
  const place = await parts.holderReads.enter(who.accountId)
  if ('code' in place) return place
  const input = { ...parameters.values, ...given }
  const contentType = endpoint.contentType(input)
  const reading = parts.holderReader.read({ path: name, input, ...who })
  try {
    return await sendPieces(reading, { request, response, clock, place, contentType })
  } finally {
    place.leave()
  }
}
