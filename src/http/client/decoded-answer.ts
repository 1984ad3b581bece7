/**
 * Decodes an answer that comes compressed although the request asked for none, as some vendors' proxies send
 * it: the receiver gets the decoded bytes, and a head without the coding. Errors and unknown codings pass as
 * they came. Invariant: decoded bytes are bounded, in all and beside the received ones; an answer that
 * exceeds that or cannot be decoded fails as `protocol`.
 */
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import type { Fields } from '../wire/fields.ts'
import { copyOf } from '../wire/framing.ts'
import { codingOf, zstdWindowLogMax } from './content-encoding.ts'
import { ReceivedHead } from './round-trip.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHead,
  UpstreamReceiver,
  UpstreamRequest,
  UpstreamTarget,
} from './upstream.ts'

/** Text compresses to a tenth; repeated events, each flushed, to a fiftieth at most. */
const ratioMax = 100
/** An answer of up to this size has no limit of its ratio. */
const unratedBytesMax = 1_048_576

/** Sends a request like `Upstream.send`, for an answer of at most `bytesMax` decoded bytes. */
export function sendDecoding(
  upstream: Upstream,
  target: UpstreamTarget,
  request: UpstreamRequest,
  { receiver, bytesMax }: { readonly receiver: UpstreamReceiver; readonly bytesMax: number },
): UpstreamCall {
  const answer = new DecodedAnswer(receiver, bytesMax)
  answer.call = upstream.send(target, request, answer)
  return answer
}

class DecodedAnswer implements UpstreamReceiver, UpstreamCall {
  call: UpstreamCall | undefined
  /** Undefined as soon as the receiver may get no further call. */
  #receiver: UpstreamReceiver | undefined
  readonly #bytesMax: number
  #coding = ''
  #decoder: Transform | undefined
  #end: 'complete' | UpstreamFailure | undefined
  #receivedBytes = 0
  #decodedBytes = 0

  constructor(receiver: UpstreamReceiver, bytesMax: number) {
    this.#receiver = receiver
    this.#bytesMax = bytesMax
  }

  // --- UpstreamReceiver ---

  onHead(head: UpstreamHead): void {
    const coding = codingOf(head.header('content-encoding'))
    if (head.status > 299 || !decoders.has(coding)) {
      this.#receiver?.onHead(head)
      return
    }
    this.#coding = coding
    this.#receiver?.onHead(new ReceivedHead({ ...head, fields: withoutCoding(head.fields) }))
  }

  onBytes(bytes: Buffer, start: number, end: number): boolean {
    if (this.#coding === '') return this.#receiver?.onBytes(bytes, start, end) ?? true
    const chunk = copyOf(bytes, start, end)
    this.#receivedBytes += chunk.length
    this.#decoder ??= this.#open(chunk)
    return this.#decoder?.write(chunk) ?? true
  }

  onEnd(): void {
    this.#finish('complete')
  }

  onFailure(failure: UpstreamFailure): void {
    this.#finish(failure)
  }

  // --- UpstreamCall ---

  resume(): void {
    if (this.#decoder === undefined) this.call?.resume()
    else this.#decoder.resume()
  }

  abort(): void {
    this.#receiver = undefined
    this.#decoder?.destroy()
    this.call?.abort()
  }

  #open(first: Buffer): Transform | undefined {
    const decoder = decoders.get(this.#coding)?.(first)
    decoder?.on('data', (piece: Buffer) => this.#onDecoded(piece))
    decoder?.on('drain', () => this.call?.resume())
    // Once all is decoded and nothing waits for a receiver that has paused, the end comes at once.
    decoder?.on('finish', () => {
      if (decoder.readableLength === 0) this.#conclude()
    })
    decoder?.on('end', () => this.#conclude())
    decoder?.on('error', () => this.#fail())
    return decoder
  }

  #onDecoded(piece: Buffer): void {
    this.#decodedBytes += piece.length
    if (this.#decodedBytes > Math.max(unratedBytesMax, ratioMax * this.#receivedBytes)) {
      this.#fail()
      return
    }
    const isReady = this.#receiver?.onBytes(piece, 0, piece.length)
    // A receiver with the same bound has ended the call by now, and knows that the size was the reason.
    if (this.#decodedBytes > this.#bytesMax) this.#fail()
    else if (isReady === false) this.#decoder?.pause()
  }

  /** Decodes the received bytes first. */
  #finish(end: 'complete' | UpstreamFailure): void {
    this.#end = end
    if (this.#decoder === undefined) this.#conclude()
    else this.#decoder.end()
  }

  #conclude(): void {
    const receiver = this.#receiver
    const end = this.#end
    if (end === undefined) return
    this.#receiver = undefined
    if (end === 'complete') receiver?.onEnd()
    else receiver?.onFailure(end)
  }

  #fail(): void {
    const receiver = this.#receiver
    this.abort()
    receiver?.onFailure({ kind: 'protocol', isUnsent: false, isReusedConnection: false })
  }
}

/** The answer's length was that of the coded bytes. */
function withoutCoding(fields: Fields): Fields {
  const isKept = (index: number): boolean =>
    !fields.isNamed(index, 'content-encoding') && !fields.isNamed(index, 'content-length')
  return fields.filter(isKept)
}

/** The content shows whether the end is missing: the part before a cut must be passed on. */
const zlib = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotli = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}
const zstd = {
  flush: constants.ZSTD_e_flush,
  finishFlush: constants.ZSTD_e_flush,
  params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax },
}

const deflateMethod = 8

/** Opens a decoder for a content that begins with `first`. */
type OpenDecoder = (first: Buffer) => Transform

const decoders: ReadonlyMap<string, OpenDecoder> = new Map<string, OpenDecoder>([
  ['gzip', () => createGunzip(zlib)],
  ['x-gzip', () => createGunzip(zlib)],
  // Some servers send raw deflate data without the zlib header.
  ['deflate', (first: Buffer) => (isZlib(first) ? createInflate(zlib) : createInflateRaw(zlib))],
  ['br', () => createBrotliDecompress(brotli)],
  ['zstd', () => createZstdDecompress(zstd)],
])

function isZlib(first: Buffer): boolean {
  return ((first[0] ?? 0) & 0x0f) === deflateMethod
}
