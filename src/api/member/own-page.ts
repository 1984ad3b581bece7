/**
 * Decides whether a request with the cookie of a member comes from the account page itself, by headers that
 * pages cannot set, and reads and writes that cookie. The page is at the address of the setting `public_url`:
 * no `Host` header counts, so that no name of another site that leads here gets a session.
 */
import { refuse, type Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { cookieText, cookieValues } from '../admin/session-cookie.ts'

/** What the page says about each request: a person has caused it, or a timer. */
const causeHeader = 'x-turnpike-account'

export function isPerson(request: IncomingRequest): boolean {
  return request.header(causeHeader) === 'user'
}

export function isRead({ method }: IncomingRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Undefined where the account page itself sends it. */
export function refusalOfOtherPage(
  request: IncomingRequest,
  publicUrl: string,
): Refusal | undefined {
  const site = request.header('sec-fetch-site')
  if (isRead(request)) {
    // A person may type the address of a download; other pages get nothing.
    const isOwn = site === undefined || site === 'same-origin' || site === 'none'
    return isOwn ? undefined : crossSite('Another page has sent this request.')
  }
  const type = request.header('content-type') ?? ''
  const isPlain = (request.header('content-encoding') ?? 'identity') === 'identity'
  if (!isPlain || !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type)) return notJson
  if (request.header('origin') !== publicUrl)
    return crossSite(`Only the page at ${publicUrl}/account/ may send this.`)
  if (site !== undefined && site !== 'same-origin')
    return crossSite('Another page has sent this request.')
  const cause = request.header(causeHeader)
  if (cause === 'user' || cause === 'background') return undefined
  return crossSite(`The header ${causeHeader} must be "user" or "background".`)
}

const notJson = refuse(
  'http.unsupported_media_type',
  'Send content-type: application/json, also without a body, and no content-encoding.',
)

function crossSite(why: string): Refusal {
  return refuse('access.cross_site_request', why)
}

/** `session` has the rights of a member; `sign-in` is what a browser keeps between a link and its use. */
export type CookieKind = 'session' | 'sign-in'

const names: Readonly<Record<CookieKind, { readonly secure: string; readonly plain: string }>> = {
  session: { secure: '__Host-turnpike-member', plain: 'turnpike_member' },
  'sign-in': { secure: '__Host-turnpike-sign-in', plain: 'turnpike_sign_in' },
}

/** The cookies of one address. */
export class OwnCookies {
  readonly #isHttps: boolean

  constructor(publicUrl: string) {
    this.#isHttps = publicUrl.startsWith('https:')
  }

  /** Undefined for none, and for two. */
  read(request: IncomingRequest, kind: CookieKind): string | undefined {
    const values = cookieValues(request.header('cookie'), this.#nameOf(kind))
    return values.length === 1 ? values[0] : undefined
  }

  /** `lifeMs` is given for a cookie that outlives the browser's run or ends before it; 0 removes it. */
  print(kind: CookieKind, secret: string, lifeMs?: number): string {
    const end = lifeMs === undefined ? '' : `; Max-Age=${Math.floor(lifeMs / 1_000)}`
    return cookieText(this.#nameOf(kind), secret, { isSecure: this.#isHttps }) + end
  }

  #nameOf(kind: CookieKind): string {
    return this.#isHttps ? names[kind].secure : names[kind].plain
  }
}
