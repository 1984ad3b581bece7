/**
 * The admin listener: `/metrics`, `/livez`, `/readyz`. Liveness means that the event loop runs; it never
 * depends on a vendor or the store. Readiness means that the gateway takes requests.
 */
import { presentedSecret, type Authenticate } from '../access/authenticate.ts'
import type { Clock } from '../base/clock.ts'
import { refuse } from '../base/errors.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import { jsonReply, sendReply } from '../http/server/reply.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { namedReply, refusalReply } from './refusal-reply.ts'

export interface AdminParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly metrics: Metrics
  readonly isReady: () => boolean
  /** Updates gauges before they are read. */
  readonly measure: () => void
}

export async function serveAdmin(
  request: IncomingRequest,
  response: ResponseWriter,
  parts: AdminParts,
): Promise<void> {
  const path = request.target.split('?', 1)[0]
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const refusal = refuse('http.method_not_allowed', 'Use GET here.', { allow: 'GET, HEAD' })
    return sendReply(request, response, refusalReply(refusal, parts.clock))
  }
  if (path === '/livez') {
    const answer = jsonReply(200, { status: 'alive' })
    return sendReply(request, response, namedReply(answer, parts.clock))
  }
  if (path === '/readyz') {
    const isReady = parts.isReady()
    const answer = jsonReply(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready' })
    return sendReply(request, response, namedReply(answer, parts.clock))
  }
  const principal = await parts.authenticate(presentedSecret(request.rawHeaders), 'admin', {
    address: request.clientAddress,
    nowMs: parts.clock.now(),
  })
  if (principal.kind === 'refusal')
    return sendReply(request, response, refusalReply(principal, parts.clock))
  request.place.showKey()
  if (path === '/metrics') return serveMetrics(request, response, parts)
  const refusal = refuse(
    'http.not_found',
    'Unknown path. This address serves /metrics, /livez and /readyz.',
  )
  sendReply(request, response, refusalReply(refusal, parts.clock))
}

async function serveMetrics(
  request: IncomingRequest,
  response: ResponseWriter,
  { clock, metrics, measure }: AdminParts,
): Promise<void> {
  measure()
  const text = await metrics.registry.metrics()
  const headers = ['content-type', metrics.registry.contentType, 'cache-control', 'no-store']
  const answer = { status: 200, headers, body: Buffer.from(text) }
  sendReply(request, response, namedReply(answer, clock))
}
