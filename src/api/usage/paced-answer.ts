/**
 * Writes an answer at the pace of its client, so that a client that reads nothing keeps one small piece in
 * memory. Invariant: an answer looks complete only after `end`; one that cannot go on is broken off.
 */
import type { AnswerWatcher, ResponseWriter } from '../../http/server/response-writer.ts'

const pieceBytesMax = 65_536

/** Ends the work for a client that has gone, or that asked for the head only. */
class NotWanted extends Error {}

export interface PacedAnswerParts {
  readonly response: ResponseWriter
  /** Flat name, value list. */
  readonly headers: readonly string[]
  readonly isHeadRequest: boolean
}

export class PacedAnswer implements AnswerWatcher {
  readonly #parts: PacedAnswerParts
  #drained: PromiseWithResolvers<void> | undefined

  constructor(parts: PacedAnswerParts) {
    this.#parts = parts
    parts.response.watcher = this
  }

  onGone(): void {
    this.#drained?.resolve()
  }

  onDrain(): void {
    this.#drained?.resolve()
  }

  /** Sends bytes in several pieces. Resolves when more may follow, and rejects where no more is wanted. */
  async writeBytes(bytes: Buffer): Promise<void> {
    if (this.#parts.isHeadRequest) throw new NotWanted('only the head was asked for')
    for (let start = 0; start < bytes.length; start += pieceBytesMax)
      await this.#send(bytes.subarray(start, start + pieceBytesMax))
  }

  end(): void {
    this.#begin()
    this.#parts.response.end()
  }

  /**
   * Call it when writing or the work for it has failed. Returns whether that is no fault: the client has
   * gone, or has its head. Otherwise an answer that has begun is broken off.
   */
  fail(error: unknown): boolean {
    const { response } = this.#parts
    if (response.isGone) return true
    if (error instanceof NotWanted) {
      this.#begin()
      // The framing of the head is that of an answer in pieces.
      response.write([Buffer.from(' ')])
      response.end()
      return true
    }
    if (response.isHeadWritten) response.breakOff()
    return false
  }

  async #send(bytes: Buffer): Promise<void> {
    const { response } = this.#parts
    if (response.isGone) throw new NotWanted('the client has gone')
    this.#begin()
    if (response.write([bytes])) return
    this.#drained = Promise.withResolvers()
    await this.#drained.promise
    this.#drained = undefined
  }

  #begin(): void {
    const { response, headers } = this.#parts
    if (!response.isHeadWritten) response.writeHead(200, headers)
  }
}
