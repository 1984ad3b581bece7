/**
 * Writes the bytes of an answer's body and counts them: chunks, compression, and a cut or a stall at
 * an exact byte. Knows nothing of events. Counts and digest are of the compressed bytes.
 */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { constants, createGzip } from 'node:zlib'
import type { Gzip } from 'node:zlib'
import { seededRandom } from '../src/base/random.ts'
import type { Random } from '../src/base/random.ts'
import type { Directives } from './directives.ts'
import type { OpenRecord } from './served-record.ts'

export interface BodyWriterOptions {
  readonly response: ServerResponse
  readonly record: OpenRecord
  readonly directives: Directives
  /** Resolves when the exchange has ended. */
  readonly closed: Promise<void>
  /** The byte after which the body is cut or nothing more is sent, counted from the start. */
  readonly cutAt: number | undefined
  readonly stallAt: number | undefined
  readonly keepsBodies: boolean
}

const randomChunkMax = 64

export class BodyWriter {
  readonly #options: BodyWriterOptions
  readonly #hash: Hash = createHash('sha256')
  readonly #kept: Buffer[] = []
  readonly #random: Random
  readonly #gzip: Gzip | undefined
  #zipped: Buffer[] = []

  constructor(options: BodyWriterOptions) {
    this.#options = options
    this.#random = seededRandom(options.directives.seed ?? 1)
    if (options.directives.gzip === true) {
      this.#gzip = createGzip()
      this.#gzip.on('data', (chunk: Buffer) => this.#zipped.push(chunk))
    }
  }

  /** Writes one frame. Returns false when the answer ends there. */
  async write(text: string): Promise<boolean> {
    const bytes = Buffer.from(text)
    return this.#writeBytes(this.#gzip === undefined ? bytes : await this.#compress(bytes))
  }

  /** Ends the body cleanly. */
  async end(): Promise<void> {
    if (this.#gzip !== undefined && !(await this.#writeBytes(await this.#finishGzip()))) return
    this.#options.response.end()
  }

  /** Cuts the body here, in the way that the directives ask for. */
  async breakOff(): Promise<void> {
    const { response, record, directives } = this.#options
    if (directives.cutAs === 'end' || directives.truncatedJson === true) {
      response.end()
      return
    }
    record.closedBy = 'sandbox'
    // The socket must send what was written before it is destroyed, or the cut would be too early.
    await this.#flushed()
    if (directives.cutAs === 'reset') response.socket?.resetAndDestroy()
    else response.destroy()
  }

  /** Completes digest and body in the record. Call it once, when the exchange has ended. */
  seal(): void {
    const { record, keepsBodies } = this.#options
    record.responseDigest = this.#hash.digest('hex')
    if (keepsBodies) record.responseBody = Buffer.concat(this.#kept)
  }

  async #writeBytes(bytes: Buffer): Promise<boolean> {
    const { record, cutAt, stallAt, closed } = this.#options
    const end = record.responseBytes + bytes.length
    const stopAt = Math.min(cutAt ?? Infinity, stallAt ?? Infinity)
    const isStopped = stopAt <= end
    await this.#writeChunks(isStopped ? bytes.subarray(0, stopAt - record.responseBytes) : bytes)
    if (!isStopped) return !this.#options.response.destroyed
    if (stopAt === cutAt) await this.breakOff()
    else await closed
    return false
  }

  async #writeChunks(bytes: Buffer): Promise<void> {
    const { chunking } = this.#options.directives
    if (chunking !== 'byte' && chunking !== 'random') return this.#writeChunk(bytes)
    for (let start = 0; start < bytes.length;) {
      const size = chunking === 'byte' ? 1 : 1 + Math.floor(this.#random() * randomChunkMax)
      await this.#writeChunk(bytes.subarray(start, start + size))
      // One turn of the event loop for each chunk makes each chunk a separate write to the socket.
      await new Promise<void>((resolve) => setImmediate(resolve))
      start += size
    }
  }

  async #writeChunk(bytes: Buffer): Promise<void> {
    const { response, record, keepsBodies } = this.#options
    if (bytes.length === 0 || response.destroyed) return
    record.responseBytes += bytes.length
    this.#hash.update(bytes)
    if (keepsBodies) this.#kept.push(bytes)
    if (!response.write(bytes)) await whenDrained(response)
  }

  async #flushed(): Promise<void> {
    const { response, closed } = this.#options
    await new Promise<void>((resolve) => setImmediate(resolve))
    const { socket } = response
    if (socket === null || socket.destroyed) return
    // An empty write completes when the operating system has everything that was written before.
    await Promise.race([new Promise((resolve) => socket.write('', resolve)), closed])
  }

  async #compress(bytes: Buffer): Promise<Buffer> {
    const gzip = this.#gzip
    await new Promise<void>((resolve) => {
      gzip?.write(bytes)
      gzip?.flush(constants.Z_SYNC_FLUSH, resolve)
    })
    return this.#takeZipped()
  }

  async #finishGzip(): Promise<Buffer> {
    const gzip = this.#gzip
    await new Promise<void>((resolve) => {
      gzip?.once('end', resolve)
      gzip?.end()
    })
    return this.#takeZipped()
  }

  #takeZipped(): Buffer {
    const bytes = Buffer.concat(this.#zipped)
    this.#zipped = []
    return bytes
  }
}

/** Resolves when more may be written, or when the response has closed. */
export function whenDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}
