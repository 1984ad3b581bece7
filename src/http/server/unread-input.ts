/**
 * Bytes from a client that no request has read yet: the rest of a head, and requests ahead of answers.
 * Heads and bodies are read from here, in the order of their bytes. The connection
 * stops reading while it is full.
 */
import { headTooLarge, notHttp } from './reply.ts'
import type { IncomingBody } from './request.ts'
import { HeadReader } from '../wire/head-reader.ts'
import {
  mayBecomeRequest,
  parseRequestHead,
  requestStart,
  type RequestFault,
  type RequestHead,
} from '../wire/request-head.ts'

/** What a client may send ahead of its answers. */
const fullBytes = 16_384

const nothing = Buffer.alloc(0)

export class UnreadInput {
  readonly #headBytesMax: number
  readonly #heads: HeadReader
  #bytes: Buffer = nothing

  constructor(headBytesMax: number) {
    this.#headBytesMax = headBytesMax
    this.#heads = new HeadReader(headBytesMax)
  }

  /** Without the begun part of a head. */
  get length(): number {
    return this.#bytes.length
  }

  get isFull(): boolean {
    return this.#bytes.length > fullBytes
  }

  /** Part of a head has been read, but not all of it. */
  get hasBegunHead(): boolean {
    return this.#heads.hasBegun
  }

  /** Whether the bytes can be the beginning of a request. */
  get mayBecomeRequest(): boolean {
    return mayBecomeRequest(this.#bytes, this.#headBytesMax)
  }

  keep(piece: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece])
  }

  drop(): void {
    this.#bytes = nothing
  }

  /** Reads the next head; undefined where it is not complete. A fault is final. */
  readHead(): RequestHead | RequestFault | undefined {
    const piece = this.#bytes
    this.#bytes = nothing
    const reading = this.#heads.read(piece, this.#heads.hasBegun ? 0 : requestStart(piece))
    switch (reading) {
      case 'more':
        return undefined
      case 'too_large':
        return headTooLarge
      case 'malformed':
        return notHttp
      case 'whole':
        this.#keepFrom(piece, this.#heads.next)
        return parseRequestHead(this.#heads.text)
    }
  }

  /** Gives a body its bytes. */
  readInto(body: IncomingBody): void {
    this.#keepFrom(this.#bytes, body.push(this.#bytes, 0))
  }

  #keepFrom(piece: Buffer, at: number): void {
    this.#bytes = at < piece.length ? piece.subarray(at) : nothing
  }
}
