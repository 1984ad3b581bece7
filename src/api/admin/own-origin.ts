/**
 * Decides whether a request of a browser comes from the console itself, by headers that pages cannot set:
 * `Host`, `Origin` and `Sec-Fetch-Site`. Another site must not act with the cookie of an operator, and a name
 * of another site that leads to this machine (DNS rebinding) must not get one.
 */
import type { IncomingMessage } from 'node:http'
import { refuse, type Refusal } from '../../base/errors.ts'

/** What the console says about each request: a person has caused it, or a timer. */
const causeHeader = 'x-turnpike-console'

const https = 'https:'

export function isLoopback(host: string | undefined): boolean {
  return /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i.test(host ?? '')
}

export function isPerson({ headers }: IncomingMessage): boolean {
  return headers[causeHeader] === 'user'
}

/** Returns the refusal of a request with a cookie; undefined where the console itself sends it. */
export function refusalOfCrossSite(incoming: IncomingMessage): Refusal | undefined {
  const { headers, method = '' } = incoming
  const site = headers['sec-fetch-site']
  if (method === 'GET' || method === 'HEAD') {
    // A person may type the address of a download; other pages get nothing.
    const isOwn = site === undefined || site === 'same-origin' || site === 'none'
    return isOwn ? undefined : crossSite('Another page has sent this request.')
  }
  if (!isJson(headers['content-type'])) return notJson
  if (site !== undefined ? site !== 'same-origin' : !isOwnOrigin(headers))
    return crossSite('Another page has sent this request.')
  if (headers[causeHeader] !== 'user' && headers[causeHeader] !== 'background')
    return crossSite(`The header ${causeHeader} must be "user" or "background".`)
  return undefined
}

/**
 * Decides about a sign-in: whether its cookie is for https, or a refusal. Browsers send `Origin` with every
 * POST, and it says whether the page came over https, also where a proxy has ended TLS.
 */
export function judgeSignIn({ headers }: IncomingMessage): { readonly isHttps: boolean } | Refusal {
  if (!isJson(headers['content-type'])) return notJson
  const origin = readOrigin(headers.origin)
  if (origin === undefined)
    return crossSite(
      'Only the page of the console signs in. Programs send "Authorization: Bearer <token>" with each request.',
    )
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin')
    return crossSite('Another page has sent this request.')
  if (!isOwnOrigin(headers))
    return crossSite(
      `The page is at ${origin.host}, but the request came for ${headers.host ?? 'no host'}. A proxy must pass the Host header on.`,
    )
  const isHttps = origin.protocol === https
  return isHttps || isLoopback(headers.host) ? { isHttps } : httpsRequired(origin)
}

/** Names the port at which the page is open. */
function httpsRequired({ port, hostname }: URL): Refusal {
  const own = port === '' ? '80' : port
  return refuse(
    'access.https_required',
    `Sign in over https, or through an SSH tunnel: ssh -L ${own}:127.0.0.1:${own} ${hostname}, then open http://127.0.0.1:${own}/console/.`,
  )
}

const notJson = refuse(
  'http.unsupported_media_type',
  'Send content-type: application/json, also without a body.',
)

function crossSite(why: string): Refusal {
  return refuse('access.cross_site_request', why)
}

function isJson(type: string | undefined): boolean {
  return /^application\/json *(;|$)/i.test(type ?? '')
}

function isOwnOrigin({ origin, host }: IncomingMessage['headers']): boolean {
  return readOrigin(origin)?.host === host?.toLowerCase()
}

/** Undefined for none, and for the `null` of a page without an origin. */
function readOrigin(text: string | undefined): URL | undefined {
  const origin = text === undefined ? null : URL.parse(text)
  return origin?.protocol === https || origin?.protocol === 'http:' ? origin : undefined
}
