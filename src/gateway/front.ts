/**
 * Routes requests of the public listener to their endpoint or to the relay. Part of the composition
 * root: it knows which endpoints exist, and not their work.
 */
import { serveHealth, type HealthApiParts } from '../api/health.ts'
import { namedReply, refusalReply } from '../api/refusal-reply.ts'
import { serveStripeWebhook, stripeWebhookPath, type StripeWebhook } from '../api/stripe-webhook.ts'
import { serveUsage, type UsageApiParts } from '../api/usage.ts'
import { findHolderRequest, serveHolder, type HolderApiParts } from '../api/usage/holder-api.ts'
import { isAccountPath, serveAccountPage } from '../api/web/account-page.ts'
import { isMemberPath, serveMember } from '../api/member/member-api.ts'
import type { MemberApiParts } from '../api/member/parts.ts'
import type { Operator } from '../api/web/operator.ts'
import type { Page } from '../api/web/site.ts'
import type { Clock } from '../base/clock.ts'
import { refusalOfFault, refuse, type Refusal } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Snapshot, Vendor } from '../channels/channel.ts'
import { headersForPages } from '../formats/headers.ts'
import { canonicalPath, findOperation, formatOf } from '../formats/registry.ts'
import { allowOrigin, preflightHeaders } from '../http/server/cross-origin.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import type { RequestHandler } from '../http/server/listener.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import { sendReply, type Reply } from '../http/server/reply.ts'
import { splitTarget } from '../http/server/router.ts'
import { errorReply } from '../relay/own-replies.ts'
import { crowded, relay, spokenBy } from '../relay/relay.ts'
import type { RelayServices } from '../relay/stages.ts'
import { prefixRefusal, unknownPathRefusal } from '../relay/unknown-path.ts'
import type { Telemetry } from '../telemetry/events.ts'

export interface FrontParts extends HealthApiParts, UsageApiParts, HolderApiParts {
  readonly isDraining: () => boolean
  readonly accountPage: Page
  readonly operator: Operator
  /** Pages of these origins may call the gateway; undefined = none. */
  readonly corsOrigins: readonly string[] | undefined
  /** Undefined = no payments by Stripe. */
  readonly stripeWebhook: StripeWebhook | undefined
  readonly relay: RelayServices
  /** Undefined where the setting `public_url` is not set. */
  readonly members: MemberApiParts | undefined
}

/** The methods of the gateway's own endpoints. */
const readMethods = 'GET, HEAD'

const notPlain = refuse('http.malformed', 'The request target is not a plain path.', {
  connection: 'close',
})

/** The public listener: `/health`, `/v1/usage` and `/account` with all below, and the vendors' prefixes. */
export function serveFront(
  request: IncomingRequest,
  response: ResponseWriter,
  parts: FrontParts,
): Promise<void> | undefined {
  const { corsOrigins: origins, members } = parts
  const target = splitTarget(request.target)
  const isOfMembers =
    members !== undefined &&
    target !== undefined &&
    isMemberPath(target.path) &&
    target.path !== stripeWebhookPath
  // No page of another origin reads what members read.
  if (isOfMembers) {
    if (parts.isDraining()) response.closeAfterwards()
    if (!request.place.isForHealthOnly) return serveMember(request, response, target, members)
  }
  if (!isOfMembers && origins !== undefined)
    allowOrigin(request, response, { origins, exposedHeaders: headersForPages })
  const refuseWith = (refusal: Refusal): undefined => {
    sendReply(request, response, refusalReply(refusal, parts.clock))
  }
  if (target === undefined) return refuseWith(notPlain)
  const { path, query } = target
  if (isOfMembers) return refuseWith(crowded)
  if (request.method === 'OPTIONS') return serveOptions(request, response, path, parts)
  if (path === '/health') {
    if (request.method === 'GET' || request.method === 'HEAD') {
      serveHealth(request, response, parts)
      return undefined
    }
    return refuseWith(refuse('http.method_not_allowed', 'Use GET here.', { allow: readMethods }))
  }
  const asked = findHolderRequest(path)
  const isPage = isAccountPath(path)
  const isOwn = path === '/v1/usage' || asked !== undefined || isPage
  if (isOwn && request.place.isForHealthOnly) return refuseWith(crowded)
  if (path === stripeWebhookPath && parts.stripeWebhook !== undefined)
    return serveStripeWebhook(request, response, parts.stripeWebhook)
  if (path === '/v1/usage') return serveUsage(request, response, query, parts)
  if (asked !== undefined) return serveHolder(request, response, { ...asked, query }, parts)
  if (isPage) return serveAccountPage(request, response, path, parts)

  const snapshot = parts.snapshot()
  const behindPrefix = findVendor(path, snapshot)
  if (behindPrefix === undefined) {
    sendReply(request, response, unknownPathReply(path, snapshot, parts.clock))
    return undefined
  }
  if (parts.isDraining()) response.closeAfterwards()
  const { vendor } = behindPrefix
  const { isDraining } = parts
  relay(
    { request, response, snapshot, vendor, target: { path: behindPrefix.path, query }, isDraining },
    parts.relay,
  )
  return undefined
}

/**
 * Answers `OPTIONS` with the methods of the path, and a preflight with what it asks for. It needs no
 * credential, because a preflight has none. A preflight may ask about an unknown path: the page can then
 * read the error that its request gets.
 */
function serveOptions(
  request: IncomingRequest,
  response: ResponseWriter,
  path: string,
  parts: FrontParts,
): undefined {
  const { clock, corsOrigins: origins } = parts
  const snapshot = parts.snapshot()
  if (parts.isDraining()) response.closeAfterwards()
  const allow = findMethods(path, snapshot)
  const methods = allow ?? 'GET, HEAD, POST'
  const preflight = origins && preflightHeaders(request, { origins, methods })
  if (allow === undefined && preflight === undefined) {
    sendReply(request, response, unknownPathReply(path, snapshot, clock))
    return
  }
  const headers = [...(preflight ?? []), ...(allow === undefined ? [] : ['allow', allow])]
  const reply = { status: 204, headers, body: Buffer.alloc(0) }
  sendReply(request, response, namedReply(reply, clock))
}

/** Returns the methods of a path as the value of an `Allow` header; undefined for an unknown path. */
function findMethods(path: string, snapshot: Snapshot): string | undefined {
  if (path === '/health' || path === '/v1/usage' || findHolderRequest(path) !== undefined)
    return readMethods
  if (isAccountPath(path)) return readMethods
  const behindPrefix = findVendor(path, snapshot)
  if (behindPrefix === undefined) return undefined
  const { format, path: spoken } = spokenBy(behindPrefix.vendor, behindPrefix.path, snapshot)
  const found = findOperation(format.name, 'OPTIONS', spoken)
  return found.kind === 'method_not_allowed' ? found.allow : undefined
}

/** The path behind a vendor's prefix, in its canonical spelling; undefined outside every prefix. */
function findVendor(
  path: string,
  { vendors }: Snapshot,
): { readonly vendor: Vendor; readonly path: string } | undefined {
  // A prefix without a path belongs to its vendor too, so that the error has the vendor's format.
  const slash = path.indexOf('/', 1)
  const prefixEnd = slash === -1 ? path.length : slash
  const vendor = vendors.get(path.slice(1, prefixEnd))
  return vendor && { vendor, path: canonicalPath(vendor.format, path.slice(prefixEnd)) }
}

function unknownPathReply(path: string, snapshot: Snapshot, clock: Clock): Reply {
  const behindPrefix = findVendor(path, snapshot)
  const refused =
    behindPrefix === undefined
      ? prefixRefusal(path, snapshot)
      : unknownPathRefusal({
          ...behindPrefix,
          snapshot,
          format: formatOf(behindPrefix.vendor.format),
        })
  if (refused === undefined) return refusalReply(unknownPath(snapshot), clock)
  const exchangeId = newId('ex', clock.now())
  return errorReply({ exchangeId, format: refused.format }, refused.refusal)
}

function unknownPath(snapshot: Snapshot): Refusal {
  const prefixes = [...snapshot.vendors.keys()].map((vendor) => `/${vendor}`)
  const there = ['/health', '/v1/usage', '/account', ...prefixes].join(', ')
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
