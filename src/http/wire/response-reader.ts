/**
 * Reads the answers that come on one connection, one at a time, out of whatever pieces the network
 * makes of them. Pure: bytes in, what they say out. Invariant: an answer's content and end are
 * exactly what its framing says; bytes that belong to no answer are reported and never read.
 */
import { ChunkedDecoder, copyPlaces } from './chunked-decoder.ts'
import { HeadReader } from './head-reader.ts'
import { parseResponseHead, type ResponseHead } from './response-head.ts'

/** What one piece brought, in the order of the fields. */
export interface ResponsePiece {
  /** The final head; interim ones are not shown. */
  readonly head: ResponseHead | undefined
  /** All content in it, in memory of its own. */
  readonly content: Buffer | undefined
  readonly state: 'more' | 'complete' | 'malformed'
  /** There were bytes behind the end of the answer. */
  readonly hasLeftover: boolean
}

/** Interim answers before the final one; more are a loop. */
const interimMax = 16
/** No upgrade is ever asked for. */
const switchStatus = 101
const firstLine = 'HTTP/1.'

export class ResponseReader {
  readonly #heads: HeadReader
  #interimCount = 0
  #head: ResponseHead | undefined
  #remaining = 0
  #chunks: ChunkedDecoder | undefined

  constructor(headBytesMax: number) {
    this.#heads = new HeadReader(headBytesMax)
  }

  /** The head of the answer under way. */
  get head(): ResponseHead | undefined {
    return this.#head
  }

  /** Makes ready for the answer to the next request. The one before must be complete. */
  expect(): void {
    this.#interimCount = 0
    this.#head = undefined
  }

  /** Takes the next piece; the memory of `piece` may be used again afterwards. */
  read(piece: Buffer): ResponsePiece {
    if (this.#head !== undefined) return this.#readBody(piece, 0, undefined)
    for (let at = 0; ; at = this.#heads.next) {
      const reading = this.#heads.read(piece, at)
      if (reading === 'more') return this.#mayBecomeHead() ? nothingYet : malformed
      if (reading !== 'whole') return malformed
      const head = parseResponseHead(this.#heads.text)
      if (head === undefined || head.status === switchStatus) return malformed
      if (head.status >= 200) return this.#begin(head, piece, this.#heads.next)
      if (++this.#interimCount > interimMax) return malformed
      if (this.#heads.next === piece.length) return nothingYet
    }
  }

  /** The connection has ended in order. True where that completes the answer. */
  end(): boolean {
    return this.#head !== undefined && this.#head.framing.kind === 'close'
  }

  #begin(head: ResponseHead, piece: Buffer, at: number): ResponsePiece {
    this.#head = head
    const { framing } = head
    if (framing.kind === 'length') this.#remaining = framing.bytes
    else if (framing.kind === 'chunked') this.#chunks = new ChunkedDecoder()
    return this.#readBody(piece, at, head)
  }

  #readBody(piece: Buffer, at: number, head: ResponseHead | undefined): ResponsePiece {
    const framing = this.#head?.framing.kind ?? 'none'
    if (framing === 'chunked') return this.#readChunks(piece, at, head)
    if (framing === 'none')
      return { head, content: undefined, state: 'complete', hasLeftover: at < piece.length }
    if (framing === 'close')
      return { head, content: copyOf(piece, at, piece.length), state: 'more', hasLeftover: false }
    const end = Math.min(piece.length, at + this.#remaining)
    this.#remaining -= end - at
    return {
      head,
      content: copyOf(piece, at, end),
      state: this.#remaining === 0 ? 'complete' : 'more',
      hasLeftover: end < piece.length,
    }
  }

  #readChunks(piece: Buffer, at: number, head: ResponseHead | undefined): ResponsePiece {
    const chunks = this.#chunks
    if (chunks === undefined) return malformed
    const content = copyPlaces(piece, chunks.read(piece, at))
    if (chunks.isBroken) return { head, content, state: 'malformed', hasLeftover: false }
    if (!chunks.isDone) return { head, content, state: 'more', hasLeftover: false }
    this.#chunks = undefined
    return { head, content, state: 'complete', hasLeftover: chunks.next < piece.length }
  }

  /** What is no HTTP at all is told from its first bytes, and not when a time limit is over. */
  #mayBecomeHead(): boolean {
    const beginning = this.#heads.beginning()
    return beginning.startsWith(firstLine) || firstLine.startsWith(beginning)
  }
}

const nothingYet: ResponsePiece = {
  head: undefined,
  content: undefined,
  state: 'more',
  hasLeftover: false,
}
const malformed: ResponsePiece = { ...nothingYet, state: 'malformed' }

function copyOf(piece: Buffer, from: number, to: number): Buffer | undefined {
  if (from === to) return undefined
  const copy = Buffer.allocUnsafe(to - from)
  piece.copy(copy, 0, from, to)
  return copy
}
