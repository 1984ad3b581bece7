/**
 * Reads the frames of one stream: what all formats have in common, and what each of them adds. It knows no
 * bytes but those of a frame, and decides nothing about what the client gets.
 */
import type { MeterReading, VendorError } from './answer.ts'
import type { EventFault } from './format.ts'
import { asObject, type JsonObject } from './json.ts'
import type { OutputText } from './output.ts'
import { RepeatedEvent } from './repeated-event.ts'
import type { FrameBytes } from './sse.ts'
import { namesVendorAccount, readVendorError, unreadableError } from './vendor-error.ts'

/**
 * Events that only say that the vendor works may have this number of bytes together: responses repeat long
 * instructions and tools in them. More of them commit the answer: before that they are kept in memory.
 */
const workingBytesMax = 512 * 1024
export type FrameFate = 'pass' | 'drop' | 'terminal'

/** Reads the frames of one stream for a format. An error event ends the stream. */
export abstract class FrameReader {
  /** Events that are neither ping nor error; of a frame that passes in parts its parts. */
  eventCount = 0
  /** Whole events have given the finish reason of the whole answer. */
  abstract readonly hasFinished: boolean
  error: VendorError | undefined
  /** The data of the error event, where it has the form of an error body. */
  errorEnvelope: string | undefined

  /** The output of the answer. */
  protected abstract readonly output: OutputText
  /** The event that is read now does no more than to add one text: another one like it need not be parsed. */
  protected mayRepeat = false
  readonly #repeated = new RepeatedEvent()
  #hasStarted = false
  #workingBytes = 0

  /** More has come than pings, errors and signs of work. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  protected begin(): void {
    this.#hasStarted = true
  }

  /** The event says that the vendor works, and no more: the answer has not begun. */
  protected noteWork({ start, end }: FrameBytes): void {
    this.#workingBytes += end - start
    if (this.#workingBytes > workingBytesMax) this.#hasStarted = true
  }

  /** Reads one whole frame. */
  read(frame: FrameBytes): FrameFate {
    const { output } = this
    if (this.#repeated.match(frame.bytes, frame.start, frame.end) === frame.end) {
      this.#noteRepeat(frame.bytes)
      return 'pass'
    }
    this.mayRepeat = false
    const { addedCount } = output
    const fate = this.parse(frame)
    if (this.mayRepeat && this.hasStarted && output.addedCount === addedCount + 1)
      this.#repeated.learn(frame, output.latest)
    else this.#repeated.forget()
    return fate
  }

  /** Reads the events at the beginning of these bytes that are like the last one; returns where they end. */
  readRepeats(bytes: Buffer, start: number, end: number): number {
    let at = start
    while (at < end) {
      const next = this.#repeated.match(bytes, at, end)
      if (next < 0) break
      this.#noteRepeat(bytes)
      at = next
    }
    return at
  }

  #noteRepeat(bytes: Buffer): void {
    const { textStart, textEnd, unescaped } = this.#repeated
    this.eventCount++
    if (unescaped !== undefined) this.output.add(unescaped)
    else this.output.addBytes(bytes, textStart, textEnd)
  }

  protected abstract parse(frame: FrameBytes): FrameFate
  /** Returns whether a frame with this beginning may pass without being read whole. */
  abstract mayPassUnread(beginning: FrameBytes): boolean
  /** The last bytes of a frame that passes in parts wait for its end: it may be the terminal one. */
  readonly holdsTail: boolean = false
  /** Takes note of a part of a frame that passes without being kept whole. */
  notePart(part: FrameBytes): void {
    this.#repeated.forget()
    this.readPart(part)
  }

  protected abstract readPart(part: FrameBytes): void
  /** Such a frame has ended. */
  finishParts(): FrameFate {
    return 'pass'
  }
  /** `isOver`: no count follows any more. */
  abstract reading(isOver: boolean): MeterReading
  protected abstract classifyEvent(error: VendorError): EventFault

  protected readErrorEvent(payload: JsonObject, data: string): FrameFate {
    this.error = readVendorError(payload)
    if (asObject(payload['error']) !== undefined) this.errorEnvelope = data
    // The client must not read anything about the operator's account.
    const { fault } = this.classifyEvent(this.error)
    const isOperators = namesVendorAccount(data) || fault === 'config' || fault === 'no_credit'
    return isOperators ? 'drop' : 'pass'
  }

  /**
   * Reads an end by which the vendor reports its own failure. Clients would take it for a good one, so it is
   * dropped and they get an error event.
   */
  protected readFailure(error: VendorError): FrameFate {
    this.error = error
    return 'drop'
  }

  /** Reads an event whose data is not JSON. */
  protected readUnparsable(event: string | undefined, data: string): FrameFate {
    if (event === 'error') {
      this.error = { type: undefined, code: undefined, message: data }
      return namesVendorAccount(data) ? 'drop' : 'pass'
    }
    if (!this.hasStarted) this.error = unreadableError
    return 'pass'
  }
}
