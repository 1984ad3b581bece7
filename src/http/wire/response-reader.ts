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
import { parseFields, type Fields } from './fields.ts'

/** `malformed` is final. */
export type ResponseReading = 'more' | 'complete' | 'malformed'

/** Limit of interim answers before the final one. */
const interimMax = 16
/** The gateway never requests an upgrade. */
const switchStatus = 101
const firstLine = 'HTTP/1.'

const noBytes = Buffer.alloc(0)

export class ResponseReader {
  /** The head of the current answer; interim heads are skipped. */
  head: ResponseHead | undefined
  /** It came with the last piece. */
  hasNewHead = false
  /** All content of the last piece, from `start` to `end`. Valid until the next piece is read. */
  content: Buffer = noBytes
  start = 0
  end = 0
  /** Bytes followed the end of the answer. */
  hasLeftover = false
  readonly #heads: HeadReader
  #interimCount = 0
  #remaining = 0
  #chunks: ChunkedDecoder | undefined

  constructor(headBytesMax: number) {
    this.#heads = new HeadReader(headBytesMax)
  }

  /** Prepares for the answer to the next request. The previous one must be complete. */
  expect(): void {
    this.#interimCount = 0
    this.head = undefined
  }

  /** Reads the next piece, up to `to`. */
  read(piece: Buffer, to: number = piece.length): ResponseReading {
    this.hasNewHead = false
    this.#take(piece, 0, 0)
    if (this.head !== undefined) return this.#readBody(piece, 0, to)
    const heads = this.#heads
    const bytes = piece.subarray(0, to)
    for (let at = 0; ; at = heads.next) {
      const reading = heads.read(bytes, at)
      if (reading === 'more') return this.#mayBecomeHead() ? 'more' : 'malformed'
      if (reading !== 'whole') return 'malformed'
      const head = parseResponseHead(heads.text)
      if (head === undefined || head.status === switchStatus) return 'malformed'
      if (head.status >= 200) return this.#begin(head, bytes)
      if (++this.#interimCount > interimMax) return 'malformed'
      if (heads.next === to) return 'more'
    }
  }

  /** Call it when the connection has ended without an error. Returns whether that completes the answer. */
  isCompleteAtEnd(): boolean {
    return this.head?.framing.kind === 'close'
  }

  #begin(head: ResponseHead, piece: Buffer): ResponseReading {
    this.head = head
    this.hasNewHead = true
    const { framing } = head
    if (framing.kind === 'length') this.#remaining = framing.bytes
    else if (framing.kind === 'chunked') this.#chunks = new ChunkedDecoder()
    return this.#readBody(piece, this.#heads.next, piece.length)
  }

  #readBody(piece: Buffer, from: number, to: number): ResponseReading {
    const framing = this.head?.framing.kind
    if (framing === 'chunked') return this.#readChunks(piece, from, to)
    let end = to
    if (framing === 'length') end = Math.min(to, from + this.#remaining)
    else if (framing === 'none') end = from
    this.#remaining -= end - from
    this.#take(piece, from, end)
    if (framing === 'close' || (framing === 'length' && this.#remaining > 0)) return 'more'
    return this.#complete(end < to)
  }

  #readChunks(piece: Buffer, from: number, to: number): ResponseReading {
    const chunks = this.#chunks
    if (chunks === undefined) return 'malformed'
    const places = chunks.read(piece, from, to)
    if (places.length === 2) this.#take(piece, places[0] ?? 0, places[1] ?? 0)
    else {
      const copy = copyPlaces(piece, places) ?? noBytes
      this.#take(copy, 0, copy.length)
    }
    if (chunks.isBroken) return 'malformed'
    if (!chunks.isDone) return 'more'
    this.#chunks = undefined
    return this.#complete(chunks.next < to)
  }

  #take(content: Buffer, start: number, end: number): void {
    this.content = content
    this.start = start
    this.end = end
  }

  #complete(hasLeftover: boolean): ResponseReading {
    this.hasLeftover = hasLeftover
    return 'complete'
  }

  /** Bytes that are not HTTP are refused at once, not after a timeout. */
  #mayBecomeHead(): boolean {
    const beginning = this.#heads.beginning()
    return beginning.startsWith(firstLine) || firstLine.startsWith(beginning)
  }
}

export interface ResponseHead {
  readonly status: number
  readonly fields: Fields
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
  return { status, fields, framing, keepAliveMs: keepAlive(facts, isHttp11, framing) }
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
