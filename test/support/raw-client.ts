/**
 * A client on the bare socket, for requests no HTTP library would send. It writes exactly the bytes
 * it is given and reads answers one after the other by their own framing, so that a connection that
 * has fallen out of step shows as an answer too many or one that is no HTTP.
 */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Lower-case names; values of a repeated header joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** False where the connection ended in the middle of it. */
  readonly isComplete: boolean
}

export interface RawConnection {
  readonly socket: Socket
  write(bytes: Buffer | string): void
  /** Each piece as a write of its own, a turn of the event loop apart. */
  writePieces(pieces: readonly Buffer[]): Promise<void>
  /** The next answer, `1xx` included; undefined once the server has closed and nothing is left. */
  next(options?: { readonly isHead?: boolean }): Promise<RawAnswer | undefined>
  /** Resolves when the server has ended its side or the connection is gone. */
  readonly ended: Promise<void>
  /** What has come and has not been taken by `next`. */
  unread(): Buffer
  close(): void
}

export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return new Connection(socket)
}

/** Sends the bytes on a connection of their own and returns every answer up to its end. */
export async function exchangeRaw(url: string, bytes: Buffer | string): Promise<RawAnswer[]> {
  const connection = await connectRaw(url)
  connection.write(bytes)
  const answers: RawAnswer[] = []
  for (let answer = await connection.next(); answer; answer = await connection.next())
    answers.push(answer)
  connection.close()
  return answers
}

class Connection implements RawConnection {
  readonly socket: Socket
  readonly ended: Promise<void>
  #received = Buffer.alloc(0)
  #hasEnded = false
  #wake: () => void = () => undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    // A reset after an answer is one of the things looked for; what came before it counts.
    socket.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true
        this.#wake()
        resolve()
      }
      socket.on('end', end)
      socket.on('close', end)
    })
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes)
  }

  async writePieces(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      this.socket.write(piece)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  async next(options: { readonly isHead?: boolean } = {}): Promise<RawAnswer | undefined> {
    for (;;) {
      const parsed = parseAnswer(this.#received, { ...options, hasEnded: this.#hasEnded })
      if (parsed !== undefined) {
        this.#received = this.#received.subarray(parsed.bytes)
        return parsed.answer
      }
      if (this.#hasEnded) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  unread(): Buffer {
    return this.#received
  }

  close(): void {
    this.socket.destroy()
  }
}

interface ParseOptions {
  readonly isHead?: boolean
  readonly hasEnded: boolean
}

interface Parsed {
  readonly answer: RawAnswer
  readonly bytes: number
}

/** Undefined where more bytes are needed. Throws on what is no HTTP answer. */
function parseAnswer(received: Buffer, options: ParseOptions): Parsed | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) {
    if (!options.hasEnded || received.length === 0) return undefined
    throw new Error(`no HTTP answer: ${JSON.stringify(received.toString('latin1').slice(0, 200))}`)
  }
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n')
  const match = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)
  if (match === null) throw new Error(`no HTTP status line: ${JSON.stringify(statusLine)}`)
  const status = Number(match[1])
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const known = headers[name]
    headers[name] = known === undefined ? value : `${known}, ${value}`
  }
  const start = headEnd + 4
  const found = findBody(received, start, { ...options, status, headers })
  if (found === undefined) return undefined
  const { body, end, isComplete } = found
  return { answer: { status, headers, body, isComplete }, bytes: end }
}

interface FoundBody {
  readonly body: Buffer
  readonly end: number
  readonly isComplete: boolean
}

interface BodyOptions extends ParseOptions {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

function findBody(received: Buffer, start: number, options: BodyOptions): FoundBody | undefined {
  const { status, headers, hasEnded } = options
  const none = { body: Buffer.alloc(0), end: start, isComplete: true }
  if (options.isHead === true || status < 200 || status === 204 || status === 304) return none
  if (headers['transfer-encoding'] === 'chunked') return readChunked(received, start, hasEnded)
  const length = headers['content-length']
  if (length === undefined) {
    if (!hasEnded) return undefined
    return { body: received.subarray(start), end: received.length, isComplete: true }
  }
  const end = start + Number(length)
  if (received.length >= end) return { body: received.subarray(start, end), end, isComplete: true }
  if (!hasEnded) return undefined
  return { body: received.subarray(start), end: received.length, isComplete: false }
}

function readChunked(received: Buffer, start: number, hasEnded: boolean): FoundBody | undefined {
  const parts: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    const size = lineEnd < 0 ? Number.NaN : parseInt(received.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (Number.isNaN(size) || received.length < end + 2) {
      if (!hasEnded) return undefined
      return { body: Buffer.concat(parts), end: received.length, isComplete: false }
    }
    if (size === 0) return { body: Buffer.concat(parts), end: end + 2, isComplete: true }
    parts.push(received.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
