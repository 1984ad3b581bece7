/**
 * The output text of one answer, gathered so that tokens can be estimated when no count arrives, and
 * how much sound there was.
 * Keeps the first part as bytes in one growing buffer (a list of small strings would cost many
 * times its text); counts all of it. It knows nothing of frames or vendors.
 */

/** Enough for any estimate; what lies beyond is extrapolated from `bytes`. */
export const outputTextBytesMax = 256 * 1024

const firstCapacity = 1024

export class OutputText {
  #buffer: Buffer | undefined
  #kept = 0
  #bytes = 0
  #audioBytes = 0
  #isFull = false

  /** UTF-8 bytes of everything added, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** Length of all sound added, as base64: of sound its length tells all that an estimate needs. */
  get audioBytes(): number {
    return this.#audioBytes
  }

  /** The text kept so far. */
  get text(): string {
    return this.#buffer === undefined ? '' : this.#buffer.toString('utf8', 0, this.#kept)
  }

  add(text: string): void {
    const length = this.#admit(Buffer.byteLength(text))
    // `write` never splits a character, so a cut-off piece stays valid UTF-8.
    if (length > 0) this.#kept += this.#reserve(length).write(text, this.#kept, length)
  }

  /** Adds UTF-8 bytes as they stand in `source`, for text that needs no unescaping. */
  addBytes(source: Buffer, start: number, end: number): void {
    const length = this.#admit(end - start)
    if (length === 0) return
    const until = start + length === end ? end : characterStart(source, start + length)
    this.#kept += source.copy(this.#reserve(length), this.#kept, start, until)
  }

  /** Counts bytes whose text is not looked at. */
  addUnread(bytes: number): void {
    this.#bytes += bytes
  }

  addAudio(base64Length: number): void {
    this.#audioBytes += base64Length
  }

  /** Counts a piece and says how much of it may be kept. Behind a cut nothing is: no gaps. */
  #admit(size: number): number {
    this.#bytes += size
    if (this.#isFull) return 0
    const room = outputTextBytesMax - this.#kept
    this.#isFull = size > room
    return Math.min(size, room)
  }

  #reserve(more: number): Buffer {
    const needed = this.#kept + more
    if (this.#buffer !== undefined && this.#buffer.length >= needed) return this.#buffer
    let capacity = this.#buffer?.length ?? firstCapacity
    while (capacity < needed) capacity *= 2
    const grown = Buffer.allocUnsafe(capacity)
    this.#buffer?.copy(grown, 0, 0, this.#kept)
    this.#buffer = grown
    return grown
  }
}

/** The nearest offset at or before `at` that does not split a UTF-8 character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
