/**
 * The HTTP client of all tests: whole requests, answers that are read while they come, and raw bytes.
 * It shows exactly what came over the wire and repairs nothing. Every request has its own connection.
 */
import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  /** POST where there is a body, otherwise GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: Buffer | string
  /**
   * Called with each chunk. `leave` closes the connection at once; `pause` reads nothing more in this turn
   * of the event loop.
   */
  readonly onChunk?: (chunk: Buffer, index: number) => unknown
  /** For a connection that stays open after the answer. */
  readonly agent?: Agent
}

export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** The body as UTF-8. */
  readonly text: string
  readonly chunks: readonly Buffer[]
  /** The body was complete by its own framing; otherwise either side has cut the connection. */
  readonly isComplete: boolean
}

/** Sends one request and reads its whole answer. Rejects only where no response head came. */
export function send(url: string, wire: WireRequest = {}): Promise<WireAnswer> {
  return open(url, wire).ended
}

export interface OpenAnswer {
  /** Resolves when what has come of the body fits; rejects when the answer ends before. */
  until(fits: (text: string) => boolean): Promise<void>
  /** Closes the connection at once. */
  leave(): void
  /** The answer as far as it came, whichever side ended it; rejects where no response head came. */
  readonly ended: Promise<WireAnswer>
}

/** Sends one request; the caller looks at the answer while it comes, and may leave at any event. */
export function open(url: string, wire: WireRequest = {}): OpenAnswer {
  const request = start(url, wire)
  const ended = Promise.withResolvers<WireAnswer>()
  const chunks: Buffer[] = []
  let look: () => void = () => undefined
  request.on('error', ended.reject)
  request.on('response', (response) => {
    // Once the head has come, a cut or a reset is an outcome, which `isComplete` shows.
    request.off('error', ended.reject)
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const next = wire.onChunk?.(chunk, chunks.length - 1)
      if (next === 'leave') request.destroy()
      if (next === 'pause') {
        response.pause()
        setImmediate(() => response.resume())
      }
      look()
    })
    response.on('close', () => ended.resolve(answerOf(response, chunks)))
  })
  // A caller that leaves need not wait for the end.
  ended.promise.catch(() => undefined)
  return {
    async until(fits) {
      const hasFit = (): boolean => fits(Buffer.concat(chunks).toString())
      const fitting = new Promise<'fits'>((resolve) => {
        look = () => {
          if (hasFit()) resolve('fits')
        }
        look()
      })
      const first = await Promise.race([fitting, ended.promise])
      if (first !== 'fits' && !hasFit()) throw new Error(`the answer ended early: ${first.text}`)
    },
    leave: () => request.destroy(),
    ended: ended.promise,
  }
}

/** Resolves with the response head. The caller reads the body, as slowly as it likes. */
export function openUnread(url: string, wire: WireRequest = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    start(url, wire).on('error', reject).on('response', resolve)
  })
}

function start(url: string, wire: WireRequest): ReturnType<typeof httpRequest> {
  const request = httpRequest(url, {
    method: wire.method ?? (wire.body === undefined ? 'GET' : 'POST'),
    headers: { ...wire.headers },
    agent: wire.agent ?? false,
  })
  request.end(wire.body)
  return request
}

function answerOf(response: IncomingMessage, chunks: readonly Buffer[]): WireAnswer {
  const body = Buffer.concat(chunks)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    body,
    get text() {
      return body.toString()
    },
    chunks,
    isComplete: response.complete,
  }
}

// --- requests that many tests send ------------------------------------------------------------------

/** Sends a JSON POST with a client key. */
export function post(
  url: string,
  key: string,
  body: unknown,
  extra: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  return send(url, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...extra },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

/** Reads the figures of `/v1/usage`. */
export async function usage(
  url: string,
  token: string,
  period = 'day',
): Promise<Record<string, unknown>> {
  const answer = await send(`${url}/v1/usage?period=${period}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return JSON.parse(answer.text) as Record<string, unknown>
}

export interface VendorRequest extends Omit<WireRequest, 'body' | 'headers'> {
  /** An object is sent as JSON. */
  readonly body?: unknown
  /** Added to the standard ones; an empty value removes a header. */
  readonly headers?: Readonly<Record<string, string>>
}

const vendorHeaders = {
  'content-type': 'application/json',
  authorization: 'Bearer test-credential',
  'anthropic-version': '2023-06-01',
}

/** Sends a request to a vendor directly, with the headers that either format needs. */
export function sendToVendor(url: string, request: VendorRequest = {}): Promise<WireAnswer> {
  const { body, headers, ...others } = request
  const all = Object.entries({ ...vendorHeaders, ...headers }).filter(([, value]) => value !== '')
  return send(url, {
    method: 'POST',
    ...others,
    headers: Object.fromEntries(all),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Returns the JSON of every `data:` line but `[DONE]`. */
export function eventData(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as unknown)
}

/** Counts the whole events of a stream, comments included. */
export function eventCount(text: string): number {
  return text.split('\n\n').length - 1
}

// --- raw bytes --------------------------------------------------------------------------------------

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
  /** Each piece as a separate write, a turn of the event loop apart. */
  writePieces(pieces: readonly Buffer[]): Promise<void>
  /** The next answer, `1xx` included; undefined once the server has closed and nothing is left. */
  next(options?: { readonly isHead?: boolean }): Promise<RawAnswer | undefined>
  /** Resolves when the server has ended its side or the connection is gone. */
  readonly ended: Promise<void>
  /** What has come and has not been taken by `next`. */
  unread(): Buffer
  close(): void
}

/**
 * Opens a connection for requests that no HTTP library would send. It writes exactly the given bytes and
 * reads answers one after the other by their framing, so that a connection out of step shows as one
 * answer too many, or as one that is no HTTP. `localAddress` is an address of the loopback network.
 */
export async function connectRaw(url: string, localAddress?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === undefined ? {} : { localAddress }),
    noDelay: true,
    allowHalfOpen: true,
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return rawConnection(socket)
}

/** The same on a socket that is connected already, such as one of TLS. */
export function rawConnection(socket: Socket): RawConnection {
  return new Connection(socket)
}

/** Sends the bytes on a separate connection and returns every answer up to its end. */
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
