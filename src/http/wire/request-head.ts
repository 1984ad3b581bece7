/**
 * Parses the head of a request. Pure. It refuses everything that two programs in a row could read
 * differently: where the request ends, which host it is for, and which version it has.
 */
import { isNamed, parseFields, type Fields } from './fields.ts'
import {
  isKeptAlive,
  noBody,
  readFraming,
  readHeadFacts,
  type Framing,
  type HeadFacts,
} from './framing.ts'
import { HeadReader } from './head-reader.ts'

export interface RequestHead {
  readonly kind: 'head'
  readonly method: string
  /** As sent; printable ASCII. */
  readonly target: string
  readonly isHttp11: boolean
  readonly fields: Fields
  /** Never `close`: the body of a request has a length or chunks. */
  readonly framing: Framing
  /** The client wants to send more requests on this connection. */
  readonly isKeptAlive: boolean
  /** The client sends the body only after `100 Continue`. */
  readonly expectsContinue: boolean
}

export interface RequestFault {
  readonly kind: 'fault'
  readonly status: 400 | 405 | 408 | 417 | 431 | 505
  readonly message: string
}

const carriageReturn = 0x0d
const lineFeed = 0x0a

/** Returns where a request begins: old clients sent one empty line behind a body. */
export function requestStart(piece: Buffer): number {
  return piece[0] === carriageReturn && piece[1] === lineFeed ? 2 : 0
}

/** Returns false for bytes that no further bytes can turn into a request. */
export function mayBecomeRequest(piece: Buffer, headBytesMax: number): boolean {
  if (piece.length === 0) return true
  const heads = new HeadReader(headBytesMax)
  const reading = heads.read(piece, requestStart(piece))
  if (reading === 'more') return true
  return reading === 'whole' && parseRequestHead(heads.text).kind === 'head'
}

const fieldsMax = 256
const usual: readonly string[] = ['POST', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH']
/** Any other possible method: the router refuses those that no endpoint serves. */
const methodPattern = /^[A-Z][A-Z-]*$/
const targetPattern = /^[!-~]+$/
const versionPattern = /^HTTP\/\d\.\d$/

/** `text` comes from a HeadReader. */
export function parseRequestHead(text: string): RequestHead | RequestFault {
  const lineEnd = text.indexOf('\r\n')
  const methodEnd = text.indexOf(' ')
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  if (methodEnd === -1 || targetEnd === -1 || targetEnd > lineEnd) return malformed
  const known = usual.find((one) => one.length === methodEnd && text.startsWith(one))
  const method = known ?? text.slice(0, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  const isHttp11 = text.startsWith('HTTP/1.1\r\n', targetEnd + 1)
  if (!isHttp11 && !text.startsWith('HTTP/1.0\r\n', targetEnd + 1))
    return refuseVersion(text.slice(targetEnd + 1, lineEnd))
  const unserved = known === undefined ? findMethodFault(method) : undefined
  if (unserved !== undefined) return unserved
  if (!targetPattern.test(target)) return malformed
  const fields = parseFields(text, lineEnd + 2, fieldsMax)
  if (fields === 'too_many') return tooManyFields
  if (fields === 'malformed') return malformed

  const facts = readHeadFacts(fields)
  const framing = readFraming(facts, isHttp11, noBody)
  const problem = findFault(facts, isHttp11)
  if (problem !== undefined) return problem
  if (framing === undefined) return badFraming
  const expectsContinue = isHttp11 && facts.expectation !== undefined
  if (expectsContinue && !isNamed(facts.expectation ?? '', '100-continue'))
    return fault(417, 'The expectation cannot be met.')
  return {
    kind: 'head',
    method,
    target,
    isHttp11,
    fields,
    framing,
    isKeptAlive: isKeptAlive(facts, isHttp11),
    expectsContinue,
  }
}

function fault(status: RequestFault['status'], message: string): RequestFault {
  return { kind: 'fault', status, message }
}

const malformed = fault(400, 'This is not a well-formed HTTP/1.1 request.')
const tooManyFields = fault(431, `The request has more than ${fieldsMax} headers.`)
const badFraming = fault(
  400,
  'The request states its length in a way that could be read differently elsewhere.',
)

function refuseVersion(version: string): RequestFault {
  return versionPattern.test(version) ? fault(505, 'Use HTTP/1.1.') : malformed
}

/** These two have another meaning for a proxy on the way: nothing behind their heads is read. */
function findMethodFault(method: string): RequestFault | undefined {
  if (method === 'TRACE' || method === 'CONNECT') return fault(405, `${method} is not served here.`)
  return methodPattern.test(method) ? undefined : malformed
}

function findFault(facts: HeadFacts, isHttp11: boolean): RequestFault | undefined {
  if (facts.hostCount > 1) return fault(400, 'The request has more than one Host header.')
  if (facts.hostCount === 0 && isHttp11) return fault(400, 'The request has no Host header.')
  if (facts.typeCount > 1) return fault(400, 'The request has more than one Content-Type header.')
  return undefined
}
