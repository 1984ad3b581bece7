/** Calls of the admin API as a browser with the console sends them: with its cookie and its headers. */
import { send, type WireAnswer } from './http-client.ts'

export type Headers = Readonly<Record<string, string>>

export interface BrowserSession {
  readonly adminUrl: string
  /** As a `Cookie` header sends it; empty before the sign-in. */
  readonly cookie: string
  /** What the console sends with each change. */
  readonly headers: Headers
  get(path: string, headers?: Headers): Promise<WireAnswer>
  /** Sends a change; `undefined` takes a header out. */
  change(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<WireAnswer>
}

/** Signs in; `more` are headers besides those of a browser. */
export function signIn(
  adminUrl: string,
  proof: object,
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<WireAnswer> {
  return send(`${adminUrl}/admin/v1/session`, {
    headers: present({
      origin: adminUrl,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      'x-turnpike-console': 'user',
      ...more,
    }),
    body: JSON.stringify(proof),
  })
}

/** The cookie of an answer, as a browser sends it back. */
export function cookieOf(answer: WireAnswer): string {
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

/** Signs in, and throws where that is refused. */
export async function openBrowser(
  adminUrl: string,
  proof: object,
  more: Headers = {},
): Promise<BrowserSession> {
  const answer = await signIn(adminUrl, proof, more)
  if (answer.status !== 200) throw new Error(answer.text)
  return browserWith(adminUrl, cookieOf(answer))
}

export function browserWith(adminUrl: string, cookie: string): BrowserSession {
  const headers = {
    cookie,
    origin: adminUrl,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    'x-turnpike-console': 'user',
  }
  return {
    adminUrl,
    cookie,
    headers,
    get: (path, more = {}) =>
      send(`${adminUrl}/admin/v1${path}`, {
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...more },
      }),
    change: (method, path, body, more = {}) =>
      send(`${adminUrl}/admin/v1${path}`, {
        method,
        headers: present({ ...headers, ...more }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
