/**
 * The account holder's figures below `/v1/usage`, for the read-only token: one row per endpoint. Each
 * answers for the token's own account only. No answer may be cached.
 */
import { presentedSecret, type Authenticate } from '../../access/authenticate.ts'
import type { Clock } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { sendReply } from '../../http/server/reply.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import { holderAccount } from '../../operations/holder/account.ts'
import { holderDays } from '../../operations/holder/days.ts'
import { holderKeys } from '../../operations/holder/keys.ts'
import { holderPrices } from '../../operations/holder/prices.ts'
import { holderRequest, holderRequests } from '../../operations/holder/requests.ts'
import { holderStatement } from '../../operations/holder/statement.ts'
import type { OperationContext, Outcome } from '../../operations/operation.ts'
import { refusalReply } from '../refusal-reply.ts'
import { sendJson, sendText, type Exchange } from './holder-answers.ts'
import { misplacedParameter, readParameters } from './parameters.ts'
import type { ReadsUnderWay } from './reads-under-way.ts'

export interface HolderApiParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly isStoreAvailable: () => boolean
  readonly holderReads: ReadsUnderWay
  /** What operations need. These read only. */
  readonly operations: Omit<OperationContext, 'actor'>
}

/** What a known client asks for. */
interface Question {
  readonly context: OperationContext
  readonly input: Readonly<Record<string, string>>
  readonly accountId: string
}

interface HolderEndpoint {
  /** Its own query parameters. */
  readonly parameters: readonly string[]
  /** Resolves when the answer has been sent, or with a refusal where nothing was written. */
  answer(question: Question, exchange: Exchange): Promise<Refusal | undefined>
}

type Read = (
  context: OperationContext,
  input: unknown,
  accountId: string,
) => Promise<Outcome<unknown>>

function json(read: Read & { readonly input: { readonly shape: object } }): HolderEndpoint {
  return {
    parameters: Object.keys(read.input.shape),
    async answer({ context, input, accountId }, exchange) {
      const outcome = await read(context, input, accountId)
      return outcome.kind === 'done' ? sendJson(outcome.value, exchange) : outcome
    },
  }
}

const endpoints: ReadonlyMap<string, HolderEndpoint> = new Map([
  ['/v1/usage/account', json(holderAccount)],
  ['/v1/usage/days', json(holderDays)],
  ['/v1/usage/keys', json(holderKeys)],
  ['/v1/usage/prices', json(holderPrices)],
  ['/v1/usage/requests', json(holderRequests)],
  [
    '/v1/usage/statement',
    {
      parameters: Object.keys(holderStatement.input.shape),
      answer: ({ context, input, accountId }, exchange) =>
        sendText(
          input['format'] === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
          exchange,
          (write) => holderStatement(context, input, accountId, write),
        ),
    },
  ],
])

/** What a path asks for. */
export interface HolderRequest {
  readonly endpoint: HolderEndpoint
  readonly path: string
  /** Taken from the path. */
  readonly given: Readonly<Record<string, string>>
}

/** Undefined where the path is not one of these endpoints. */
export function findHolderRequest(path: string): HolderRequest | undefined {
  const endpoint = endpoints.get(path)
  if (endpoint !== undefined) return { endpoint, path, given: {} }
  if (!path.startsWith(requestPrefix)) return undefined
  const id = decode(path.slice(requestPrefix.length))
  return id === undefined ? undefined : { endpoint: oneRequest, path, given: { request: id } }
}

const requestPrefix = '/v1/usage/requests/'
/** The id is in the path, so a parameter of its name is unknown here. */
const oneRequest: HolderEndpoint = { ...json(holderRequest), parameters: [] }

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
  { endpoint, path, given, query }: HolderRequest & { readonly query: string },
  parts: HolderApiParts,
): Promise<Refusal | undefined> {
  const { clock } = parts
  const caller = { address: request.clientAddress, nowMs: clock.now() }
  const principal = await parts.authenticate(presentedSecret(request.rawHeaders), 'reader', caller)
  if (principal.kind === 'refusal') return principal
  request.place.showKey()
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' })
  const misplaced = misplacedParameter(query, path, endpoint.parameters)
  if (misplaced !== undefined) return misplaced
  const parameters = readParameters(query, endpoint.parameters)
  if ('code' in parameters) return parameters
  if (!parts.isStoreAvailable())
    return refuse('ledger.unavailable', 'The ledger is unavailable. Try again shortly.')
  const context: OperationContext = { ...parts.operations, actor: principal.keyId }
  const { accountId } = principal
  const place = parts.holderReads.enter(accountId)
  if ('code' in place) return place
  const input = { ...parameters.values, ...given }
  try {
    return await endpoint.answer({ context, input, accountId }, { request, response, clock, place })
  } finally {
    place.leave()
  }
}
