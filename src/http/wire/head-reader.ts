/**
 * Collects the head of a message from pieces of a connection: everything up to the first blank line.
 * Usually a head arrives in one piece and nothing is copied. Invariant: work is linear in the bytes,
 * however they are cut; memory is bounded by the limit; bytes that no head can contain are refused when
 * they arrive, not at the blank line.
 */

/** `malformed` and `too_large` are final. */
export type HeadReading = 'more' | 'whole' | 'too_large' | 'malformed'

const headEnd = Buffer.from('\r\n\r\n')
const firstBytes = 1_024
const lineFeed = 0x0a
const carriageReturn = 0x0d
const tab = 0x09
const space = 0x20
const deleteCharacter = 0x7f

export class HeadReader {
  /**
   * Once whole: the head with the end of its last line and without the blank line, one character per
   * byte.
   */
  text = ''
  /** Once whole: the offset behind the head in the last piece. */
  next = 0
  readonly #bytesMax: number
  #partial: Buffer | undefined
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Part of a head has arrived, but not all of it. */
  get hasBegun(): boolean {
    return this.#length > 0
  }

  /** Returns the arrived part of an unfinished head, to check its first line. */
  beginning(): string {
    return this.#partial === undefined ? '' : this.#partial.toString('latin1', 0, this.#length)
  }

  /** Takes the next piece from `from` on. After `whole` it is ready for the next head. */
  read(piece: Buffer, from: number): HeadReading {
    if (this.#length > 0) return this.#readOn(piece, from)
    const end = piece.indexOf(headEnd, from)
    if (end === -1 && piece.length - from < this.#bytesMax)
      return this.#keep(piece, from, piece.length)
    if (end === -1 || end + headEnd.length - from > this.#bytesMax) return 'too_large'
    this.text = piece.toString('latin1', from, end + 2)
    this.next = end + headEnd.length
    return 'whole'
  }

  #readOn(piece: Buffer, from: number): HeadReading {
    const before = this.#length
    const reading = this.#keep(piece, from, Math.min(piece.length, from + this.#bytesMax - before))
    const partial = this.#partial
    if (partial === undefined) return reading
    const end = partial.subarray(0, this.#length).indexOf(headEnd, Math.max(0, before - 3))
    if (end === -1) {
      if (reading === 'more' && this.#length === this.#bytesMax) return 'too_large'
      return reading
    }
    this.text = partial.toString('latin1', 0, end + 2)
    this.next = from + end + headEnd.length - before
    this.#partial = undefined
    this.#length = 0
    return 'whole'
  }

  #keep(piece: Buffer, from: number, to: number): HeadReading {
    const before = this.#length
    const length = before + to - from
    if (this.#partial === undefined || length > this.#partial.length) this.#grow(length)
    const partial = this.#partial
    if (partial === undefined) return 'more'
    piece.copy(partial, before, from, to)
    this.#length = length
    return hasOnlyHeadBytes(partial, before, length) ? 'more' : 'malformed'
  }

  /** Doubling keeps the copying linear, however small the pieces are. */
  #grow(neededBytes: number): void {
    const size = Math.max(neededBytes, firstBytes, 2 * this.#length)
    const grown = Buffer.allocUnsafeSlow(Math.min(size, Math.max(neededBytes, this.#bytesMax)))
    this.#partial?.copy(grown, 0, 0, this.#length)
    this.#partial = grown
  }
}

/**
 * Returns whether the bytes from `from` on can be part of a head: lines that end in CRLF, and no other
 * control character but the tab. Bytes behind a blank line are not checked.
 */
function hasOnlyHeadBytes(bytes: Buffer, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index] ?? 0
    if (byte === lineFeed) {
      if (index === 0 || bytes[index - 1] !== carriageReturn) return false
      if (index >= 3 && bytes[index - 2] === lineFeed) return true
    } else if (index > 0 && bytes[index - 1] === carriageReturn) return false
    else if (byte < space ? byte !== tab && byte !== carriageReturn : byte === deleteCharacter)
      return false
  }
  return true
}
