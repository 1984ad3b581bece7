/**
 * Reads a request body into one Buffer, within a bound of bytes and of time. It looks at no byte of
 * it and answers nobody. Invariant: memory in use follows the bytes that have really arrived, never
 * what a client merely announces, and each byte is copied a bounded number of times.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { BodyReceiver, IncomingBody } from './incoming-body.ts'

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

/** Reads a body nobody has begun to read; at once where all of it is here. Never rejects. */
export function readBody(
  body: IncomingBody,
  limits: BodyLimits,
): BodyReading | Promise<BodyReading> {
  const { announcedBytes } = body
  if (announcedBytes !== undefined && announcedBytes > limits.bytesMax) return { kind: 'too_large' }
  // Often everything is here already by the time the caller is known: then no listener, no timer.
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

interface ReaderParts {
  readonly limits: BodyLimits
  readonly resolve: (reading: BodyReading) => void
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
    // Nothing before it and nothing to follow: it is the body, and nobody else holds it.
    if (this.#length === 0 && length === this.#body.announcedBytes) {
      this.#buffer = content
    } else {
      if (length > this.#buffer.length) this.#grow(length)
      content.copy(this.#buffer, this.#length)
    }
    this.#length = length
  }

  onEnd(): void {
    this.#settle({ kind: 'body', body: this.#buffer.subarray(0, this.#length) })
  }

  onGone(): void {
    this.#settle({ kind: 'client_gone' })
  }

  /** Doubling keeps the copying linear however small the chunks are. */
  #grow(neededBytes: number): void {
    const { limits } = this.#parts
    const { announcedBytes } = this.#body
    const wholeBytes = announcedBytes ?? limits.bytesMax
    const firstSize = announcedBytes === undefined ? firstBytes : trustedBytesMax
    const size = Math.min(wholeBytes, Math.max(neededBytes, firstSize, this.#buffer.length * 2))
    const grown = Buffer.allocUnsafeSlow(size)
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
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
