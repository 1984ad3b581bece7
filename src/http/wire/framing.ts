/**
 * How the end of a message's body is found (RFC 9112 section 6), and the decoder of the chunked coding
 * (section 7.1). The decoder is strict: lines end in CRLF, a size is plain hexadecimal, extensions and
 * trailers are bounded, checked and dropped. Invariant: no byte of framing is taken for content or the
 * other way round, and no byte behind the end of the body is consumed.
 */
import { numberOf, otherName } from './field-names.ts'
import { hasListMember, isNamed, parseFields, type Fields } from './fields.ts'

export type Framing =
  /** There is no body. */
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** It ends where the connection ends. */
  | { readonly kind: 'close' }

export const noBody: Framing = { kind: 'none' }
export const untilClose: Framing = { kind: 'close' }
const chunkedBody: Framing = { kind: 'chunked' }

/** What the fields of a head state about its message and its connection. */
export interface HeadFacts {
  hostCount: number
  typeCount: number
  lengthCount: number
  length: string
  codingCount: number
  coding: string
  /** Several values are joined by commas. */
  connection: string | undefined
  expectation: string | undefined
  keepAlive: string | undefined
}

const host = numberOf('host')
const expect = numberOf('expect')
const connection = numberOf('connection')
const keepAlive = numberOf('keep-alive')
const contentType = numberOf('content-type')
const contentLength = numberOf('content-length')
const transferEncoding = numberOf('transfer-encoding')

export function readHeadFacts(fields: Fields): HeadFacts {
  const facts: HeadFacts = {
    hostCount: 0,
    typeCount: 0,
    lengthCount: 0,
    length: '',
    codingCount: 0,
    coding: '',
    connection: undefined,
    expectation: undefined,
    keepAlive: undefined,
  }
  const { numbers } = fields
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] ?? otherName
    if (number === otherName || number > transferEncoding) continue
    if (number === host) facts.hostCount++
    else if (number === contentType) facts.typeCount++
    else noteField(facts, number, fields.value(index))
  }
  return facts
}

function noteField(facts: HeadFacts, number: number, value: string): void {
  if (number === expect) facts.expectation = joined(facts.expectation, value)
  else if (number === connection) facts.connection = joined(facts.connection, value)
  else if (number === keepAlive) facts.keepAlive = value
  else if (number === contentLength) {
    facts.lengthCount++
    facts.length = value
  } else {
    facts.codingCount++
    facts.coding = value
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`
}

/** Returns `fallback` where nothing is stated; undefined where two programs could read it differently. */
export function readFraming(
  { lengthCount, length, codingCount, coding }: HeadFacts,
  isHttp11: boolean,
  fallback: Framing,
): Framing | undefined {
  if (lengthCount + codingCount === 0) return fallback
  if (lengthCount + codingCount > 1) return undefined
  if (codingCount === 1) return isHttp11 && isNamed(coding, 'chunked') ? chunkedBody : undefined
  if (!lengthPattern.test(length)) return undefined
  const bytes = Number(length)
  return bytes === 0 ? noBody : { kind: 'length', bytes }
}

/** Plain digits of an exact number. */
const lengthPattern = /^\d{1,15}$/

/** Returns whether the sender of a head keeps its connection open. */
export function isKeptAlive({ connection }: HeadFacts, isHttp11: boolean): boolean {
  if (connection !== undefined && hasListMember(connection, 'close')) return false
  return isHttp11 || (connection !== undefined && hasListMember(connection, 'keep-alive'))
}

const carriageReturn = 0x0d
const lineFeed = 0x0a
const semicolon = 0x3b
const space = 0x20
const tab = 0x09
const deleteCharacter = 0x7f

/** Digits of one size: 2^48 bytes are more than any body has, and exact as a number. */
const sizeDigitsMax = 12
const token = "[!#$%&'*+\\-.^_`|~\\w]+"
const quoted = '"(?:[\\t !\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"'
/** All extensions of a chunk, from the first semicolon on: names, each of which may have a value. */
const extensionsPattern = new RegExp(
  `^(?:;[\\t ]*${token}[\\t ]*(?:=[\\t ]*(?:${token}|${quoted})[\\t ]*)?)+$`,
)
/** Limits of all extensions of a message together, and of all its trailers. */
const extensionBytesMax = 16_384
const trailerBytesMax = 16_384
const trailerCountMax = 100

type State =
  /** In the digits of a size, or before the first one. */
  | 'size'
  | 'extension'
  /** Behind the CR of a size's line. */
  | 'size_end'
  | 'content'
  | 'content_end'
  | 'content_end_line'
  /** Behind the last chunk: trailers, if any, and the blank line. */
  | 'trailers'
  | 'done'
  | 'broken'

export class ChunkedDecoder {
  /** Once done: the offset behind the body in the last piece. */
  next = 0
  #state: State = 'size'
  #sizeDigits = 0
  /** The chunk's size while it is read, then the rest of its content. */
  #remaining = 0
  #extensionBytes = 0
  /** Of the present chunk. */
  #extensions = ''
  #trailers = ''
  readonly #places: number[] = []

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Final: the content read so far is valid, nothing more can be read. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /**
   * Reads the next piece. Returns where its content lies, as a flat list of starts and ends, which is valid
   * until the next piece is read.
   */
  read(piece: Buffer, from: number, to: number = piece.length): readonly number[] {
    const places = this.#places
    while (places.length > 0) places.pop()
    let at = from
    while (at < to && this.#state !== 'done' && this.#state !== 'broken') {
      if (this.#state !== 'content') {
        at = this.#readFraming(piece, at, to)
        continue
      }
      const end = Math.min(to, at + this.#remaining)
      places.push(at, end)
      this.#remaining -= end - at
      if (this.#remaining === 0) this.#state = 'content_end'
      at = end
    }
    this.next = at
    return places
  }

  /** Reads one byte of framing, or a line of trailers. Returns the next offset. */
  #readFraming(piece: Buffer, at: number, to: number): number {
    const byte = piece[at] ?? 0
    switch (this.#state) {
      case 'size':
        this.#readSize(byte)
        break
      case 'extension':
        this.#readExtension(byte)
        break
      case 'size_end':
        this.#expect(byte, lineFeed, this.#remaining > 0 ? 'content' : 'trailers')
        this.#sizeDigits = 0
        break
      case 'content_end':
        this.#expect(byte, carriageReturn, 'content_end_line')
        break
      case 'content_end_line':
        this.#expect(byte, lineFeed, 'size')
        break
      case 'trailers':
        return this.#readTrailers(piece, at, to)
      case 'content':
      case 'done':
      case 'broken':
    }
    return at + 1
  }

  #expect(byte: number, expected: number, next: State): void {
    this.#state = byte === expected ? next : 'broken'
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit !== -1) {
      this.#remaining = this.#remaining * 16 + digit
      if (++this.#sizeDigits > sizeDigitsMax) this.#state = 'broken'
    } else if (this.#sizeDigits === 0) this.#state = 'broken'
    else if (byte === carriageReturn) this.#state = 'size_end'
    else if (byte === semicolon) {
      this.#state = 'extension'
      this.#extensions = ';'
    } else this.#state = 'broken'
  }

  #readExtension(byte: number): void {
    if (byte === carriageReturn)
      this.#state = extensionsPattern.test(this.#extensions) ? 'size_end' : 'broken'
    else if ((byte < space && byte !== tab) || byte === deleteCharacter) this.#state = 'broken'
    else if (++this.#extensionBytes > extensionBytesMax) this.#state = 'broken'
    else this.#extensions += String.fromCharCode(byte)
  }

  /** Checks trailers line by line, like the fields of a head, and drops them. */
  #readTrailers(piece: Buffer, at: number, to: number): number {
    const lineEnd = piece.subarray(at, to).indexOf(lineFeed)
    const end = lineEnd === -1 ? to : at + lineEnd + 1
    if (this.#trailers.length + end - at > trailerBytesMax) {
      this.#state = 'broken'
      return end
    }
    this.#trailers += piece.toString('latin1', at, end)
    if (lineEnd === -1) return end
    if (this.#trailers === '\r\n') this.#state = 'done'
    else if (this.#trailers.endsWith('\n\r\n')) {
      const lines = this.#trailers.slice(0, -2)
      const fields = parseFields(lines, 0, trailerCountMax)
      this.#state = typeof fields === 'string' ? 'broken' : 'done'
    } else if (!this.#trailers.endsWith('\r\n')) this.#state = 'broken'
    return end
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lowerCase = byte | 0x20
  return lowerCase >= 0x61 && lowerCase <= 0x66 ? lowerCase - 0x57 : -1
}

/** Returns a copy of a part of bytes whose memory is used again. */
export function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start)
  bytes.copy(copy, 0, start, end)
  return copy
}

/** Returns a copy of the content at those places; undefined where there is none. */
export function copyPlaces(piece: Buffer, places: readonly number[]): Buffer | undefined {
  if (places.length === 0) return undefined
  let length = 0
  for (let index = 0; index < places.length; index += 2)
    length += (places[index + 1] ?? 0) - (places[index] ?? 0)
  const copy = Buffer.allocUnsafe(length)
  let at = 0
  for (let index = 0; index < places.length; index += 2)
    at += piece.copy(copy, at, places[index], places[index + 1])
  return copy
}
