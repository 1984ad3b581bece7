/**
 * One connection to a vendor: opens it, writes requests, reads answers, and gives itself back to its
 * pool only when everything about the last exchange was in order. Invariant: it carries one exchange
 * at a time, and is never used again after leftover bytes, an abort or anything malformed.
 *
 *     connecting ─▶ carrying ─▶ idle ─▶ carrying …      closed is final and reached from everywhere
 */
import { isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { unwatched, type Watchdog, type Watched } from '../base/watchdog.ts'
import { writeAtTurnEnd, type TurnEndWriter } from '../http/turn-end.ts'
import { ResponseReader } from '../http/wire/response-reader.ts'
import type { Carrier, Exchange } from './upstream-exchange.ts'
import { classifyConnectError, isStaleConnection, type FailureKind } from './upstream-failure.ts'

/** A request as bytes: the head's text has a character per byte. */
export interface WrittenRequest {
  readonly head: string
  readonly body: Buffer | undefined
}

/** Opens a connection without TLS, as `connect` of `node:net` does. */
export type OpenSocket = (options: TcpNetConnectOpts) => Socket

/** Where a connection belongs and leads to. */
export interface Home {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  /** Of the last handshake, so that the next one is shorter. */
  tlsSession: Buffer | undefined
  readonly openSocket: OpenSocket
  readonly connectTimeoutMs: number
  readonly keepAliveMs: number
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  /** The connection is idle and in order. */
  giveBack(connection: Connection): void
  remove(connection: Connection): void
  discardIdle(): void
}

const headBytesMax = 65_536
/** Below this, copying a body behind its head is cheaper than a second piece to write. */
const joinedBytesMax = 16_384
/** How much earlier than the vendor would we close: a request must not meet its end on the way. */
const keepAliveMarginMs = 2_000
/** The kernel asks an idle peer whether it is still there. */
const probeDelayMs = 60_000

/**
 * Every socket reads into the same memory: a read is handed over before the next begins, and what
 * is kept of it is copied out. A buffer for each read would cost more than the copying.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

export class Connection implements Carrier, TurnEndWriter, Watched {
  dueMs: number
  watchIndex = unwatched
  readonly #home: Home
  readonly #socket: Socket
  readonly #reader = new ResponseReader(headBytesMax)
  #exchange: Exchange | undefined
  /** What is to be written once the connection stands and the turn ends. */
  #waiting: WrittenRequest | undefined
  #isReady = false
  #isClosed = false
  #isWritten = false
  #writtenAtMs = 0
  #exchangeCount = 0

  constructor(home: Home) {
    this.#home = home
    this.dueMs = home.monotonic() + home.connectTimeoutMs
    this.#socket = this.#open()
    home.watchdog.watch(this)
  }

  /** The connection had served an exchange before the present one. */
  get isReused(): boolean {
    return this.#exchangeCount > 1
  }

  /** The present request is on its way to the vendor. */
  get isWritten(): boolean {
    return this.#isWritten
  }

  /** An idle connection may have been lost in this very turn. */
  get isUsable(): boolean {
    return !this.#isClosed && (!this.#isReady || this.#socket.writable)
  }

  carry(exchange: Exchange, request: WrittenRequest): void {
    exchange.boardOn(this)
    this.#exchange = exchange
    this.#isWritten = false
    this.#waiting = request
    if (this.#isReady) this.#begin()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  /** Closes the connection at once. Idempotent. */
  discard(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#exchange = undefined
    this.#waiting = undefined
    this.#home.remove(this)
    this.#home.watchdog.unwatch(this)
    this.#socket.destroy()
  }

  /** Fails what runs as `aborted`. */
  cut(): void {
    this.#fail('aborted')
  }

  /** The same; resolves when the socket is gone. */
  async close(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      if (this.#socket.closed) resolve()
      else this.#socket.once('close', () => resolve())
    })
    this.cut()
    await gone
  }

  /** It took too long to connect, or has been idle for long enough. */
  onDue(): void {
    if (this.#exchange === undefined) this.discard()
    else this.#fail('connect')
  }

  #open(): Socket {
    const { host, port, isTls, openSocket } = this.#home
    const options = {
      host,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: probeDelayMs,
      onread: {
        buffer: readBuffer,
        callback: (length: number, buffer: Uint8Array): boolean => {
          this.#onRead(length, buffer)
          return true
        },
      },
    }
    const socket = isTls ? this.#openTls(options) : openSocket(options)
    socket.on(isTls ? 'secureConnect' : 'connect', () => this.#onReady())
    socket.on('error', (error) => this.#onLost(error))
    socket.on('end', () => this.#onEnd())
    socket.on('close', () => this.#onLost(undefined))
    return socket
  }

  #openTls(options: ConnectionOptions): Socket {
    const { host, tlsSession } = this.#home
    const socket = connectTls({
      ...options,
      // Stated rather than left to a default which the environment can turn off.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(tlsSession !== undefined && { session: tlsSession }),
    })
    socket.on('session', (session: Buffer) => {
      this.#home.tlsSession = session
    })
    return socket
  }

  #onReady(): void {
    if (this.#isClosed) return
    this.#isReady = true
    if (this.#waiting !== undefined) this.#begin()
  }

  #begin(): void {
    this.dueMs = Infinity
    this.#reader.expect()
    this.#exchangeCount++
    this.#isWritten = true
    this.#writtenAtMs = this.#home.monotonic()
    writeAtTurnEnd(this)
  }

  writeOut(): void {
    const request = this.#waiting
    if (request === undefined) return
    this.#waiting = undefined
    const { head, body } = request
    const socket = this.#socket
    if (body === undefined) {
      socket.write(head, 'latin1')
    } else if (head.length + body.length <= joinedBytesMax) {
      const joined = Buffer.allocUnsafe(head.length + body.length)
      joined.write(head, 'latin1')
      body.copy(joined, head.length)
      socket.write(joined)
    } else {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(body)
      socket.uncork()
    }
  }

  #onRead(length: number, buffer: Uint8Array): void {
    const exchange = this.#exchange
    // Nobody has asked: whatever this is, it must not be taken for the answer to the next request.
    if (exchange === undefined || !this.#isWritten) {
      this.#fail('protocol')
      return
    }
    // It crossed the request, which has not left yet: the vendor's word on the connection, no more.
    if (this.#waiting !== undefined) {
      this.#fail('reset')
      return
    }
    const piece = this.#reader.read(Buffer.from(buffer.buffer, buffer.byteOffset, length))
    // Each word to the exchange may be its last: a caller that aborts takes the connection with it.
    if (piece.head !== undefined) exchange.onHead(piece.head)
    if (piece.content !== undefined && this.#exchange === exchange)
      exchange.onContent(piece.content)
    if (this.#exchange !== exchange || piece.state === 'more') return
    if (piece.state === 'malformed') this.#fail('protocol')
    else this.#complete(exchange, piece.hasLeftover)
  }

  /**
   * The exchange is complete. A vendor may answer before it has read the whole request: then our
   * rest is still in the queue, and the next request would wait behind it.
   */
  #complete(exchange: Exchange, hasLeftover: boolean): void {
    const keepMs = this.#reusableMs()
    const isClean = !hasLeftover && this.#socket.writable && this.#socket.writableLength === 0
    if (isClean && keepMs > 0) {
      this.#exchange = undefined
      this.#isWritten = false
      this.dueMs = this.#home.monotonic() + keepMs
      this.resume()
      this.#home.giveBack(this)
    } else {
      this.discard()
    }
    exchange.onComplete()
  }

  #reusableMs(): number {
    const { keepAliveMs } = this.#home
    const saidMs = this.#reader.head?.keepAliveMs
    return saidMs === undefined ? keepAliveMs : Math.min(keepAliveMs, saidMs - keepAliveMarginMs)
  }

  #onEnd(): void {
    const exchange = this.#exchange
    if (exchange === undefined || !this.#isWritten || !this.#reader.end()) {
      this.#onLost(undefined)
      return
    }
    this.discard()
    exchange.onComplete()
  }

  #onLost(error: Error | undefined): void {
    if (this.#isClosed) return
    if (this.#isWritten || error === undefined) this.#fail(this.#isWritten ? 'reset' : 'connect')
    else this.#fail(classifyConnectError(error))
  }

  #fail(kind: FailureKind): void {
    const exchange = this.#exchange
    const failure = { kind, isReusedConnection: this.isReused }
    // A vendor that has closed one idle connection has seldom kept the others.
    const waitedMs = this.#home.monotonic() - this.#writtenAtMs
    if (
      exchange !== undefined &&
      isStaleConnection(failure, { hasHead: exchange.hasHead, waitedMs })
    )
      this.#home.discardIdle()
    this.discard()
    exchange?.fail(kind)
  }
}
