/**
 * Reads the answers on one connection, one at a time, from pieces of any size, and parses their heads. Pure
 * and strict about everything that decides where an answer ends. Invariant: an answer's content and end are
 * exactly what its framing states; bytes that belong to no answer are reported and never read.
 */
import {
  ChunkedDecoder,
  copyPlaces,
  isKeptAlive,
  noBody,
  readFraming,
  readHeadFacts,
  untilClose,
  type Framing,
  type HeadFacts,
} from './framing.ts'
import { HeadReader } from './head-reader.ts'
import { parseFields } from './field-syntax.ts'

/** What one piece contained, in the order of the fields. */
export interface ResponsePiece {
  /** The final head; interim heads are skipped. */
  readonly head: ResponseHead | undefined
  /** A copy of all content in it. */
  readonly content: Buffer | undefined
  readonly state: 'more' | 'complete' | 'malformed'
  /** Bytes followed the end of the answer. */
  readonly hasLeftover: boolean
}

/** Limit of interim answers before the final one. */
const interimMax = 16
/** The gateway never requests an upgrade. */
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

  /** The head of the current answer. */
  get head(): ResponseHead | undefined {
    return this.#head
  }

  /** Prepares for the answer to the next request. The previous one must be complete. */
  expect(): void {
    this.#interimCount = 0
    this.#head = undefined
  }

  /** Reads the next piece; the memory of `piece` may be reused afterwards. */
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

  /** Call it when the connection has ended without an error. Returns whether that completes the answer. */
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

  /** Bytes that are not HTTP are refused at once, not after a timeout. */
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

export interface ResponseHead {
  readonly status: number
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  readonly framing: Framing
  /** How long the connection may be used again after this answer; 0 = not at all, undefined = not stated. */
  readonly keepAliveMs: number | undefined
}

const fieldsMax = 256

/** Returns undefined for a malformed head. `text` comes from a HeadReader. */
function parseResponseHead(text: string): ResponseHead | undefined {
  const isHttp11 = text.startsWith('HTTP/1.1 ')
  if (!isHttp11 && !text.startsWith('HTTP/1.0 ')) return undefined
  const lineEnd = text.indexOf('\r\n')
  const status = readStatus(text, lineEnd)
  const fields = parseFields(text, lineEnd + 2, fieldsMax)
  if (status === undefined || typeof fields === 'string') return undefined

  const facts = readHeadFacts(fields)
  const stated = readFraming(facts, isHttp11, untilClose)
  if (stated === undefined) return undefined
  const isBodiless = status < 200 || status === 204 || status === 304
  const framing = isBodiless ? noBody : stated
  return { status, rawHeaders: fields, framing, keepAliveMs: keepAlive(facts, isHttp11, framing) }
}

const statusStart = 9
const statusPattern = /^[1-5]\d\d$/
const reasonPattern = /^(?: [\t\x20-\x7e\x80-\xff]*)?$/

function readStatus(text: string, lineEnd: number): number | undefined {
  if (text.startsWith('200 OK\r\n', statusStart)) return 200
  const code = text.slice(statusStart, statusStart + 3)
  if (!statusPattern.test(code)) return undefined
  return reasonPattern.test(text.slice(statusStart + 3, lineEnd)) ? Number(code) : undefined
}

function keepAlive(facts: HeadFacts, isHttp11: boolean, framing: Framing): number | undefined {
  if (framing.kind === 'close' || !isKeptAlive(facts, isHttp11)) return 0
  if (facts.keepAlive === undefined) return undefined
  const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(facts.keepAlive)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
