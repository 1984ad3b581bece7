/**
 * A well-formed request as the rest of the program sees it, and its body: decoded by its framing as it
 * arrives, kept until a receiver takes it, or read into one Buffer within a bound of bytes and of time. It
 * knows no socket. Invariants: no byte behind the body is part of it; memory in use follows the bytes that
 * have arrived, never what a client only announces.
 */
import { hasListMember, type Fields } from '../wire/fields.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { ChunkedDecoder, copyPlaces, type Framing } from '../wire/framing.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { Refusal } from '../../base/errors.ts'

/** The place of the request's connection among all of its listener. */
export interface RequestPlace {
  /** Too many connections are in use: only `/health` may be served on this one. */
  readonly isForHealthOnly: boolean
  /** The request has a valid key. */
  showKey(): void
}

export class IncomingRequest {
  readonly method: string
  /** The request target as sent. */
  readonly target: string
  readonly fields: Fields
  /** The client sends its body only after `100 Continue`. */
  readonly expectsContinue: boolean
  readonly body: IncomingBody
  /** As its connection shows it, or a trusted proxy says. */
  readonly clientAddress: string | undefined
  readonly place: RequestPlace
  readonly #isHttp11: boolean

  constructor(
    head: RequestHead,
    body: IncomingBody,
    from: { readonly address: string | undefined; readonly place: RequestPlace },
  ) {
    this.method = head.method
    this.target = head.target
    this.fields = head.fields
    this.expectsContinue = head.expectsContinue
    this.body = body
    this.clientAddress = from.address
    this.place = from.place
    this.#isHttp11 = head.isHttp11
  }

  /** The client wants to go on with the WebSocket protocol (RFC 6455 section 4.1). */
  get asksWebSocket(): boolean {
    if (this.method !== 'GET' || !this.#isHttp11) return false
    const hasMember = (name: string, member: string): boolean =>
      hasListMember(this.header(name) ?? '', member)
    return hasMember('upgrade', 'websocket') && hasMember('connection', 'upgrade')
  }

  /** Returns a header by its lower-case name; several values are joined by commas. */
  header(name: string): string | undefined {
    const { fields } = this
    const index = fields.indexOf(name)
    if (index === -1) return undefined
    return fields.indexOf(name, index + 1) === -1
      ? fields.value(index)
      : fields.values(name).join(', ')
  }
}

export interface BodyReceiver {
  onContent(content: Buffer): void
  onEnd(): void
  /** The client went away, or its bytes are not a valid body. */
  onGone(): void
}

/** Takes the rest of a body whose request has been answered. */
export const discardBody: BodyReceiver = {
  onContent: () => undefined,
  onEnd: () => undefined,
  onGone: () => undefined,
}

/** What a body needs of its connection. */
export interface BodySource {
  pauseReading(): void
  resumeReading(): void
}

export class IncomingBody {
  /** Undefined for a chunked body. */
  readonly announcedBytes: number | undefined
  readonly #source: BodySource
  readonly #chunks: ChunkedDecoder | undefined
  #remaining: number
  #arrived: Buffer[] = []
  #receiver: BodyReceiver | undefined
  #isComplete: boolean
  #isGone = false
  #isStopped = false

  constructor(framing: Framing, source: BodySource) {
    this.#source = source
    this.#chunks = framing.kind === 'chunked' ? new ChunkedDecoder() : undefined
    this.#remaining = framing.kind === 'length' ? framing.bytes : 0
    this.announcedBytes = framing.kind === 'chunked' ? undefined : this.#remaining
    this.#isComplete = framing.kind === 'none'
  }

  /** Its last byte has arrived. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** It will never be complete. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Its receiver has stopped, and nothing reads it any more. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  get isBroken(): boolean {
    return this.#chunks?.isBroken === true
  }

  /** Returns everything that has arrived and has not been taken. */
  takeArrived(): Buffer[] {
    const arrived = this.#arrived
    this.#arrived = []
    return arrived
  }

  /** Passes all bytes, those that have arrived included, to the receiver. */
  readInto(receiver: BodyReceiver): void {
    this.#receiver = receiver
    for (const content of this.takeArrived()) this.#receiver?.onContent(content)
    if (this.#isComplete) this.#receiver?.onEnd()
    else if (this.#isGone) this.#receiver?.onGone()
    else this.#source.resumeReading()
  }

  /** Stops reading; the receiver gets no further call. */
  stop(): void {
    this.#receiver = undefined
    this.#isStopped = true
    this.#source.pauseReading()
  }

  /** Takes bytes from the connection; returns the offset behind the body. */
  push(piece: Buffer, from: number): number {
    return this.#chunks === undefined
      ? this.#pushLength(piece, from)
      : this.#pushChunks(piece, from)
  }

  /** The connection has ended, or its bytes can no longer be read. */
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

export interface BodyLimits {
  readonly bytesMax: number
  /** For the rest of the body, from now on. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Takes room for more bytes of a body whose length was not announced, or refuses it. */
  readonly reserve?: (bytes: number) => Refusal | undefined
  /** Returns memory for a body of this size. */
  readonly allocate?: (bytes: number) => Buffer
}

export type BodyReading =
  | { readonly kind: 'body'; readonly body: Buffer }
  /** The rest is unread and reading is paused. */
  | { readonly kind: 'too_large' }
  /** There is no room for it; the rest is unread. */
  | Refusal
  | { readonly kind: 'timed_out' }
  /** The client went away before its body was complete. */
  | { readonly kind: 'client_gone' }

const firstBytes = 16_384

const empty = Buffer.alloc(0)

/** Reads a body from its beginning; returns at once where all of it has arrived. Never rejects. */
export function readBody(
  body: IncomingBody,
  limits: BodyLimits,
): BodyReading | Promise<BodyReading> {
  const { announcedBytes } = body
  if (announcedBytes !== undefined && announcedBytes > limits.bytesMax) return { kind: 'too_large' }
  // Usually everything has arrived by now: then no listener and no timer is needed.
  if (body.isComplete) return takeWhole(body, limits.bytesMax)
  return new Promise((resolve) => {
    new BodyReader(body, { limits, resolve }).start()
  })
}

function takeWhole(body: IncomingBody, bytesMax: number): BodyReading {
  const arrived = body.takeArrived()
  const whole = arrived.length > 1 ? Buffer.concat(arrived) : (arrived[0] ?? empty)
  return whole.length > bytesMax ? { kind: 'too_large' } : { kind: 'body', body: whole }
}

/**
 * Drops the rest of a body, within the limits of a body that is read. Resolves when it has arrived, or when
 * it will not. A client that waits for `100 Continue` has not sent it.
 */
export async function dropRest(
  { body, expectsContinue }: IncomingRequest,
  limits: BodyLimits,
): Promise<void> {
  const isTooLarge = (body.announcedBytes ?? 0) > limits.bytesMax
  const isEnded = body.isComplete || body.isGone || body.isStopped
  if (isEnded || expectsContinue || isTooLarge) return
  await new Promise<unknown>((resolve) => {
    new BodyReader(body, { limits, resolve, isDropped: true }).start()
  })
}

interface ReaderParts {
  readonly limits: BodyLimits
  readonly resolve: (reading: BodyReading) => void
  /** Nothing of the body is kept: the reading says no more than how it ended. */
  readonly isDropped?: boolean
}

class BodyReader implements BodyReceiver {
  readonly #body: IncomingBody
  readonly #parts: ReaderParts
  #buffer: Buffer = empty
  #length = 0
  #timer: Timer | undefined

  constructor(body: IncomingBody, parts: ReaderParts) {
    this.#body = body
    this.#parts = parts
  }

  start(): void {
    const { clock, timeoutMs } = this.#parts.limits
    this.#timer = clock.after(timeoutMs, () => this.#stop({ kind: 'timed_out' }))
    this.#body.readInto(this)
  }

  onContent(content: Buffer): void {
    const length = this.#length + content.length
    if (length > this.#parts.limits.bytesMax) {
      this.#stop({ kind: 'too_large' })
      return
    }
    const refusal = this.#parts.isDropped === true ? undefined : this.#keep(content, length)
    if (refusal === undefined) this.#length = length
    else this.#stop(refusal)
  }

  onEnd(): void {
    this.#settle({ kind: 'body', body: this.#buffer.subarray(0, this.#length) })
  }

  onGone(): void {
    this.#settle({ kind: 'client_gone' })
  }

  #keep(content: Buffer, length: number): Refusal | undefined {
    // This piece is the whole body, and no other code holds it: it needs no copy.
    if (this.#length === 0 && length === this.#body.announcedBytes) {
      this.#buffer = content
      return undefined
    }
    const refusal = length > this.#buffer.length ? this.#grow(length) : undefined
    if (refusal === undefined) content.copy(this.#buffer, this.#length)
    return refusal
  }

  /**
   * An announced length gets its memory at once, which the system provides as bytes arrive. Otherwise
   * doubling keeps the copying linear, however small the chunks are.
   */
  #grow(neededBytes: number): Refusal | undefined {
    const { bytesMax, reserve, allocate } = this.#parts.limits
    const doubled = Math.max(neededBytes, firstBytes, this.#buffer.length * 2)
    const size = this.#body.announcedBytes ?? Math.min(bytesMax, doubled)
    const refusal = this.#body.announcedBytes === undefined ? reserve?.(size) : undefined
    if (refusal !== undefined) return refusal
    const grown = allocate?.(size) ?? Buffer.allocUnsafeSlow(size)
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
    return undefined
  }

  #stop(reading: BodyReading): void {
    this.#body.stop()
    this.#settle(reading)
  }

  #settle(reading: BodyReading): void {
    this.#timer?.cancel()
    this.#parts.resolve(reading)
  }
}
