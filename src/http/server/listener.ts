/**
 * Accepts connections and passes well-formed requests to a handler. It bounds the number of connections,
 * gives each its timeouts, and drains them. It knows no route, no vendor and no money.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { createWatchdog } from '../../base/watchdog.ts'
import { readAddress } from '../../base/ip-address.ts'
import { isProxyLine } from '../wire/proxy-line.ts'
import type { Peer } from './client-address.ts'
import { readProxiedSocket } from './proxied-socket.ts'
import { noProxyLine, plainRefusal } from './reply.ts'
import type { IncomingRequest } from './request.ts'
import type { ResponseWriter } from './response-writer.ts'
import { ConnectionPlaces, type ConnectionPlacesOptions } from './connection-places.ts'
import { ServerConnection } from './connection.ts'
import type { ConnectionOptions, ConnectionParts } from './connection-parts.ts'

export interface ListenerOptions
  extends ConnectionOptions, Omit<ConnectionPlacesOptions, 'monotonic' | 'watchdog'> {
  readonly host: string
  readonly port: number
  /** A socket that is bound already, in place of host and port. */
  readonly descriptor?: number | undefined
  /** Connections from trusted proxies begin with a PROXY line. */
  readonly hasProxyProtocol: boolean
  readonly clock: Clock
}

export type RequestHandler = (request: IncomingRequest, response: ResponseWriter) => void

export interface Listener {
  readonly address: { readonly host: string; readonly port: number }
  readonly connectionCount: () => number
  /** Stops accepting. Connections are served on, and close with the end of their next answer. */
  stopAccepting(): void
  /** Stops accepting and closes idle connections; resolves when the last connection is closed. */
  drain(): Promise<void>
  /** Destroys all connections. */
  close(): Promise<void>
}

/**
 * New connections that wait until the event loop accepts them. A client beyond them tries again after a
 * second. Linux lowers it to `net.core.somaxconn`, which is 4,096 by default.
 */
const queuedConnectionsMax = 4_096

export async function listen(options: ListenerOptions, handle: RequestHandler): Promise<Listener> {
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true })
  await bind(server, options)
  return openListener(server, options, handle)
}

/** Resolves when the server accepts connections. */
export function bind(
  server: Server,
  { host, port, descriptor }: Pick<ListenerOptions, 'host' | 'port' | 'descriptor'>,
): Promise<void> {
  const place = descriptor === undefined ? { host, port } : { fd: descriptor }
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...place, backlog: queuedConnectionsMax }, () => {
      server.off('error', reject)
      // A connection that cannot be accepted (no descriptor left) must not end the process.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

/** How the connections of a server end. */
interface Closing {
  readonly connections: ReadonlySet<unknown>
  /** No more connections are accepted. */
  readonly onStop?: () => void
  readonly onClosed?: () => void
  readonly closeIdle: () => void
  readonly closeAll: () => void
}

/** Makes a listener of a server that accepts connections. */
export function listenerOf(server: Server, closing: Closing): Listener {
  const { address, port } = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  const stop = (): Promise<void> =>
    (closed ??= new Promise((resolve) => {
      closing.onStop?.()
      server.close(() => {
        closing.onClosed?.()
        resolve()
      })
    }))
  return {
    address: { host: address, port },
    connectionCount: () => closing.connections.size,
    stopAccepting() {
      void stop()
    },
    drain() {
      const stopped = stop()
      closing.closeIdle()
      return stopped
    },
    close() {
      const stopped = stop()
      closing.closeAll()
      return stopped
    },
  }
}

function openListener(server: Server, options: ListenerOptions, handle: RequestHandler): Listener {
  const { clock } = options
  const connections = new Set<ServerConnection>()
  const watchdog = createWatchdog(clock)
  const monotonic = (): number => clock.monotonic()
  let isDraining = false
  const parts: ConnectionParts = {
    ...options,
    keepAlive: `timeout=${Math.floor(options.keepAliveTimeoutMs / 1_000)}`,
    watchdog,
    monotonic,
    date: createDate(clock),
    isDraining: () => isDraining,
    handle,
  }
  const identifying = { ...options, ...parts }
  const places = new ConnectionPlaces({ ...options, monotonic, watchdog })
  const accept = (socket: Socket, peer: Peer): void => {
    const place = places.take(peer)
    if (place === undefined) return void socket.destroy()
    const connection = new ServerConnection(socket, parts, { peer, place })
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  }
  server.on('connection', (socket: Socket) => identify(socket, identifying, accept))
  return listenerOf(server, {
    connections,
    onStop() {
      isDraining = true
    },
    onClosed() {
      // The sockets are closed; their own events may still follow.
      connections.clear()
      watchdog.close()
    },
    closeIdle() {
      for (const connection of connections) connection.closeIfIdle()
    },
    closeAll: () => watchdog.cutAll(),
  })
}

/** Calls `accept` once it is known who the peer is. */
function identify(
  socket: Socket,
  parts: ListenerOptions & ConnectionParts,
  accept: (socket: Socket, peer: Peer) => void,
): void {
  const { addresses, hasProxyProtocol, newRequestId } = parts
  const peer = addresses.peer(readAddress(socket.remoteAddress ?? ''))
  if (peer.isTrusted && hasProxyProtocol) {
    const refusal = (): Buffer => plainRefusal(noProxyLine, newRequestId())
    readProxiedSocket(socket, { ...parts, refusal }, (client) =>
      accept(socket, client === undefined ? peer : addresses.peer(client)),
    )
    return
  }
  accept(socket, peer)
  if (peer.isTrusted) return
  // The parser refuses such a line; the log says why.
  socket.once('data', (piece: Buffer) => {
    if (isProxyLine(piece)) addresses.noteUnlisted(peer.address, 'proxy_protocol')
  })
}

/** Returns a function for the value of the `Date` header, which is formatted once per second. */
function createDate(clock: Clock): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const nowMs = clock.now()
    const nowSecond = Math.floor(nowMs / 1_000)
    if (nowSecond !== second) {
      second = nowSecond
      text = new Date(nowMs).toUTCString()
    }
    return text
  }
}
