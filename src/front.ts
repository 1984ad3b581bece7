/**
 * Routes requests of the public listener to their endpoint or to the relay. Part of the composition
 * root: it knows which endpoints exist, and not what they do.
 */
import type { Authenticate } from './access/authenticate.ts'
import { serveHealth } from './api/health.ts'
import { refusalReply } from './api/refusal-reply.ts'
import { serveUsage } from './api/usage.ts'
import type { Clock } from './base/clock.ts'
import { refusalOfFault, refuse, type Refusal } from './base/errors.ts'
import { newId } from './base/id.ts'
import type { Snapshot } from './channels/channel.ts'
import type { LoadedSnapshot } from './channels/snapshot.ts'
import type { HealthBook } from './channels/health/health-book.ts'
import type { IncomingRequest } from './http/server/request.ts'
import type { RequestHandler } from './http/server/listener.ts'
import type { ResponseWriter } from './http/server/response-writer.ts'
import { sendReply } from './http/server/reply.ts'
import { splitTarget } from './http/server/router.ts'
import type { Ledger } from './ledger/ledger.ts'
import { errorReply } from './relay/own-replies.ts'
import { crowded, relay } from './relay/relay.ts'
import type { RelayServices } from './relay/stages.ts'
import { prefixRefusal } from './relay/unknown-path.ts'
import type { Telemetry } from './telemetry/events.ts'

export interface FrontParts {
  readonly clock: Clock
  readonly region: string
  readonly authenticate: Authenticate
  readonly ledger: Ledger
  readonly health: HealthBook
  readonly snapshot: () => LoadedSnapshot
  readonly isStoreAvailable: () => boolean
  readonly isDraining: () => boolean
  readonly relay: RelayServices
}

const notPlain = refuse('http.malformed', 'The request target is not a plain path.', {
  connection: 'close',
})

/** The public listener: `/health`, `/v1/usage`, and the vendors' prefixes. */
export function serveFront(
  request: IncomingRequest,
  response: ResponseWriter,
  parts: FrontParts,
): Promise<void> | undefined {
  const refuseWith = (refusal: Refusal): undefined => {
    sendReply(request, response, refusalReply(refusal, parts.clock))
  }
  const target = splitTarget(request.target)
  if (target === undefined) return refuseWith(notPlain)
  const { path, query } = target
  if (path === '/health') {
    if (request.method === 'GET' || request.method === 'HEAD') {
      serveHealth(request, response, parts)
      return undefined
    }
    return refuseWith(refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' }))
  }
  if (path === '/v1/usage' && request.place.isForHealthOnly) return refuseWith(crowded)
  if (path === '/v1/usage') return serveUsage(request, response, query, parts)

  const snapshot = parts.snapshot()
  // A prefix without a path belongs to its vendor too, so that the error has the vendor's format.
  const slash = path.indexOf('/', 1)
  const prefixEnd = slash === -1 ? path.length : slash
  const vendor = snapshot.vendors.get(path.slice(1, prefixEnd))
  if (vendor === undefined) {
    const stray = prefixRefusal(path, snapshot)
    if (stray === undefined) return refuseWith(unknownPath(snapshot))
    const exchangeId = newId('ex', parts.clock.now())
    sendReply(request, response, errorReply({ exchangeId, format: stray.format }, stray.refusal))
    return undefined
  }
  if (parts.isDraining()) response.closeAfterwards()
  const behindPrefix = { path: path.slice(prefixEnd), query }
  const { isDraining } = parts
  return relay(
    { request, response, snapshot, vendor, target: behindPrefix, isDraining },
    parts.relay,
  )
}

function unknownPath(snapshot: Snapshot): Refusal {
  const prefixes = [...snapshot.vendors.keys()].map((vendor) => `/${vendor}`)
  const there = ['/health', '/v1/usage', ...prefixes].join(', ')
  return refuse('http.not_found', `Unknown path. This gateway serves ${there}.`)
}

/** Throws or rejects on a fault. */
type Serve = (request: IncomingRequest, response: ResponseWriter) => Promise<void> | undefined

/** Answers a request with an error where its handler fails, so that no request waits forever. */
export function catching(
  serve: Serve,
  { telemetry, clock }: { readonly telemetry: Telemetry; readonly clock: Clock },
): RequestHandler {
  return (request, response) => {
    const answerFault = (error: unknown): void => {
      telemetry.fault(error, 'api')
      sendReply(request, response, refusalReply(refusalOfFault(error), clock))
    }
    try {
      serve(request, response)?.catch(answerFault)
    } catch (error) {
      answerFault(error)
    }
  }
}
