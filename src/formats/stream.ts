/**
 * The gate every stream passes through: cuts it into frames, shows each to the format's reader, and
 * lets the bytes go on as they came, but for a frame to be dropped and for everything from the
 * terminal event on, which is held. It knows no vendor's fields.
 *
 * Invariant: until an error event, what `push` and `end` returned, then what is held, then what is
 * still incomplete, is the input to the byte, less exactly the dropped frames. Only an error event has
 * bytes added, where its blank line is not whole.
 */
import { FrameSplitter, type FrameBytes } from '../http/sse.ts'
import type { MeterReading, StreamMeter, VendorError } from './format.ts'

/** A frame up to this size is kept until it is whole and then read. */
export const readableFrameBytesMax = 1024 * 1024
/** A larger one that need not be understood is passed on in parts, up to this size. */
export const passedFrameBytesMax = 64 * 1024 * 1024
/** Bytes from the terminal event on; a well-behaved vendor sends next to nothing there. */
export const heldBytesMax = 1024 * 1024

export type FrameFate = 'pass' | 'drop' | 'terminal'

/** What a format does with the frames of one stream. */
export interface FrameReader {
  /** Reads one whole frame. */
  read(frame: FrameBytes): FrameFate
  /** Whether a frame with this beginning may pass without being read whole. */
  mayPassUnread(beginning: FrameBytes): boolean
  /** Counts bytes of a frame that passes without being read. */
  noteUnread(bytes: number): void
  readonly hasStarted: boolean
  readonly error: VendorError | undefined
  readonly errorEnvelope: string | undefined
  reading(): MeterReading
}

/** A chunk from the first frame on that lies in it whole; what may pass on begins at `runStart`. */
interface ChunkPart {
  readonly chunk: Buffer
  readonly text: string
  readonly runStart: number
  readonly frameStart: number
}

const nothing: readonly Buffer[] = []
const byteOrderMark = '\u00ef\u00bb\u00bf'
const lineFeed = 0x0a

export class StreamGate implements StreamMeter {
  readonly #reader: FrameReader
  readonly #splitter = new FrameSplitter()
  readonly #carry = new Carry()
  #held: Buffer[] = []
  #heldBytes = 0
  #isTerminated = false
  #isOverflown = false
  #isFirstFrame = true
  #wasDropped = false
  /** Bytes of a too large frame that is being passed on in parts; 0 = none is. */
  #unreadBytes = 0

  constructor(reader: FrameReader) {
    this.#reader = reader
  }

  get hasStarted(): boolean {
    return this.#reader.hasStarted
  }

  get error(): VendorError | undefined {
    return this.#reader.error
  }

  get errorEnvelope(): string | undefined {
    return this.#reader.errorEnvelope
  }

  /** Nothing is read behind an error, so the last frame's fate is the error's. */
  get isErrorWithheld(): boolean {
    return this.#reader.error !== undefined && this.#wasDropped
  }

  get isTerminated(): boolean {
    return this.#isTerminated
  }

  get held(): readonly Buffer[] {
    return this.#held
  }

  get isOverflown(): boolean {
    return this.#isOverflown
  }

  reading(): MeterReading {
    return this.#reader.reading()
  }

  push(chunk: Buffer): readonly Buffer[] {
    if (chunk.length === 0 || this.#isOver) return nothing
    const text = chunk.toString('latin1')
    const isSecondHalf = this.#isSecondHalf(chunk)
    this.#splitter.open(text)
    const passed: Buffer[] = []
    let frameStart = isSecondHalf ? 1 : 0
    let runStart = isSecondHalf && this.#wasDropped ? 1 : 0
    if (this.#unreadBytes > 0) frameStart = runStart = this.#passOn(chunk, passed)
    else if (this.#carry.length > 0) frameStart = runStart = this.#finishCarried(chunk, passed)
    if (runStart < chunk.length && !this.#isOver) {
      this.#readFrames({ chunk, text, runStart, frameStart }, passed)
    }
    return passed
  }

  end(): readonly Buffer[] {
    if (this.#carry.length === 0 || this.#isOver) return nothing
    const passed: Buffer[] = []
    this.#readCarried(passed)
    return passed
  }

  /** Nothing that comes now is looked at or handed on any more. */
  get #isOver(): boolean {
    return this.#isOverflown || this.#reader.error !== undefined
  }

  /**
   * The chunk begins with the LF of a CRLF whose CR ended the last frame. That frame is gone, and
   * its last byte goes the same way without delay: some clients wait for it.
   */
  #isSecondHalf(chunk: Buffer): boolean {
    if (chunk[0] !== lineFeed || !this.#splitter.isAfterCarriageReturn) return false
    return this.#carry.length === 0 && this.#unreadBytes === 0
  }

  /** All frames that lie whole in the chunk; the rest is carried. */
  #readFrames({ chunk, text, ...from }: ChunkPart, passed: Buffer[]): void {
    let { runStart, frameStart } = from
    for (let end = this.#splitter.next(); end >= 0; end = this.#splitter.next()) {
      const fate = this.#readWhole({ bytes: chunk, text, start: frameStart, end })
      if (fate !== 'pass') {
        this.#emit(chunk, runStart, frameStart, passed)
        runStart = fate === 'drop' ? end : frameStart
      }
      if (fate === 'terminal') this.#isTerminated = true
      frameStart = end
      if (this.#isOver) break
    }
    this.#emit(chunk, runStart, frameStart, passed)
    if (this.#isOver) this.#closeError(passed)
    else if (frameStart < chunk.length) this.#carryOn(chunk, frameStart, passed)
  }

  /** The chunk goes on with a frame that began before it. Returns the offset behind that frame. */
  #finishCarried(chunk: Buffer, passed: Buffer[]): number {
    const end = this.#splitter.next()
    if (end < 0) {
      this.#carryOn(chunk, 0, passed)
      return chunk.length
    }
    this.#carry.append(chunk, 0, end)
    this.#readCarried(passed)
    return end
  }

  #readCarried(passed: Buffer[]): void {
    const frame = this.#carry.take()
    const text = frame.toString('latin1')
    const fate = this.#readWhole({ bytes: frame, text, start: 0, end: frame.length })
    if (fate === 'terminal') this.#isTerminated = true
    if (fate !== 'drop') this.#emit(frame, 0, frame.length, passed)
    if (this.#isOver) this.#closeError(passed)
  }

  /** Nothing follows an error that is shown: what its blank line lacks has to be written for the vendor. */
  #closeError(passed: Buffer[]): void {
    const last = passed.at(-1)
    if (this.#reader.error === undefined || this.#wasDropped || last === undefined) return
    const lacking = lackingOf(last.toString('latin1', Math.max(0, last.length - 3)))
    if (lacking !== '') passed.push(Buffer.from(lacking))
  }

  #readWhole(frame: FrameBytes): FrameFate {
    const fate = this.#readSized(frame)
    this.#wasDropped = fate === 'drop'
    return fate
  }

  #readSized(frame: FrameBytes): FrameFate {
    // Size decides and not how the bytes happened to be cut: else one stream could read in two ways.
    if (frame.end - frame.start > readableFrameBytesMax) {
      if (!this.#reader.mayPassUnread(frame)) this.#isOverflown = true
      else this.#reader.noteUnread(frame.end - frame.start)
      return 'pass'
    }
    if (!this.#isFirstFrame) return this.#reader.read(frame)
    this.#isFirstFrame = false
    const hasMark = frame.text.startsWith(byteOrderMark, frame.start)
    return this.#reader.read(hasMark ? { ...frame, start: frame.start + 3 } : frame)
  }

  #carryOn(chunk: Buffer, from: number, passed: Buffer[]): void {
    this.#carry.append(chunk, from, chunk.length)
    if (this.#carry.length <= readableFrameBytesMax) return
    const bytes = this.#carry.take()
    const beginning = { bytes, text: bytes.toString('latin1'), start: 0, end: bytes.length }
    if (!this.#reader.mayPassUnread(beginning)) {
      this.#isOverflown = true
      return
    }
    this.#wasDropped = false
    this.#unreadBytes = bytes.length
    this.#reader.noteUnread(bytes.length)
    this.#emit(bytes, 0, bytes.length, passed)
  }

  /** Passes on the next part of a too large frame. Returns the offset behind it. */
  #passOn(chunk: Buffer, passed: Buffer[]): number {
    const found = this.#splitter.next()
    const end = found < 0 ? chunk.length : found
    this.#unreadBytes += end
    this.#reader.noteUnread(end)
    if (this.#unreadBytes > passedFrameBytesMax) this.#isOverflown = true
    else this.#emit(chunk, 0, end, passed)
    if (found >= 0) this.#unreadBytes = 0
    return end
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

/**
 * What text with this end lacks of a blank line. A CR may be half of a CRLF: clients wait for the rest,
 * and an LF behind it ends no line of its own.
 */
function lackingOf(end: string): string {
  if (/\n\r?\n$/.test(end)) return ''
  return /(?:\n|[\r\n]\r)$/.test(end) ? '\n' : '\n\n'
}

const firstCapacity = 512

/** The bytes of an unfinished frame: one growing buffer, so that one-byte pieces cost no more. */
class Carry {
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

  /** Hands the bytes over; whoever takes them may keep them. */
  take(): Buffer {
    const bytes = this.#buffer?.subarray(0, this.#length) ?? Buffer.alloc(0)
    this.#buffer = undefined
    this.#length = 0
    return bytes
  }
}
