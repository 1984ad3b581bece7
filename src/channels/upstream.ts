/**
 * One HTTP/1.1 round trip to a vendor: head and body out, head, chunks and an honest end back, over
 * a pool of kept-alive connections per channel. It knows no format, no verdict and no time limit
 * beyond connecting; those are the relay's. Invariant: each call ends in exactly one `onEnd` or
 * `onFailure`, or in silence after `abort`, and no byte of one exchange ever reaches another.
 */
import type { Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { classifyError, isStaleConnection, type FailureKind } from './upstream-failure.ts'
import { ReceivedHead, type ParsedHeaders } from './upstream-head.ts'

export interface UpstreamRequest {
  readonly method: 'POST' | 'GET' | 'HEAD'
  /** Path and query behind the channel's base URL, e.g. `/v1/messages?beta=true`. */
  readonly path: string
  /** Flat name, value, name, value … list, final: credential and content headers included; no host, no content-length. */
  readonly headers: string[]
  readonly body: Buffer | undefined
}

export interface UpstreamHead {
  readonly status: number
  /** Flat list as received, names as received. */
  readonly rawHeaders: readonly string[]
  /**
   * The body has neither a length nor chunks: it ends where the connection ends, so its `onEnd`
   * proves nothing and completeness must come from the content.
   */
  readonly isCloseDelimited: boolean
  /** First value by lower-case name. */
  header(name: string): string | undefined
}

export interface UpstreamFailure {
  readonly kind: FailureKind
  /** No byte of the request had been written: it is safe to send it again. */
  readonly isUnsent: boolean
  /** The connection had served an exchange before (a stale keep-alive is likely). */
  readonly isReusedConnection: boolean
}

/** Its functions are called from inside the HTTP parser and must not throw. */
export interface UpstreamReceiver {
  /** The final head; 1xx heads are not shown. */
  onHead(head: UpstreamHead): void
  /**
   * Returning false pauses reading until `call.resume()`. The Buffer may be kept (it is not reused).
   * Should the vendor close while paused, what had already been read still comes, then the end.
   */
  onData(chunk: Buffer): boolean
  /** The message is complete by its own framing (length or last chunk). */
  onEnd(): void
  onFailure(failure: UpstreamFailure): void
}

export interface UpstreamCall {
  resume(): void
  /** Drops the exchange and its connection without a further word to the receiver. */
  abort(): void
}

export interface UpstreamTarget {
  readonly url: string
  readonly name: string
}

export interface UpstreamStats {
  /** Connections open or being opened. */
  readonly connectionCount: number
  readonly exchangeCount: number
}

export interface Upstream {
  /** Never calls the receiver before it has returned. */
  send(target: UpstreamTarget, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall
  /** Connections open and exchanges running, by channel name. */
  stats(): ReadonlyMap<string, UpstreamStats>
  /** Closes pools whose channel is gone once idle. */
  retain(names: ReadonlySet<string>): void
  /** Fails what still runs as `aborted` and closes every connection. */
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** Name look-up, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** One more exchange than this fails as `connect`: nothing ever waits behind another. */
  readonly maxConnectionsPerChannel?: number
  /** How long an idle connection is kept, unless the vendor says less. */
  readonly keepAliveMs?: number
}

/** Below the 60 s after which common load balancers silently drop an idle connection. */
const defaultKeepAliveMs = 30_000
const defaultConnectionsMax = 10_000
const headBytesMax = 65_536

export function createUpstream(options: UpstreamOptions): Upstream {
  const pools = new Map<string, ChannelPool[]>()
  let isClosed = false

  /** A channel whose address changed has two pools for a while; the old one dries out by itself. */
  function findPool(target: UpstreamTarget): ChannelPool | undefined {
    const ofChannel = pools.get(target.name) ?? []
    for (const pool of ofChannel) if (pool.url === target.url) return pool
    const base = URL.parse(target.url)
    if (base === null || (base.protocol !== 'https:' && base.protocol !== 'http:')) return undefined
    const pool = new ChannelPool(target.url, base, options)
    pools.set(target.name, [...ofChannel, pool])
    return pool
  }

  return {
    send(target, request, receiver) {
      const exchange = new Exchange(receiver, request.method)
      const connection = isClosed ? undefined : findPool(target)?.take()
      if (connection === undefined) exchange.failUnsent(isClosed ? 'aborted' : 'connect')
      else connection.carry(exchange, request)
      return exchange
    },
    stats() {
      const byChannel = new Map<string, UpstreamStats>()
      for (const [name, ofChannel] of pools) {
        let connectionCount = 0
        let exchangeCount = 0
        for (const pool of ofChannel) {
          connectionCount += pool.connections.size
          exchangeCount += pool.connections.size - pool.idle.length
        }
        byChannel.set(name, { connectionCount, exchangeCount })
      }
      return byChannel
    },
    retain(names) {
      for (const [name, ofChannel] of pools) {
        const isGone = !names.has(name)
        for (const pool of ofChannel) pool.setRetired(isGone)
        const inUse = ofChannel.filter((pool) => pool.connections.size > 0)
        if (inUse.length > 0) pools.set(name, inUse)
        else pools.delete(name)
      }
    },
    async close() {
      isClosed = true
      const all = [...pools.values()].flat().flatMap((pool) => [...pool.connections])
      await Promise.all(all.map((connection) => connection.close()))
    },
  }
}

/**
 * The connections of one channel address. A free list of single connections costs less per exchange
 * than the library's own pool and can say of each exchange whether its connection is a used one.
 * The most recently used connection serves next, so that those no longer needed run out of time.
 */
class ChannelPool {
  readonly url: string
  readonly connections = new Set<Connection>()
  readonly idle: Connection[] = []
  readonly origin: string
  readonly basePath: string
  readonly keepAliveMs: number
  readonly connect: buildConnector.connector
  readonly #connectionsMax: number
  #isRetired = false

  constructor(url: string, base: URL, options: UpstreamOptions) {
    this.url = url
    this.origin = base.origin
    this.basePath = base.pathname.replace(/\/+$/, '')
    this.keepAliveMs = options.keepAliveMs ?? defaultKeepAliveMs
    this.#connectionsMax = options.maxConnectionsPerChannel ?? defaultConnectionsMax
    // Shared by all connections, so that TLS sessions are resumed. Verification is stated rather
    // than left to a default which the environment can turn off.
    this.connect = buildConnector({
      allowH2: false,
      rejectUnauthorized: true,
      timeout: options.connectTimeoutMs,
    })
  }

  take(): Connection | undefined {
    const free = this.idle.pop()
    if (free !== undefined) return free
    if (this.connections.size >= this.#connectionsMax) return undefined
    const connection = new Connection(this)
    this.connections.add(connection)
    return connection
  }

  giveBack(connection: Connection): void {
    if (this.#isRetired) connection.discard()
    else this.idle.push(connection)
  }

  remove(connection: Connection): void {
    this.connections.delete(connection)
    const index = this.idle.lastIndexOf(connection)
    if (index !== -1) this.idle.splice(index, 1)
  }

  /** A retired pool keeps no idle connection; one whose channel has come back does again. */
  setRetired(isRetired: boolean): void {
    this.#isRetired = isRetired
    if (isRetired) this.discardIdle()
  }

  discardIdle(): void {
    while (this.idle.length > 0) this.idle.pop()?.discard()
  }
}

/** One connection and what has happened on it; carries one exchange at a time. */
class Connection {
  readonly #pool: ChannelPool
  readonly #client: Client
  #socket: Socket | undefined
  #exchangeCount = 0
  #isCarrying = false
  #isClosing = false

  constructor(pool: ChannelPool) {
    this.#pool = pool
    this.#client = new Client(pool.origin, {
      connect: (options, callback) => {
        pool.connect(options, (...outcome) => {
          if (outcome[1] !== null) this.#noteConnected(outcome[1])
          callback(...outcome)
        })
      },
      pipelining: 1,
      allowH2: false,
      useMilo: false,
      maxHeaderSize: headBytesMax,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: pool.keepAliveMs,
      keepAliveMaxTimeout: pool.keepAliveMs,
    })
    // An idle connection is over when its socket is. With an exchange on it that is not yet
    // written, the client connects anew by itself.
    this.#client.on('disconnect', () => {
      if (!this.#isCarrying) this.discard()
    })
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** The socket was torn down by an error, not ended by the vendor. */
  get isBroken(): boolean {
    return this.#socket !== undefined && this.#socket.errored !== null
  }

  carry(exchange: Exchange, request: UpstreamRequest): void {
    this.#isCarrying = true
    exchange.dispatchOn(this, this.#client, {
      method: request.method,
      path: this.#pool.basePath + request.path,
      headers: withIdentityEncoding(request.headers),
      body: request.body ?? null,
    })
  }

  /** Called as a request is about to be written; true when the connection has served before. */
  noteWritten(): boolean {
    return this.#exchangeCount++ > 0
  }

  /**
   * The exchange is complete. A vendor may answer before it has read the whole request: then our
   * rest is still in the queue, and the next request would wait behind it.
   */
  release(): void {
    this.#isCarrying = false
    const socket = this.#socket
    if (socket === undefined || socket.destroyed || socket.writableLength > 0) this.discard()
    else this.#pool.giveBack(this)
  }

  /** Closes the connection at once. Idempotent. */
  discard(): void {
    this.#isCarrying = false
    this.#pool.remove(this)
    this.#client.destroy(null, ignore)
  }

  /** A vendor that has closed one idle connection has seldom kept the others. */
  discardWithIdle(): void {
    this.discard()
    this.#pool.discardIdle()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#pool.remove(this)
    await this.#client.destroy()
  }

  #noteConnected(socket: Socket): void {
    this.#socket = socket
    this.#exchangeCount = 0
  }
}

function ignore(): void {}

/** The handle a caller holds and the handler the HTTP client calls, in one object per exchange. */
class Exchange implements Dispatcher.DispatchHandler, UpstreamCall {
  /** Gone as soon as nothing more may be said to it; every callback asks it first. */
  #receiver: UpstreamReceiver | undefined
  readonly #method: UpstreamRequest['method']
  #connection: Connection | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isDispatching = false
  #isReusedConnection = false
  #head: ReceivedHead | undefined

  constructor(receiver: UpstreamReceiver, method: UpstreamRequest['method']) {
    this.#receiver = receiver
    this.#method = method
  }

  dispatchOn(connection: Connection, client: Client, options: Dispatcher.DispatchOptions): void {
    this.#connection = connection
    this.#isDispatching = true
    client.dispatch(options, this)
    this.#isDispatching = false
  }

  /** Tells the receiver after `send` has returned, so that the caller holds its call by then. */
  failUnsent(kind: FailureKind): void {
    queueMicrotask(() => {
      this.#fail(kind)
    })
  }

  /**
   * The parser must not be entered again from inside one of its callbacks, where a caller may well
   * stand; a microtask runs when all of them have returned.
   */
  resume(): void {
    queueMicrotask(() => this.#controller?.resume())
  }

  abort(): void {
    if (this.#receiver === undefined) return
    this.#receiver = undefined
    this.#breakOff()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#receiver === undefined) controller.abort(brokenOff)
    else this.#isReusedConnection = this.#connection?.noteWritten() === true
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ParsedHeaders,
  ): void {
    if (this.#receiver === undefined || status < 200) return
    const isBodiless = this.#method === 'HEAD' || status === 204 || status === 304
    this.#head = new ReceivedHead(status, headers, controller.rawHeaders, isBodiless)
    if (this.#head.isFramingKnown) {
      this.#receiver.onHead(this.#head)
      return
    }
    this.#fail('protocol')
    this.#breakOff()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#receiver?.onData(chunk) === false) controller.pause()
  }

  onResponseEnd(): void {
    const receiver = this.#receiver
    if (receiver === undefined) return
    // A reset looks like an end where only the connection's end delimits the body.
    if (this.#head?.isCloseDelimited === true && this.#connection?.isBroken === true) {
      this.#fail('reset')
      this.#connection.discard()
      return
    }
    this.#receiver = undefined
    try {
      receiver.onEnd()
    } finally {
      // Only now: a request sent from inside `onEnd` must not take a connection in mid-parse.
      this.#connection?.release()
    }
  }

  onResponseError(_controller: unknown, error: Error & { readonly code?: string }): void {
    const kind =
      this.#connection?.isClosing === true
        ? 'aborted'
        : classifyError(error, {
            isWritten: this.#controller !== undefined,
            hasHead: this.#head !== undefined,
          })
    const failure = { kind, isReusedConnection: this.#isReusedConnection }
    if (isStaleConnection(failure, this.#head !== undefined)) this.#connection?.discardWithIdle()
    else this.#connection?.discard()
    if (this.#isDispatching) this.failUnsent(kind)
    else this.#fail(kind)
  }

  #breakOff(): void {
    if (this.#controller === undefined) this.#connection?.discard()
    else this.#controller.abort(brokenOff)
  }

  #fail(kind: FailureKind): void {
    const receiver = this.#receiver
    if (receiver === undefined) return
    this.#receiver = undefined
    receiver.onFailure({
      kind,
      isUnsent: this.#controller === undefined,
      isReusedConnection: this.#isReusedConnection,
    })
  }
}

/** Given as the reason of every break-off of ours; never shown, so one object does for all. */
const brokenOff = new Error('the exchange was broken off')

/** Compressed answers could neither be metered nor passed on event by event. */
function withIdentityEncoding(headers: string[]): string[] {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (name.length === 15 && name.toLowerCase() === 'accept-encoding') return headers
  }
  return [...headers, 'accept-encoding', 'identity']
}
