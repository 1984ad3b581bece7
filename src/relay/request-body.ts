/**
 * The body of a request, for as long as another attempt may have to send it. A prompt can be
 * megabytes and the answer to it can run for many minutes; once something has been committed to, it
 * is never sent again, and what it was is of no interest but for its size.
 */
import { invariant } from '../base/errors.ts'

export class RequestBody {
  /** Its size, also after the bytes are gone. */
  readonly byteLength: number
  #bytes: Buffer | undefined

  constructor(bytes: Buffer) {
    this.byteLength = bytes.length
    this.#bytes = bytes
  }

  get bytes(): Buffer {
    invariant(this.#bytes !== undefined, 'a released body is not asked for')
    return this.#bytes
  }

  /** Lets the bytes go. Idempotent. */
  release(): void {
    this.#bytes = undefined
  }
}
