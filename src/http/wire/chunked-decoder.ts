/**
 * Reads a body in the chunked coding (RFC 9112 section 7.1), in whatever pieces it comes. Strict:
 * lines end in CRLF, a size is plain hexadecimal, extensions and trailers are bounded, checked and
 * dropped. Invariant: no byte of framing is ever taken for content nor the other way round, and
 * nothing behind the end of the body is consumed.
 */
import { parseFields } from './field-syntax.ts'

const carriageReturn = 0x0d
const lineFeed = 0x0a
const semicolon = 0x3b
const space = 0x20
const tab = 0x09
const deleteCharacter = 0x7f

/** Of one size; 2^48 bytes are more than any body has, and exact as a number. */
const sizeDigitsMax = 12
/** Of all extensions of a message together, of all its trailers, and how many trailers. */
const extensionBytesMax = 16_384
const trailerBytesMax = 16_384
const trailerCountMax = 100

type State =
  /** In the digits of a size, of which there may be none yet. */
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
  /** Where in the last piece the bytes behind the body begin, once it is done. */
  next = 0
  #state: State = 'size'
  #sizeDigits = 0
  /** Of the chunk: its size while that is read, then what is left of its content. */
  #remaining = 0
  #extensionBytes = 0
  #trailers = ''

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Final: what has been read so far stands, nothing more can. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /**
   * Takes the next piece from `from` on and gives the places of content in it, as a flat list of
   * starts and ends.
   */
  read(piece: Buffer, from: number): number[] {
    const places: number[] = []
    let at = from
    while (at < piece.length && this.#state !== 'done' && this.#state !== 'broken') {
      if (this.#state !== 'content') {
        at = this.#readFraming(piece, at)
        continue
      }
      const end = Math.min(piece.length, at + this.#remaining)
      places.push(at, end)
      this.#remaining -= end - at
      if (this.#remaining === 0) this.#state = 'content_end'
      at = end
    }
    this.next = at
    return places
  }

  /** One byte of framing, or a line's worth. Returns where to go on. */
  #readFraming(piece: Buffer, at: number): number {
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
        return this.#readTrailers(piece, at)
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
    else this.#state = byte === semicolon ? 'extension' : 'broken'
  }

  #readExtension(byte: number): void {
    if (byte === carriageReturn) this.#state = 'size_end'
    else if ((byte < space && byte !== tab) || byte === deleteCharacter) this.#state = 'broken'
    else if (++this.#extensionBytes > extensionBytesMax) this.#state = 'broken'
  }

  /** Trailers are looked at line by line, like the fields of a head, and forgotten. */
  #readTrailers(piece: Buffer, at: number): number {
    const lineEnd = piece.indexOf(lineFeed, at)
    const end = lineEnd === -1 ? piece.length : lineEnd + 1
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

/** The content at those places in memory of its own; undefined where there is none. */
export function copyPlaces(piece: Buffer, places: readonly number[]): Buffer | undefined {
  let length = 0
  for (let index = 0; index < places.length; index += 2)
    length += (places[index + 1] ?? 0) - (places[index] ?? 0)
  if (length === 0) return undefined
  const copy = Buffer.allocUnsafe(length)
  let at = 0
  for (let index = 0; index < places.length; index += 2)
    at += piece.copy(copy, at, places[index], places[index + 1])
  return copy
}
