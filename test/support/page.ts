/**
 * A page in a browser: `fetch` as a script of the page has it. It does what the Fetch standard (sections
 * 3.3 and 4.8) asks of a browser for a request to another origin, over real sockets: a preflight where the
 * request needs one, the check of each answer, and no header of the answer that the page may not read.
 */
import { Readable } from 'node:stream'
import { openUnread, send, type WireAnswer } from './http-client.ts'

export interface Page {
  /** Rejects with a TypeError, whose cause says what the browser would write on its console. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The answers to all preflights so far. */
  readonly preflights: readonly WireAnswer[]
}

export function openPage(origin: string): Page {
  const preflights: WireAnswer[] = []
  async function preflight(request: Request, unsafeNames: readonly string[]): Promise<void> {
    const asked = unsafeNames.length === 0 ? {} : { [`${asks}-headers`]: unsafeNames.join(',') }
    const answer = await send(request.url, {
      method: 'OPTIONS',
      headers: { accept: '*/*', origin, [`${asks}-method`]: request.method, ...asked },
    })
    preflights.push(answer)
    checkOrigin(answer.headers, origin)
    if (answer.status < 200 || answer.status > 299) fail(`the preflight got ${answer.status}`)
    const methods = listOf(answer.headers[`${allows}-methods`])
    if (!isSafeMethod(request.method) && !methods.includes(request.method))
      fail(`${request.method} is not allowed`)
    const allowed = listOf(answer.headers[`${allows}-headers`]).map((name) => name.toLowerCase())
    for (const name of unsafeNames)
      if (!allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')))
        fail(`the header ${name} is not allowed`)
  }
  return {
    preflights,
    async fetch(input, init) {
      const request = new Request(input, init)
      const names = [...request.headers].filter(isUnsafe).map(([name]) => name)
      if (names.length > 0 || !isSafeMethod(request.method)) await preflight(request, names)
      const body = Buffer.from(await request.arrayBuffer())
      const answer = await openUnread(request.url, {
        method: request.method,
        headers: { ...Object.fromEntries(request.headers), origin },
        ...(body.length === 0 ? {} : { body }),
      })
      checkOrigin(answer.headers, origin)
      const status = answer.statusCode ?? 0
      const content = status === 204 ? null : (Readable.toWeb(answer) as ReadableStream)
      return new Response(content, { status, headers: readableHeaders(answer.headers) })
    },
  }
}

const asks = 'access-control-request'
const allows = 'access-control-allow'

type Headers = WireAnswer['headers']

function fail(why: string): never {
  throw new TypeError('Failed to fetch', { cause: why })
}

function checkOrigin(headers: Headers, origin: string): void {
  const allowed = headers[`${allows}-origin`]
  if (allowed !== '*' && allowed !== origin) fail(`the origin ${origin} is not allowed`)
}

function isSafeMethod(method: string): boolean {
  return ['GET', 'HEAD', 'POST'].includes(method)
}

const safeNames = ['accept', 'accept-language', 'content-language']
const safeTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

function isUnsafe([name, value]: readonly [name: string, value: string]): boolean {
  if (name === 'content-type') return !safeTypes.includes(value.split(';')[0] ?? '')
  return !safeNames.includes(name)
}

const shownNames = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]

function readableHeaders(headers: Headers): Record<string, string> {
  const exposed = listOf(headers['access-control-expose-headers'])
  const shown = [...shownNames, ...exposed.map((name) => name.toLowerCase())]
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => shown.includes(name))
      .map(([name, value]) => [name, String(value)]),
  )
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : String(value).split(/\s*,\s*/)
}
