/**
 * The output of one answer, kept so that tokens can be estimated when no count arrives: the first part of its
 * text as bytes in one growing buffer (a list of small strings would cost many times as much memory), and the
 * size of all text and audio. It knows no frames and no vendors.
 */
import type { MeterReading } from './answer.ts'
import { asText } from './json.ts'
import { LongText } from './long-text.ts'

/** Enough for any estimate; the rest is extrapolated from `bytes`. */
export const outputTextBytesMax = 256 * 1024

/** A stream may have little text for long. */
const firstCapacity = 256

/** The reading of a whole answer without counts and without output. */
export const emptyReading: MeterReading = {
  usage: undefined,
  isFinal: true,
  isImplausible: false,
  hasOutput: false,
  isRefusal: false,
  output: { text: '', bytes: 0, audioBytes: 0 },
  webSearches: 0,
  model: undefined,
}

export class OutputText {
  /** Some output has been seen, with text or without. */
  hasOutput = false
  /** Texts added as strings, and the latest of them. */
  addedCount = 0
  latest = ''
  /** The first text, while there is no other: most whole answers have one, which needs no copy. */
  #first: string | undefined
  #buffer: Buffer | undefined
  #kept = 0
  #bytes = 0
  #audioBytes = 0
  #isFull = false

  /** UTF-8 bytes of everything added, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** Length of all audio added, as base64: an estimate needs no more. */
  get audioBytes(): number {
    return this.#audioBytes
  }

  /** The text kept so far. */
  get text(): string {
    if (this.#first !== undefined) return this.#first.toWellFormed()
    return this.#buffer === undefined ? '' : this.#buffer.toString('utf8', 0, this.#kept)
  }

  /** Adds a value of an answer where it is text. */
  addText(value: unknown): void {
    if (value instanceof LongText) this.#addLong(value)
    else if (typeof value !== 'string' || value === '') return
    else this.add(value)
    this.hasOutput = true
  }

  add(text: string): void {
    this.addedCount++
    this.latest = text
    const size = Buffer.byteLength(text)
    const length = this.#admit(size)
    if (this.#kept === 0 && length === size) {
      this.#first = text
      this.#kept = size
    } else if (length > 0) {
      // `write` never splits a character, so a cut-off piece stays valid UTF-8.
      this.#kept += this.#reserve(length).write(text, this.#kept, length)
    }
  }

  /** Adds UTF-8 bytes of `source`, for text without escapes. */
  addBytes(source: Buffer, start: number, end: number): void {
    const length = this.#admit(end - start)
    if (length === 0) return
    const until = characterStart(source, start + length)
    this.#kept += source.copy(this.#reserve(length), this.#kept, start, until)
  }

  /** Counts bytes whose text is not read. */
  addUnread(bytes: number): void {
    this.#bytes += bytes
  }

  addAudio(base64Length: number): void {
    this.#audioBytes += base64Length
  }

  /** Adds a value of an answer where it is audio as base64. */
  addAudioText(value: unknown): void {
    const length = value instanceof LongText ? value.bytes : (asText(value)?.length ?? 0)
    if (length === 0) return
    this.hasOutput = true
    this.addAudio(length)
  }

  /** Its beginning is kept where that leaves no gap. */
  #addLong({ text, bytes }: LongText): void {
    const length = Buffer.byteLength(text)
    if (length < outputTextBytesMax - this.#kept) return this.addUnread(bytes)
    this.add(text)
    this.addUnread(bytes - length)
  }

  /** Counts a piece and returns how much of it may be kept. After a cut nothing is: there are no gaps. */
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
    if (this.#first !== undefined) grown.write(this.#first)
    this.#first = undefined
    this.#buffer = grown
    return grown
  }
}

/** Returns the nearest offset at or before `at` that does not split a UTF-8 character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
