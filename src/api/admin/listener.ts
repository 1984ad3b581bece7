/**
 * The listener of the admin side: Node's own HTTP server with its limits set, and the app behind it. It needs
 * no speed. It refuses bad requests and bad paths itself: Node accepts heads that two programs could read
 * differently, so the parser of the public side reads each one once more.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { refuse, type Refusal } from '../../base/errors.ts'
import { exchangeIdHeader, faultCodes } from '../../http/server/reply.ts'
import {
  bind,
  listenerOf,
  type Listener,
  type ListenerOptions,
} from '../../http/server/listener.ts'
import { parseRequestHead } from '../../http/wire/request-head.ts'
import { createAdminApp, type AdminParts } from './app.ts'
import { problemOf, problemType } from './problem.ts'

export interface AdminListenerOptions extends Pick<
  ListenerOptions,
  | 'host'
  | 'port'
  | 'descriptor'
  | 'headBytesMax'
  | 'headTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'connectionsMax'
  | 'newRequestId'
> {
  /** How long a connection may stand still while a request or an answer is under way. */
  readonly stallTimeoutMs: number
}

export async function listenAdmin(
  options: AdminListenerOptions,
  parts: AdminParts,
): Promise<Listener> {
  const app = createAdminApp(parts)
  const handle = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
  })
  /** The last answer of each connection. */
  const answers = new WeakMap<Duplex, ServerResponse>()
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answers.set(incoming.socket, outgoing)
    outgoing.on('timeout', (socket: Socket) => endIfStalled(socket, incoming))
    const refusal = refusalOfHead(incoming)
    if (refusal !== undefined) return refuseRequest(outgoing, refusal, options)
    // After an answer its client may send the body or not, so the start of a further request is unknown.
    const isLast = incoming.headers.expect !== undefined || incoming.method === 'TRACE'
    if (isLast) outgoing.setHeader('connection', 'close')
    void handle(incoming, outgoing)
  }
  const server = createServer(
    {
      maxHeaderSize: options.headBytesMax,
      headersTimeout: options.headTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      // Refused below, with an answer in our form.
      requireHostHeader: false,
    },
    receive,
  )
  server.maxConnections = options.connectionsMax
  server.setTimeout(options.stallTimeoutMs)
  // Without a listener Node would send `100 Continue` before anything is checked.
  server.on('checkContinue', receive)
  server.on('checkExpectation', receive)
  server.on('connect', (_, socket) => refuseConnection(notServed, socket, options))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const answer = answers.get(socket)
    // Another answer would become part of this one.
    if (answer?.headersSent === true && !answer.closed) return void socket.end()
    refuseConnection(refusalOfError(error), socket, options)
  })
  await bind(server, options)
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  return listenerOf(server, {
    connections,
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  })
}

/** A large audit takes long and sends nothing meanwhile; only a client that stands still is cut off. */
function endIfStalled(socket: Socket, incoming: IncomingMessage): void {
  if (socket.writableLength > 0 || !incoming.complete) socket.destroy()
}

const notPlain = refuse('http.malformed', 'The request target is not a plain path.')
const notServed = refuse('http.method_not_allowed', 'CONNECT is not served here.')

/** The fields are as they came: Node has joined none of them. The app knows which methods a path allows. */
function refusalOfHead(incoming: IncomingMessage): Refusal | undefined {
  const { method = '', url = '', httpVersion, rawHeaders } = incoming
  const fields = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}:` : `${text}\r\n`))
  const head = parseRequestHead(`${method} ${url} HTTP/${httpVersion}\r\n${fields.join('')}`)
  if (head.kind === 'fault' && head.status !== 405)
    return refuse(faultCodes[head.status], head.message)
  return isPlain(url) ? undefined : notPlain
}

/** Routes are compared as they come: nothing that a proxy and this server could read in two ways. */
function isPlain(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  return (
    /^\/[!-~]*$/.test(target) &&
    !/\/\/|\/\.{1,2}(?:\/|$)|[\\#]/.test(path) &&
    !/%(?:2e|5c|00)/i.test(path) &&
    isDecodable(path)
  )
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    // A percent sign that begins no UTF-8 character.
    return false
  }
}

function refuseRequest(
  outgoing: ServerResponse,
  refusal: Refusal,
  { newRequestId }: AdminListenerOptions,
): void {
  const id = newRequestId()
  const problem = problemOf(refusal, id)
  outgoing.writeHead(problem.status, {
    'content-type': problemType,
    'cache-control': 'no-store',
    connection: 'close',
    [exchangeIdHeader]: id,
  })
  outgoing.end(JSON.stringify(problem))
}

/** Answers bytes for which Node has no response, and closes the connection. */
function refuseConnection(
  refusal: Refusal,
  socket: Duplex,
  { newRequestId }: AdminListenerOptions,
): void {
  const id = newRequestId()
  const problem = problemOf(refusal, id)
  const body = JSON.stringify(problem)
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      `content-type: ${problemType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      'connection: close',
      `${exchangeIdHeader}: ${id}`,
      '',
      body,
    ].join('\r\n'),
  )
}

function refusalOfError({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return refuse('http.head_too_large', 'The request line and headers are too large.')
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? refuse('http.body_timeout', 'The request took too long to arrive.')
    : refuse('http.malformed', 'This is not a valid HTTP/1.1 request.')
}
