/**
 * A wire between clients and one HTTP server that only looks: every byte passes as it came, in both
 * directions, and what passes is read along. It tells how often a client really tried, with which
 * headers, and what it was answered.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { ChunkedDecoder, type Framing } from '../../../src/http/wire/framing.ts'
import { HeadReader } from '../../../src/http/wire/head-reader.ts'
import { parseRequestHead } from '../../../src/http/wire/request-head.ts'
import { ResponseReader } from '../../../src/http/wire/response-reader.ts'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly atMs: number
  /** Undefined until the answer has come whole. */
  status: number | undefined
}

export interface RequestWatch {
  /** Where clients are to connect. */
  readonly port: number
  readonly requests: readonly SeenRequest[]
  /** Called when an answer has come whole, before the client has the last of it. */
  onAnswered: ((request: SeenRequest) => void) | undefined
  close(): Promise<void>
}

const headBytesMax = 65_536

export async function watchRequests(serverPort: number): Promise<RequestWatch> {
  const requests: SeenRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({
      host: '127.0.0.1',
      port: serverPort,
      allowHalfOpen: true,
      noDelay: true,
    })
    const answers = new AnswerReader((request) => watch.onAnswered?.(request))
    const asked = new RequestReader((request) => {
      requests.push(request)
      answers.expect(request)
    })
    for (const [from, to, look] of [
      [client, upstream, (piece: Buffer): void => asked.read(piece)],
      [upstream, client, (piece: Buffer): void => answers.read(piece)],
    ] as const) {
      sockets.add(from)
      from.on('data', look)
      from.pipe(to)
      from.on('error', () => to.resetAndDestroy())
      from.on('close', () => {
        sockets.delete(from)
        // What one end has dropped, the other must not wait for.
        if (!from.readableEnded) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const watch: RequestWatch = {
    port: (server.address() as AddressInfo).port,
    requests,
    onAnswered: undefined,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return watch
}

class RequestReader {
  readonly #heads = new HeadReader(headBytesMax)
  readonly #onRequest: (request: SeenRequest) => void
  #remaining = 0
  #chunks: ChunkedDecoder | undefined
  #isLost = false

  constructor(onRequest: (request: SeenRequest) => void) {
    this.#onRequest = onRequest
  }

  read(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.#isLost;) at = this.#readFrom(piece, at)
  }

  #readFrom(piece: Buffer, at: number): number {
    if (this.#remaining > 0) {
      const end = Math.min(piece.length, at + this.#remaining)
      this.#remaining -= end - at
      return end
    }
    if (this.#chunks !== undefined) {
      this.#chunks.read(piece, at)
      const { next } = this.#chunks
      if (this.#chunks.isDone) this.#chunks = undefined
      return next
    }
    const reading = this.#heads.read(piece, at)
    if (reading === 'more') return piece.length
    const head = reading === 'whole' ? parseRequestHead(this.#heads.text) : undefined
    if (head?.kind !== 'head') {
      this.#isLost = true
      return piece.length
    }
    this.#beginBody(head.framing)
    this.#onRequest({
      method: head.method,
      url: head.target,
      headers: byLowerCaseName(head.fields.flat()),
      atMs: performance.now(),
      status: undefined,
    })
    return this.#heads.next
  }

  #beginBody(framing: Framing): void {
    if (framing.kind === 'length') this.#remaining = framing.bytes
    if (framing.kind === 'chunked') this.#chunks = new ChunkedDecoder()
  }
}

/** One answer after the other: clients of these tests wait for one before they ask again. */
class AnswerReader {
  readonly #reader = new ResponseReader(headBytesMax)
  readonly #onAnswered: (request: SeenRequest) => void
  #request: SeenRequest | undefined

  constructor(onAnswered: (request: SeenRequest) => void) {
    this.#onAnswered = onAnswered
  }

  expect(request: SeenRequest): void {
    this.#request = request
    this.#reader.expect()
  }

  read(piece: Buffer): void {
    const request = this.#request
    if (request === undefined) return
    const reading = this.#reader.read(piece)
    const { head } = this.#reader
    // An answer to HEAD announces a body that never comes.
    const isHeadOnly = request.method === 'HEAD' && head !== undefined
    if (reading !== 'complete' && !isHeadOnly) return
    this.#request = undefined
    request.status = head?.status
    this.#onAnswered(request)
  }
}

function byLowerCaseName(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers[(rawHeaders[index] ?? '').toLowerCase()] = rawHeaders[index + 1] ?? ''
  return headers
}
