/**
 * Readings of an answer: the interface between a meter and the rest of the gateway. Pure, as format.ts.
 */
import type { AnswerOutput } from '../metering/delivered.ts'
import type { AnswerCounts } from '../metering/settlement.ts'

/** What a meter knows about an answer at a moment. */
export interface MeterReading extends AnswerCounts {
  readonly output: Required<AnswerOutput>
  readonly webSearches: number
  /** The answering model as the vendor names it, if it does. */
  readonly model: string | undefined
  /** Why the answer ended, by the vendor's words; of each choice one. Absent = unknown. */
  readonly finishReasons?: readonly string[] | undefined
  /** State that the vendor keeps of it, or that only its account can read. Absent = none. */
  readonly made?: readonly MadeState[]
}

/** An error event inside a stream, or an error body, as far as it can be read. */
export interface VendorError {
  readonly type: string | undefined
  readonly code: string | undefined
  readonly message: string | undefined
  /** The field of the request that it is about, as the vendor spells it. */
  readonly param?: string | undefined
  /** Its content is unknown. */
  readonly isUnread?: boolean
}

/**
 * Reads one streamed answer as its bytes pass and returns those that may go to the client at once. It never
 * changes a byte; it may drop one frame (the usage chunk that a chat client did not request), and it holds
 * the terminal event until the relay has made the charge durable.
 */
export interface StreamMeter {
  /**
   * Reads the events at the beginning of these bytes that are like the last one, and returns where they end:
   * so far all may go to the client. `push` takes a copy of the rest.
   */
  passRepeats(bytes: Buffer, start: number, end: number): number
  /**
   * Takes the next bytes and returns those that may go to the client now, in order (possibly the
   * same Buffer, possibly empty). Bytes of an unfinished frame are kept until it is complete, or until it
   * is too large to be a frame that the meter must read whole.
   */
  push(chunk: Buffer): readonly Buffer[]
  /**
   * The body has ended: reads an unterminated last frame and returns the rest. `isAnnounced`: it ended as its
   * framing said and not with its connection, so an answer with its finish reason is complete.
   */
  end(isAnnounced: boolean): readonly Buffer[]
  /** An event that is neither ping, error nor sign of work has been seen: the answer may be committed. */
  readonly hasStarted: boolean
  /** Grows with each event that is neither ping nor error; signs of work count. */
  readonly eventCount: number
  /**
   * The first error event, if any; a first event that cannot be read counts as one. Nothing after it is
   * read or returned; a missing part of its blank line has been added to the returned bytes.
   */
  readonly error: VendorError | undefined
  /** That event's data, where it has the form of the vendor's error bodies. */
  readonly errorEnvelope: string | undefined
  /** The error event is about the operator's account and was dropped: the client gets another one. */
  readonly isErrorWithheld: boolean
  /** The whole terminal event has arrived, or `end` has found the answer complete without it. */
  readonly isTerminated: boolean
  /**
   * The terminal event and everything behind it; empty before. A frame behind the terminal event is added
   * when it is whole, or by `end`. Without a terminal event: the unterminated last frame.
   */
  readonly held: readonly Buffer[]
  /** A part of a frame has been returned whose end is still to come. */
  readonly isInFrame: boolean
  /** A frame was larger than the meter's bound: the answer cannot be metered and is broken off. */
  readonly isOverflown: boolean
  reading(): MeterReading
}

/** The first and the last bytes of a large answer. */
export interface AnswerEdges {
  readonly beginning: Buffer
  readonly end: Buffer
}

/** A complete non-stream answer body. */
export type AnswerReading =
  | { readonly kind: 'answer'; readonly reading: MeterReading }
  /** The vendor says so in a body with status 200. */
  | { readonly kind: 'error'; readonly error: VendorError; readonly errorEnvelope?: string }
  | { readonly kind: 'not_the_format' }

/**
 * State of an earlier answer, which lives in the operator's vendor account: a stored response, one of its
 * output items, content that was encrypted for the client and that only its vendor account can read, or the
 * container in which the vendor has run code.
 */
export type StateKind = 'response' | 'item' | 'encrypted' | 'container'

/** Whether the vendor keeps such state only where it stores the answer. */
export function isStoredWithAnswer(kind: StateKind): boolean {
  return kind === 'response' || kind === 'item'
}

/** State that an answer has made. */
export interface MadeState {
  readonly kind: StateKind
  readonly id: string
}
