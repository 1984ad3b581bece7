/**
 * The body of a request as it arrives: decoded by its framing, handed to whoever asks for it, and
 * kept until then. It knows no socket. Invariant: no byte behind the body is ever part of it, and
 * what is kept unasked is no more than what one read brought.
 */
import { ChunkedDecoder, copyPlaces } from './wire/chunked-decoder.ts'
import type { Framing } from './wire/framing.ts'

export interface BodyReceiver {
  onContent(content: Buffer): void
  onEnd(): void
  /** The client went away, or what it sent is no body. */
  onGone(): void
}

/** What the connection does for a body. */
export interface BodySource {
  pauseReading(): void
  resumeReading(): void
}

export class IncomingBody {
  /** Undefined where only its end will tell. */
  readonly announcedBytes: number | undefined
  readonly #source: BodySource
  readonly #chunks: ChunkedDecoder | undefined
  #remaining: number
  #arrived: Buffer[] = []
  #receiver: BodyReceiver | undefined
  #isComplete: boolean
  #isGone = false

  constructor(framing: Framing, source: BodySource) {
    this.#source = source
    this.#chunks = framing.kind === 'chunked' ? new ChunkedDecoder() : undefined
    this.#remaining = framing.kind === 'length' ? framing.bytes : 0
    this.announcedBytes = framing.kind === 'chunked' ? undefined : this.#remaining
    this.#isComplete = framing.kind === 'none'
  }

  /** Its last byte is here. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** It will never be complete. */
  get isGone(): boolean {
    return this.#isGone
  }

  get isBroken(): boolean {
    return this.#chunks?.isBroken === true
  }

  /** Everything that has arrived so far and has not been handed out. */
  takeArrived(): Buffer[] {
    const arrived = this.#arrived
    this.#arrived = []
    return arrived
  }

  /** Hands over what has arrived and all that will. */
  readInto(receiver: BodyReceiver): void {
    this.#receiver = receiver
    for (const content of this.takeArrived()) this.#receiver?.onContent(content)
    if (this.#isComplete) this.#receiver?.onEnd()
    else if (this.#isGone) this.#receiver?.onGone()
    else this.#source.resumeReading()
  }

  /** The receiver hears nothing more and nothing more is read. */
  stop(): void {
    this.#receiver = undefined
    this.#source.pauseReading()
  }

  /** Takes bytes from the connection; returns where those behind the body begin. */
  push(piece: Buffer, from: number): number {
    return this.#chunks === undefined
      ? this.#pushLength(piece, from)
      : this.#pushChunks(piece, from)
  }

  /** The connection has ended, or what comes on it can no longer be read. */
  onGone(): void {
    if (this.#isComplete || this.#isGone) return
    this.#isGone = true
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.onGone()
  }

  #pushLength(piece: Buffer, from: number): number {
    const end = Math.min(piece.length, from + this.#remaining)
    this.#remaining -= end - from
    this.#isComplete = this.#remaining === 0
    this.#onContent(from === 0 && end === piece.length ? piece : piece.subarray(from, end))
    return end
  }

  #pushChunks(piece: Buffer, from: number): number {
    const chunks = this.#chunks
    if (chunks === undefined) return from
    const content = copyPlaces(piece, chunks.read(piece, from))
    this.#isComplete = chunks.isDone
    if (content !== undefined || chunks.isDone) this.#onContent(content)
    return chunks.next
  }

  #onContent(content: Buffer | undefined): void {
    const receiver = this.#receiver
    if (receiver === undefined) {
      if (content !== undefined) this.#arrived.push(content)
      return
    }
    if (content !== undefined) receiver.onContent(content)
    if (this.#isComplete) this.#receiver?.onEnd()
  }
}
