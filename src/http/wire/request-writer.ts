/**
 * Writes a request of ours as bytes, in one piece where it is small. Pure. Invariant: nothing handed
 * in can end a header, the head or the body early, and the length stated is the length sent.
 */
import { isFieldValue, isToken } from './field-syntax.ts'

export interface RequestToWrite {
  readonly method: 'GET' | 'POST'
  /** Origin form. */
  readonly target: string
  /** Value of the `Host` header. */
  readonly host: string
  /** Flat name, value list, without host and without anything about framing or the connection. */
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
}

/** These are the writer's own business, or would promise what it does not do. */
const ownNames = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const ownNameLengths = new Set([...ownNames].map((name) => name.length))

const targetPattern = /^\/[!-~]*$/
const hostPattern = /^[!-~]+$/

/** The head as text, a character per byte; undefined where it could not be read as it was meant. */
export function requestHead(request: RequestToWrite): string | undefined {
  const { method, target, host, headers, body } = request
  if (!targetPattern.test(target) || !hostPattern.test(host)) return undefined
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1]
    if (value === undefined || !isToken(name) || !isFieldValue(value) || isOwn(name))
      return undefined
    text += `${name}: ${value}\r\n`
  }
  if (body !== undefined || method === 'POST') text += `content-length: ${body?.length ?? 0}\r\n`
  return text + '\r\n'
}

function isOwn(name: string): boolean {
  return ownNameLengths.has(name.length) && ownNames.has(name.toLowerCase())
}
