/**
 * The head of a request as a server reads it. Pure; it refuses whatever two programs in a row could
 * read differently: where the request ends, whom it is for, and which version it speaks.
 */
import { hasListMember, isNamed, parseFields } from './field-syntax.ts'
import { KnownNames } from './known-names.ts'
import { chunkedBody, noBody, parseLength, type Framing } from './framing.ts'

export interface RequestHead {
  readonly kind: 'head'
  readonly method: string
  /** As sent; printable ASCII. */
  readonly target: string
  readonly isHttp11: boolean
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  /** Never `close`: the body of a request has a length or chunks. */
  readonly framing: Framing
  /** The client means to send more requests on this connection. */
  readonly isKeptAlive: boolean
  /** The client sends the body only when asked for it by `100 Continue`. */
  readonly awaitsInvitation: boolean
}

export interface RequestFault {
  readonly kind: 'fault'
  readonly status: 400 | 405 | 408 | 417 | 431 | 505
  readonly message: string
}

const fieldsMax = 256
const usual = new KnownNames(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** Any other method there is or could be: that it is not served here is for the endpoint to say. */
const methodPattern = /^[A-Z][A-Z-]*$/
const targetPattern = /^[!-~]+$/
const versionPattern = /^HTTP\/\d\.\d$/

/** `text` is what a HeadReader gives. */
export function parseRequestHead(text: string): RequestHead | RequestFault {
  const lineEnd = text.indexOf('\r\n')
  const methodEnd = text.indexOf(' ')
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  if (methodEnd === -1 || targetEnd === -1 || targetEnd > lineEnd) return malformed
  const known = usual.find(text, 0, methodEnd)
  const method = known ?? text.slice(0, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  const isHttp11 = text.startsWith('HTTP/1.1\r\n', targetEnd + 1)
  if (!isHttp11 && !text.startsWith('HTTP/1.0\r\n', targetEnd + 1))
    return refuseVersion(text.slice(targetEnd + 1, lineEnd))
  const unserved = known === undefined ? findMethodFault(method) : undefined
  if (unserved !== undefined) return unserved
  if (!targetPattern.test(target)) return malformed
  const rawHeaders = parseFields(text, lineEnd + 2, fieldsMax)
  if (rawHeaders === 'too_many') return tooManyFields
  if (rawHeaders === 'malformed') return malformed

  const facts = readFacts(rawHeaders)
  const { connection } = facts
  const framing = readFraming(facts, isHttp11)
  const problem = findFault(facts, isHttp11)
  if (problem !== undefined) return problem
  if (framing === undefined) return badFraming
  const awaitsInvitation = isHttp11 && facts.expectation !== undefined
  if (awaitsInvitation && !isNamed(facts.expectation ?? '', '100-continue'))
    return fault(417, 'The expectation cannot be met.')
  const isKeptAlive = isHttp11
    ? connection === undefined || !hasListMember(connection, 'close')
    : connection !== undefined && hasListMember(connection, 'keep-alive')
  return {
    kind: 'head',
    method,
    target,
    isHttp11,
    rawHeaders,
    framing,
    isKeptAlive,
    awaitsInvitation,
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
  return versionPattern.test(version) ? fault(505, 'Speak HTTP/1.1.') : malformed
}

/** These two mean something else to a proxy on the way: nothing behind their heads is looked at. */
function findMethodFault(method: string): RequestFault | undefined {
  if (method === 'TRACE' || method === 'CONNECT') return fault(405, `${method} is not served here.`)
  return methodPattern.test(method) ? undefined : malformed
}

interface Facts {
  hostCount: number
  typeCount: number
  lengthCount: number
  length: string
  codingCount: number
  coding: string
  connection: string | undefined
  expectation: string | undefined
}

function readFacts(rawHeaders: readonly string[]): Facts {
  const facts: Facts = {
    hostCount: 0,
    typeCount: 0,
    lengthCount: 0,
    length: '',
    codingCount: 0,
    coding: '',
    connection: undefined,
    expectation: undefined,
  }
  for (let index = 0; index < rawHeaders.length; index += 2)
    noteField(facts, rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  return facts
}

/** Lengths first: comparing six strings per header costs more than looking at a number. */
function noteField(facts: Facts, name: string, value: string): void {
  switch (name.length) {
    case 4:
      if (isNamed(name, 'host')) facts.hostCount++
      break
    case 6:
      if (isNamed(name, 'expect')) facts.expectation = joined(facts.expectation, value)
      break
    case 10:
      if (isNamed(name, 'connection')) facts.connection = joined(facts.connection, value)
      break
    case 12:
      if (isNamed(name, 'content-type')) facts.typeCount++
      break
    case 14:
      if (!isNamed(name, 'content-length')) break
      facts.lengthCount++
      facts.length = value
      break
    case 17:
      if (!isNamed(name, 'transfer-encoding')) break
      facts.codingCount++
      facts.coding = value
      break
    default:
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`
}

function findFault(facts: Facts, isHttp11: boolean): RequestFault | undefined {
  if (facts.hostCount > 1) return fault(400, 'The request has more than one Host header.')
  if (facts.hostCount === 0 && isHttp11) return fault(400, 'The request has no Host header.')
  if (facts.typeCount > 1) return fault(400, 'The request has more than one Content-Type header.')
  return undefined
}

function readFraming(facts: Facts, isHttp11: boolean): Framing | undefined {
  const { lengthCount, codingCount } = facts
  if (lengthCount + codingCount === 0) return noBody
  if (lengthCount + codingCount > 1) return undefined
  if (codingCount === 1)
    return isHttp11 && isNamed(facts.coding, 'chunked') ? chunkedBody : undefined
  const bytes = parseLength(facts.length)
  if (bytes === undefined) return undefined
  return bytes === 0 ? noBody : { kind: 'length', bytes }
}
