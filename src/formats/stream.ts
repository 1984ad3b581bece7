/**
 * Splits every stream into frames, passes each to the format's reader, and returns the bytes unchanged,
 * except for dropped frames and for everything from the terminal event on, which is held. An answer that has
 * its finish reason needs no terminal event where its body ends as announced. It knows no vendor's fields.
 *
 * Invariant until an error event: the output of `push` and `end`, then the held part, then the part that is
 * still incomplete, equals the input byte for byte without the dropped frames. Bytes are added only to an
 * error event whose blank line is incomplete.
 */
import type { MeterReading, StreamMeter, VendorError } from './answer.ts'
import type { FrameFate, FrameReader } from './frame-reader.ts'
import { FrameSplitter, type FrameBytes } from './sse.ts'

/** A frame up to this size is kept until it is whole and then read. */
export const readableFrameBytesMax = 1024 * 1024
/** A larger one that need not be read is passed on in parts, up to this size. */
export const passedFrameBytesMax = 64 * 1024 * 1024
/** Bytes from the terminal event on; vendors send very few there. */
export const heldBytesMax = 1024 * 1024
/** The held end of a terminal event that passes in parts: without it no client can read the event. */
const tailBytes = 1024

/** A chunk from its first whole frame on; bytes that may pass begin at `runStart`. */
interface ChunkPart {
  readonly chunk: Buffer
  readonly text: string
  readonly runStart: number
  readonly frameStart: number
}

const nothing: readonly Buffer[] = []
const emptyBuffer = Buffer.alloc(0)
const byteOrderMark = '\u00ef\u00bb\u00bf'
const lineFeed = 0x0a

export class StreamGate implements StreamMeter {
  readonly #reader: FrameReader
  readonly #splitter = new FrameSplitter()
  readonly #partial = new PartialFrame()
  #held: Buffer[] = []
  #heldBytes = 0
  #isTerminated = false
  #isOverflown = false
  #isFirstFrame = true
  #wasDropped = false
  /** Bytes of a too large frame that passes in parts; 0 = there is none. */
  #unreadBytes = 0
  /** The last bytes of its last part. */
  #tail: Buffer = emptyBuffer

  constructor(reader: FrameReader) {
    this.#reader = reader
  }

  get hasStarted(): boolean {
    return this.#reader.hasStarted
  }

  get eventCount(): number {
    return this.#reader.eventCount
  }

  get error(): VendorError | undefined {
    return this.#reader.error
  }

  get errorEnvelope(): string | undefined {
    return this.#reader.errorEnvelope
  }

  /** Nothing is read behind an error, so the last frame is the error's. */
  get isErrorWithheld(): boolean {
    return this.#reader.error !== undefined && this.#wasDropped
  }

  get isTerminated(): boolean {
    return this.#isTerminated
  }

  get held(): readonly Buffer[] {
    return this.#held
  }

  get isInFrame(): boolean {
    return this.#unreadBytes > 0
  }

  get isOverflown(): boolean {
    return this.#isOverflown
  }

  reading(): MeterReading {
    return this.#reader.reading(this.#isTerminated)
  }

  passRepeats(bytes: Buffer, start: number, end: number): number {
    const isBetweenFrames = this.#partial.length === 0 && this.#unreadBytes === 0
    if (!isBetweenFrames || this.#isTerminated || this.#isOver) return start
    if (this.#splitter.isAfterCarriageReturn) return start
    const at = this.#reader.readRepeats(bytes, start, end)
    if (at > start) this.#wasDropped = false
    return at
  }

  push(chunk: Buffer): readonly Buffer[] {
    if (chunk.length === 0 || this.#isOver) return nothing
    const text = chunk.toString('latin1')
    const isSecondHalf = this.#isSecondHalf(chunk)
    this.#splitter.open(text)
    const passed: Buffer[] = []
    let frameStart = isSecondHalf ? 1 : 0
    let runStart = isSecondHalf && this.#wasDropped ? 1 : 0
    if (this.#unreadBytes > 0) frameStart = runStart = this.#passOn(chunk, text, passed)
    else if (this.#partial.length > 0) frameStart = runStart = this.#finishPartial(chunk, passed)
    if (runStart < chunk.length && !this.#isOver) {
      this.#readFrames({ chunk, text, runStart, frameStart }, passed)
    }
    return passed
  }

  end(isAnnounced: boolean): readonly Buffer[] {
    if (this.#isOver) return nothing
    // Clients ignore an event without its blank line, so a finish reason in the last frame does not count.
    const isAnswered = isAnnounced && this.#reader.hasFinished
    const passed: Buffer[] = []
    if (this.#partial.length > 0) this.#readPartial(passed, isAnswered)
    else if (isAnswered) this.#isTerminated = true
    return passed
  }

  /** Nothing is read or passed on any more. */
  get #isOver(): boolean {
    return this.#isOverflown || this.#reader.error !== undefined
  }

  /**
   * The chunk begins with the LF of a CRLF whose CR ended the last frame. That frame has been passed on, and
   * its last byte follows without delay: some clients wait for it.
   */
  #isSecondHalf(chunk: Buffer): boolean {
    if (chunk[0] !== lineFeed || !this.#splitter.isAfterCarriageReturn) return false
    return this.#partial.length === 0 && this.#unreadBytes === 0
  }

  /** Reads all whole frames of the chunk; the rest is kept. */
  #readFrames({ chunk, text, ...from }: ChunkPart, passed: Buffer[]): void {
    let { runStart, frameStart } = from
    for (let end = this.#splitter.next(); end >= 0; end = this.#splitter.next()) {
      const fate = this.#readWhole({ bytes: chunk, text, start: frameStart, end })
      if (fate !== 'pass') {
        const holdStart = fate === 'drop' ? frameStart : holdStartOf(frameStart, end)
        this.#emit(chunk, runStart, holdStart, passed)
        runStart = fate === 'drop' ? end : holdStart
      }
      if (fate === 'terminal') this.#isTerminated = true
      frameStart = end
      if (this.#isOver) break
    }
    this.#emit(chunk, runStart, frameStart, passed)
    if (this.#isOver) this.#closeError(passed)
    else if (frameStart < chunk.length) this.#keepPartial(chunk, frameStart, passed)
  }

  /** Completes a frame that began in an earlier chunk. Returns the offset behind that frame. */
  #finishPartial(chunk: Buffer, passed: Buffer[]): number {
    const end = this.#splitter.next()
    if (end < 0) {
      this.#keepPartial(chunk, 0, passed)
      return chunk.length
    }
    this.#partial.append(chunk, 0, end)
    this.#readPartial(passed, false)
    return end
  }

  /** `isAnswered`: the answer is complete with these bytes, unless they are an error. */
  #readPartial(passed: Buffer[], isAnswered: boolean): void {
    const frame = this.#partial.take()
    const text = frame.toString('latin1')
    const fate = this.#readWhole({ bytes: frame, text, start: 0, end: frame.length })
    let from = 0
    if (fate === 'terminal') {
      from = holdStartOf(0, frame.length)
      this.#emit(frame, 0, from, passed)
    }
    if (fate === 'terminal' || (isAnswered && !this.#isOver)) this.#isTerminated = true
    if (fate !== 'drop') this.#emit(frame, from, frame.length, passed)
    if (this.#isOver) this.#closeError(passed)
  }

  /** Completes the blank line of an error event that passes: nothing follows it. */
  #closeError(passed: Buffer[]): void {
    const last = passed.at(-1)
    if (this.#reader.error === undefined || this.#wasDropped || last === undefined) return
    const missing = missingLineEnd(last.toString('latin1', Math.max(0, last.length - 3)))
    if (missing !== '') passed.push(Buffer.from(missing))
  }

  #readWhole(frame: FrameBytes): FrameFate {
    const fate = this.#readSized(frame)
    this.#wasDropped = fate === 'drop'
    return fate
  }

  #readSized(frame: FrameBytes): FrameFate {
    // The size decides, not how the bytes were cut: otherwise one stream could be read in two ways.
    if (frame.end - frame.start > readableFrameBytesMax) {
      if (this.#reader.mayPassUnread(frame)) {
        this.#reader.notePart(frame)
        return this.#reader.finishParts()
      }
      this.#isOverflown = true
      return 'pass'
    }
    if (!this.#isFirstFrame) return this.#reader.read(frame)
    this.#isFirstFrame = false
    const hasMark = frame.text.startsWith(byteOrderMark, frame.start)
    return this.#reader.read(hasMark ? { ...frame, start: frame.start + 3 } : frame)
  }

  #keepPartial(chunk: Buffer, from: number, passed: Buffer[]): void {
    this.#partial.append(chunk, from, chunk.length)
    if (this.#partial.length <= readableFrameBytesMax) return
    const bytes = this.#partial.take()
    const beginning = { bytes, text: bytes.toString('latin1'), start: 0, end: bytes.length }
    if (!this.#reader.mayPassUnread(beginning)) {
      this.#isOverflown = true
      return
    }
    this.#wasDropped = false
    this.#unreadBytes = bytes.length
    this.#reader.notePart(beginning)
    this.#emitPart(bytes, false, passed)
  }

  /** Passes the next part of a too large frame. Returns the offset behind it. */
  #passOn(chunk: Buffer, text: string, passed: Buffer[]): number {
    const found = this.#splitter.next()
    const end = found < 0 ? chunk.length : found
    this.#unreadBytes += end
    this.#reader.notePart({ bytes: chunk, text, start: 0, end })
    if (this.#unreadBytes > passedFrameBytesMax) this.#isOverflown = true
    else this.#emitPart(chunk.subarray(0, end), found >= 0, passed)
    if (found >= 0) this.#unreadBytes = 0
    return end
  }

  #emitPart(part: Buffer, isLast: boolean, passed: Buffer[]): void {
    if (!this.#reader.holdsTail) {
      this.#emit(part, 0, part.length, passed)
      return
    }
    const bytes = this.#tail.length === 0 ? part : Buffer.concat([this.#tail, part])
    const fate = isLast ? this.#reader.finishParts() : 'terminal'
    const isTerminal = isLast && fate === 'terminal'
    const from = fate === 'pass' ? bytes.length : Math.max(0, bytes.length - tailBytes)
    this.#emit(bytes, 0, from, passed)
    this.#tail = isLast ? emptyBuffer : Buffer.from(bytes.subarray(from))
    if (isTerminal) {
      this.#isTerminated = true
      this.#emit(bytes, from, bytes.length, passed)
    }
    this.#wasDropped = fate === 'drop'
    if (isLast && this.#isOver) this.#closeError(passed)
  }

  #emit(bytes: Buffer, start: number, end: number, passed: Buffer[]): void {
    if (start >= end || this.#isOverflown) return
    const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
    if (!this.#isTerminated) {
      passed.push(part)
      return
    }
    this.#held.push(part)
    this.#heldBytes += part.length
    if (this.#heldBytes > heldBytesMax) this.#isOverflown = true
  }
}

/** Returns where the held part of a terminal frame begins. */
function holdStartOf(start: number, end: number): number {
  return end - start > readableFrameBytesMax ? end - tailBytes : start
}

/**
 * Returns what text with this end needs to end in a blank line. A CR may be half of a CRLF: clients wait for
 * the rest, and an LF behind it does not end another line.
 */
function missingLineEnd(end: string): string {
  if (/\n\r?\n$/.test(end)) return ''
  return /(?:\n|[\r\n]\r)$/.test(end) ? '\n' : '\n\n'
}

const firstCapacity = 512

/** The bytes of an unfinished frame in one growing buffer, so that one-byte pieces stay cheap. */
class PartialFrame {
  #buffer: Buffer | undefined
  #length = 0

  get length(): number {
    return this.#length
  }

  append(source: Buffer, start: number, end: number): void {
    const needed = this.#length + (end - start)
    let capacity = this.#buffer?.length ?? firstCapacity
    while (capacity < needed) capacity *= 2
    if (this.#buffer === undefined || capacity > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(capacity)
      this.#buffer?.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    source.copy(this.#buffer, this.#length, start, end)
    this.#length = needed
  }

  /** Returns the bytes, which the caller may keep, and starts again. */
  take(): Buffer {
    const bytes = this.#buffer?.subarray(0, this.#length) ?? Buffer.alloc(0)
    this.#buffer = undefined
    this.#length = 0
    return bytes
  }
}
