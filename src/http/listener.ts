/**
 * Accepts connections and hands over well-formed requests. It stays on node:http's parser, refuses
 * what that parser lets through, sets every limit a hostile client could otherwise sit on, and
 * knows how to drain. It knows no route, no vendor and no money.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { exchangeIdHeader } from './headers.ts'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** Bytes of a request's line and headers. */
  readonly headBytesMax: number
  /** Time to send the head, and the whole request with its body. */
  readonly headTimeoutMs: number
  readonly requestTimeoutMs: number
  /** How long an idle connection is kept; above the idle time of proxies in front. */
  readonly keepAliveTimeoutMs: number
  readonly connectionsMax: number
  /** Names a request that is refused before anybody else has seen it. */
  readonly newRequestId: () => string
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface Listener {
  readonly address: { readonly host: string; readonly port: number }
  readonly connectionCount: () => number
  /** Stops accepting and closes idle connections; resolves when the last connection is gone. */
  drain(): Promise<void>
  /** Destroys what is left. */
  close(): Promise<void>
}

/** Behind a refused request at most this much of its body is still swallowed before the connection goes. */
const swallowBytesMax = 65_536
/** How long a client has to take an answer and leave, once nothing more is read from it. */
const lingerMs = 1_000

export async function listen(options: ListenerOptions, handle: RequestHandler): Promise<Listener> {
  const server = createServer({
    keepAlive: true,
    noDelay: true,
    maxHeaderSize: options.headBytesMax,
    headersTimeout: options.headTimeoutMs,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    // Checked by findFault, so that the refusal is one of ours.
    requireHostHeader: false,
    insecureHTTPParser: false,
    joinDuplicateHeaders: false,
  })
  server.maxConnections = options.connectionsMax
  server.maxRequestsPerSocket = 0
  const { newRequestId } = options
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const fault = findFault(request)
    if (fault === undefined) handle(request, response)
    else refuseMalformed(request, response, { ...fault, requestId: newRequestId() })
  })
  // With a listener of its own a request that asks for `100 Continue` is judged like any other
  // before its body is invited; body.ts sends the invitation when it starts to read.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'The expectation cannot be met.'
    refuseMalformed(request, response, { status: 417, message, requestId: newRequestId() })
  })
  // Without a listener node would drop the connection without a word.
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    endPlainly(socket, {
      status: '405 Method Not Allowed',
      type: 'http.method_not_allowed',
      message: 'CONNECT is not served here.',
      requestId: newRequestId(),
      allow: allowedMethods,
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    answerClientError(error, socket, newRequestId)
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: options.host, port: options.port, backlog: 1_024 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return openListener(server)
}

function openListener(server: Server): Listener {
  const bound = server.address() as AddressInfo
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  let closed: Promise<void> | undefined
  const stop = (): Promise<void> =>
    (closed ??= new Promise((resolve) => {
      server.close(() => resolve())
    }))
  return {
    address: { host: bound.address, port: bound.port },
    connectionCount: () => connections.size,
    drain() {
      const stopped = stop()
      server.closeIdleConnections()
      return stopped
    },
    close() {
      const stopped = stop()
      server.closeAllConnections()
      return stopped
    },
  }
}

interface RequestFault {
  readonly status: number
  readonly message: string
  /** Value of an `Allow` header. */
  readonly allow?: string
}

const allowedMethods = 'GET, HEAD, POST'

/** What node's parser accepts and this gateway does not: each could be read in two ways by a proxy. */
function findFault(request: IncomingMessage): RequestFault | undefined {
  if (request.httpVersionMajor !== 1) return { status: 505, message: 'Speak HTTP/1.1.' }
  if (request.method === 'TRACE')
    return { status: 405, message: 'TRACE is not served here.', allow: allowedMethods }
  const { rawHeaders } = request
  let hostCount = 0
  let typeCount = 0
  let hasLength = false
  let encoding: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Lengths first: comparing three strings per header costs more than looking at four numbers.
    if (name.length === 4) {
      if (name.toLowerCase() === 'host') hostCount++
    } else if (name.length === 12) {
      if (name.toLowerCase() === 'content-type') typeCount++
    } else if (name.length === 14) {
      if (name.toLowerCase() === 'content-length') hasLength = true
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (encoding !== undefined) return badFraming
      encoding = rawHeaders[index + 1] ?? ''
    }
  }
  if (hostCount > 1) return { status: 400, message: 'The request has more than one Host header.' }
  if (hostCount === 0 && request.httpVersionMinor > 0)
    return { status: 400, message: 'The request has no Host header.' }
  if (typeCount > 1)
    return { status: 400, message: 'The request has more than one Content-Type header.' }
  if (encoding === undefined) return undefined
  if (hasLength || request.httpVersionMinor === 0) return badFraming
  return encoding.toLowerCase() === 'chunked' ? undefined : badFraming
}

const badFraming: RequestFault = {
  status: 400,
  message: 'The request states its length in a way that could be read differently elsewhere.',
}

type NamedFault = RequestFault & { readonly requestId: string }

function refuseMalformed(
  request: IncomingMessage,
  response: ServerResponse,
  fault: NamedFault,
): void {
  const { status, message, requestId, allow } = fault
  const body = errorBody(status === 405 ? 'http.method_not_allowed' : 'http.malformed', message)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    [exchangeIdHeader]: requestId,
    ...(allow !== undefined && { allow }),
    connection: 'close',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
  abandonBody(request)
}

function errorBody(type: string, message: string): string {
  return JSON.stringify({ error: { type, message } })
}

/**
 * Gives up on a request whose body will not be read: the answer, our end of the connection, then a
 * little more is swallowed and a moment waited, because closing while bytes still come would be a
 * reset that can overtake the answer. The answer must carry `connection: close`, and be written.
 */
export function abandonBody(request: IncomingMessage): void {
  if (request.complete) return
  const { socket } = request
  // What node calls when such an answer has been written; by itself it would close both ways.
  socket.destroySoon = () => socket.end()
  socket.setTimeout(lingerMs)
  let swallowedBytes = 0
  request.on('data', (chunk: Buffer) => {
    swallowedBytes += chunk.length
    if (swallowedBytes > swallowBytesMax) request.pause()
  })
  request.resume()
}

/** True when so little of the body can be left that reading on is cheaper than a new connection. */
export function isBodySmall(request: IncomingMessage): boolean {
  if (request.complete) return true
  if (request.headers['transfer-encoding'] !== undefined) return false
  if (request.headers.expect !== undefined) return false
  return Number(request.headers['content-length'] ?? 0) <= swallowBytesMax
}

/** A request the parser gave up on: one plain answer, then the connection ends. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  newRequestId: () => string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  endPlainly(socket, { ...clientErrorAnswer(error.code), requestId: newRequestId() })
}

/**
 * Whether an answer to an earlier request is under way on the connection: then anything written now
 * would be taken for that answer. An answer whose own request is what broke has not begun.
 */
function isAnswering(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): boolean {
  const response = socket._httpMessage
  return (
    response !== undefined && response !== null && (response.headersSent || response.req.complete)
  )
}

interface PlainAnswer {
  /** Code and reason. */
  readonly status: string
  readonly type: string
  readonly message: string
}

function endPlainly(
  socket: Duplex,
  answer: PlainAnswer & { readonly requestId: string; readonly allow?: string },
): void {
  const { status, type, message, requestId } = answer
  const body = errorBody(type, message)
  const allow = answer.allow === undefined ? '' : `allow: ${answer.allow}\r\n`
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${allow}` +
      `content-length: ${Buffer.byteLength(body)}\r\n${exchangeIdHeader}: ${requestId}\r\n` +
      `connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

function clientErrorAnswer(code: string | undefined): PlainAnswer {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: '431 Request Header Fields Too Large',
      type: 'http.head_too_large',
      message: 'The request headers are too large.',
    }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      status: '408 Request Timeout',
      type: 'http.body_timeout',
      message: 'The request did not arrive in time.',
    }
  return {
    status: '400 Bad Request',
    type: 'http.malformed',
    message: 'This is not a well-formed HTTP/1.1 request.',
  }
}
