/**
 * Lets pages of listed origins read answers (CORS, Fetch standard section 3.3). A browser hides an answer
 * from a page unless the answer allows the page's origin. Before it sends a request with a key, it asks with
 * a preflight. Invariant: no answer allows a request with cookies (`access-control-allow-credentials`).
 */
import { isToken } from '../wire/field-names.ts'
import type { IncomingRequest } from './request.ts'
import type { ResponseWriter } from './response-writer.ts'

/**
 * Adds to any answer the headers that a browser checks before a page may read it. `origins` are
 * those of the pages, or `*` for all; `exposedHeaders` are those that a page may read.
 */
export function allowOrigin(
  request: IncomingRequest,
  response: ResponseWriter,
  { origins, exposedHeaders }: { origins: readonly string[]; exposedHeaders: string },
): void {
  const origin = request.header('origin')
  if (origin === undefined) return
  response.addHeader('vary', 'Origin')
  const allowed = allowedOrigin(origin, origins)
  if (allowed === undefined) return
  response.addHeader('access-control-allow-origin', allowed)
  response.addHeader('access-control-expose-headers', exposedHeaders)
}

function allowedOrigin(origin: string, origins: readonly string[]): string | undefined {
  if (origins.includes('*')) return '*'
  return origins.includes(origin) ? origin : undefined
}

/** Browsers keep an answer to a preflight for at most this long, most of them for less. */
const preflightSeconds = '7200'

/**
 * Returns the headers of the answer to a preflight, besides those of `allowOrigin`. Undefined where the
 * request is no preflight of a listed origin.
 */
export function preflightHeaders(
  request: IncomingRequest,
  { origins, methods }: { origins: readonly string[]; methods: string },
): string[] | undefined {
  const origin = request.header('origin')
  if (origin === undefined || allowedOrigin(origin, origins) === undefined) return undefined
  if (request.header('access-control-request-method') === undefined) return undefined
  const headers = [
    ['vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'],
    ['access-control-allow-methods', methods],
    ['access-control-max-age', preflightSeconds],
  ]
  // Named one by one, because `*` does not include `authorization`.
  const asked = request.header('access-control-request-headers')
  if (asked !== undefined && isTokenList(asked))
    headers.push(['access-control-allow-headers', asked])
  // A page of the internet that calls a gateway in a private network.
  if (request.header('access-control-request-private-network') === 'true')
    headers.push(['access-control-allow-private-network', 'true'])
  return headers.flat()
}

function isTokenList(text: string): boolean {
  return text.split(',').every((name) => isToken(name.trim()))
}
