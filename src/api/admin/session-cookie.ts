/**
 * The cookie of a session. Over https its name has the prefix `__Host-`: a browser then keeps it for this
 * host and for https. On a loopback address without TLS it has a plain name, which counts for loopback names
 * only.
 */
import type { IncomingMessage } from 'node:http'
import { isLoopback } from './own-origin.ts'

export const secureCookie = '__Host-turnpike'
export const plainCookie = 'turnpike_console'

/** `oidc` is what a browser keeps while it is at an OpenID Connect provider. */
const names = {
  session: { secure: secureCookie, plain: plainCookie },
  oidc: { secure: '__Host-turnpike-oidc', plain: 'turnpike_console_oidc' },
} as const
type CookieKind = keyof typeof names

const attributes = 'Path=/; HttpOnly; SameSite=Strict'

/** Returns the text that sets a cookie; without an end it lasts as long as the browser. */
export function cookieText(
  name: string,
  secret: string,
  { isSecure }: { readonly isSecure: boolean },
): string {
  return `${name}=${secret}; ${attributes}${isSecure ? '; Secure' : ''}`
}

/** Without an end: it lasts as long as the browser, and the gateway decides when the session is over. */
export function printCookie(
  secret: string,
  { isHttps }: { readonly isHttps: boolean },
  kind: CookieKind = 'session',
): string {
  return cookieText(names[kind][isHttps ? 'secure' : 'plain'], secret, { isSecure: isHttps })
}

/** Removes the cookies that the request may have. */
export function printRemovals(): readonly string[] {
  return [
    `${secureCookie}=; ${attributes}; Secure; Max-Age=0`,
    `${plainCookie}=; ${attributes}; Max-Age=0`,
  ]
}

/** Returns the secret in the cookie that counts for this host; undefined for none, and for two. */
export function readCookie(
  { headers }: IncomingMessage,
  kind: CookieKind = 'session',
): string | undefined {
  const secure = cookieValues(headers.cookie, names[kind].secure)
  if (secure.length > 0) return secure.length === 1 ? secure[0] : undefined
  if (!isLoopback(headers.host)) return undefined
  const plain = cookieValues(headers.cookie, names[kind].plain)
  return plain.length === 1 ? plain[0] : undefined
}

/** Returns all values of this name in a `Cookie` header. */
export function cookieValues(cookies = '', name: string): readonly string[] {
  return cookies
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one.startsWith(`${name}=`))
    .map((one) => one.slice(name.length + 1))
}
