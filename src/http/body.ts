/**
 * Reads a request body into one Buffer, within a bound of bytes and of time. It looks at no byte of
 * it and answers nobody. Invariant: memory in use follows the bytes that have really arrived, never
 * what a client merely announces, and each byte is copied a bounded number of times.
 */
import type { IncomingMessage } from 'node:http'
import type { Clock, Timer } from '../base/clock.ts'

export interface BodyLimits {
  readonly bytesMax: number
  /** For the whole body, from now on. */
  readonly timeoutMs: number
  readonly clock: Clock
}

export type BodyReading =
  | { readonly kind: 'body'; readonly body: Buffer }
  /** The rest is unread and reading is paused. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'timed_out' }
  /** The client went away before its body was complete. */
  | { readonly kind: 'client_gone' }

/** A body announced up to this size gets its Buffer at once; a larger one has it grow as bytes come. */
const trustedBytesMax = 262_144
const firstBytes = 16_384

const empty = Buffer.alloc(0)

/** Reads the body of a request nobody has begun to read. Never rejects. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<BodyReading> {
  const announced = request.headers['content-length']
  const announcedBytes = announced === undefined ? undefined : Number(announced)
  if (announcedBytes !== undefined && announcedBytes > limits.bytesMax)
    return Promise.resolve({ kind: 'too_large' })
  // Often everything is here already by the time the caller is known: then no listener, no timer.
  if (request.complete && request.readableLength === announcedBytes) {
    return Promise.resolve({ kind: 'body', body: takeArrived(request, announcedBytes) })
  }
  if (request.destroyed) return Promise.resolve({ kind: 'client_gone' })
  return new Promise((resolve) => {
    new BodyReader(request, { announcedBytes, limits, resolve }).start()
  })
}

/** Everything a request holds already; `read` gives it chunk by chunk. */
function takeArrived(request: IncomingMessage, bytes: number): Buffer {
  const first = request.read() as Buffer | null
  if (first === null || first.length === bytes) return first ?? empty
  const chunks = [first]
  for (;;) {
    const chunk = request.read() as Buffer | null
    if (chunk === null) return Buffer.concat(chunks, bytes)
    chunks.push(chunk)
  }
}

interface ReaderParts {
  readonly announcedBytes: number | undefined
  readonly limits: BodyLimits
  readonly resolve: (reading: BodyReading) => void
}

class BodyReader {
  readonly #request: IncomingMessage
  readonly #parts: ReaderParts
  #buffer: Buffer = empty
  #length = 0
  #timer: Timer | undefined

  constructor(request: IncomingMessage, parts: ReaderParts) {
    this.#request = request
    this.#parts = parts
  }

  start(): void {
    const { clock, timeoutMs } = this.#parts.limits
    this.#timer = clock.after(timeoutMs, this.#onTimeout)
    this.#request.on('close', this.#onClose)
    this.#request.on('end', this.#onEnd)
    this.#request.on('data', this.#onData)
  }

  readonly #onData = (chunk: Buffer): void => {
    const length = this.#length + chunk.length
    if (length > this.#parts.limits.bytesMax) {
      this.#request.pause()
      this.#settle({ kind: 'too_large' })
      return
    }
    // Nothing before it and nothing to follow: the chunk is the body, and nobody else holds it.
    if (this.#length === 0 && length === this.#parts.announcedBytes) {
      this.#buffer = chunk
    } else {
      if (length > this.#buffer.length) this.#grow(length)
      chunk.copy(this.#buffer, this.#length)
    }
    this.#length = length
  }

  readonly #onEnd = (): void => {
    this.#settle({ kind: 'body', body: this.#buffer.subarray(0, this.#length) })
  }

  readonly #onClose = (): void => {
    this.#settle({ kind: 'client_gone' })
  }

  readonly #onTimeout = (): void => {
    this.#request.pause()
    this.#settle({ kind: 'timed_out' })
  }

  /** Doubling keeps the copying linear however small the chunks are. */
  #grow(neededBytes: number): void {
    const { announcedBytes, limits } = this.#parts
    const wholeBytes = announcedBytes ?? limits.bytesMax
    const firstSize = announcedBytes === undefined ? firstBytes : trustedBytesMax
    const size = Math.min(wholeBytes, Math.max(neededBytes, firstSize, this.#buffer.length * 2))
    const grown = Buffer.allocUnsafeSlow(size)
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }

  #settle(reading: BodyReading): void {
    this.#timer?.cancel()
    this.#request.off('close', this.#onClose)
    this.#request.off('end', this.#onEnd)
    this.#request.off('data', this.#onData)
    this.#parts.resolve(reading)
  }
}
