/**
 * One connection to a vendor: opens it, writes requests, reads answers, and returns to its pool only after
 * an exchange without any irregularity. Invariant: it serves one exchange at a time, and none after leftover
 * bytes, an abort or a malformed answer.
 *
 *     connecting ─▶ busy ─▶ idle ─▶ busy …      closed is final and can follow every state
 */
import { isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { invariant } from '../../base/errors.ts'
import { shortageIn, type Shortage } from '../../base/system-error.ts'
import type { Secret } from '../../base/secret.ts'
import { unwatched, type Watchdog, type Watched } from '../../base/watchdog.ts'
import { SocketReading } from '../socket-reading.ts'
import { writeAtTurnEnd, type TurnEndWriter } from '../turn-end.ts'
import { bytesOf, piecesOf } from '../wire/message-writer.ts'
import { ResponseReader } from '../wire/response-reader.ts'
import { failureOf } from './open-failure.ts'
import type { RoundTrip, RoundTripConnection } from './round-trip.ts'
import { openTunnel, type Tunnel } from './tunnel.ts'
import { isStaleConnection, type FailureKind } from './upstream.ts'

/** A request as bytes: the head's text has one character per byte. */
export interface WrittenRequest {
  readonly head: string
  readonly body: Buffer | readonly Buffer[] | undefined
  readonly onBodyUnused: (() => void) | undefined
}

/** Opens a connection without TLS, as `connect` of `node:net` does. */
export type OpenSocket = (options: TcpNetConnectOpts) => Socket

/** What the connections of all pools share. */
export interface ConnectionParts {
  readonly openSocket: OpenSocket
  readonly connectTimeoutMs: number
  readonly keepAliveMs: number
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly onShortage: (of: Shortage) => void
}

/** The pool a connection belongs to, and the address it leads to. */
export interface ConnectionPool {
  readonly isTls: boolean
  /** Name or address, without the brackets of a URL. */
  readonly host: string
  readonly port: number
  /** Refuses addresses that the name must not lead to. */
  readonly lookup: LookupFunction
  /** An HTTP proxy on the way; then the vendor is reached with TLS. */
  readonly proxy: Secret | undefined
  /** The session of the last handshake makes the next one shorter. */
  tlsSession: Buffer | undefined
  /** Takes back an idle connection that can be used again. */
  release(connection: Connection): void
  remove(connection: Connection): void
  discardIdle(): void
}

const headBytesMax = 65_536
/** A large body is written in slices, each when the socket has taken the one before: TLS encrypts at once. */
const sliceBytesMax = 262_144
/** Below this size, copying a body behind its head costs less than a second piece to write. */
const joinedBytesMax = 16_384
/** How much earlier than the vendor the gateway closes: a request must not cross the vendor's close. */
const keepAliveMarginMs = 2_000
/** After this idle time the kernel asks a silent peer every second; ten without an answer, and it is dead. */
const tcpKeepAliveDelayMs = 30_000

/**
 * All sockets read into the same memory: each read is processed before the next one begins, and the part
 * that is kept is copied.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

export class Connection implements RoundTripConnection, TurnEndWriter, Watched {
  dueMs: number
  watchIndex = unwatched
  readonly #pool: ConnectionPool
  readonly #parts: ConnectionParts
  /** Undefined while a tunnel is being opened. */
  #socket: Socket | undefined
  #reading: SocketReading | undefined
  #tunnel: Tunnel | undefined
  readonly #reader = new ResponseReader(headBytesMax)
  #roundTrip: RoundTrip | undefined
  /** Waits to be written until the connection is open and the event loop's turn ends. */
  #waiting: WrittenRequest | undefined
  /** The rest of a large body. */
  #unwritten: Buffer[] = []
  #isReady = false
  #isClosed = false
  #isWritten = false
  #writtenAtMs = 0
  #exchangeCount = 0

  constructor(pool: ConnectionPool, parts: ConnectionParts) {
    this.#pool = pool
    this.#parts = parts
    this.dueMs = parts.monotonic() + parts.connectTimeoutMs
    if (pool.proxy === undefined) this.#socket = this.#open(undefined)
    else this.#openThrough(pool.proxy)
    parts.watchdog.watch(this)
  }

  /** The connection had served an exchange before the present one. */
  get isReused(): boolean {
    return this.#exchangeCount > 1
  }

  /** The current request is on its way to the vendor. */
  get isWritten(): boolean {
    return this.#isWritten
  }

  /** An idle connection may have been lost in this turn of the event loop. */
  get isUsable(): boolean {
    return !this.#isClosed && (!this.#isReady || this.#socket?.writable === true)
  }

  send(roundTrip: RoundTrip, request: WrittenRequest): void {
    roundTrip.attach(this)
    this.#roundTrip = roundTrip
    this.#isWritten = false
    this.#waiting = request
    if (this.#isReady) this.#begin()
  }

  pause(): void {
    this.#reading?.stop()
  }

  resume(): void {
    this.#reading?.goOn()
  }

  /** Closes the connection at once. Idempotent. */
  discard(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#roundTrip = undefined
    this.#waiting?.onBodyUnused?.()
    this.#waiting = undefined
    this.#unwritten.length = 0
    this.#pool.remove(this)
    this.#parts.watchdog.unwatch(this)
    this.#tunnel?.close()
    this.#socket?.destroy()
  }

  /** Fails the running exchange as `aborted`. */
  cut(): void {
    this.#fail('aborted')
  }

  /** The same; resolves when the socket is closed. */
  async close(): Promise<void> {
    const socket = this.#socket
    const gone = new Promise<void>((resolve) => {
      if (socket === undefined || socket.closed) resolve()
      else socket.once('close', () => resolve())
    })
    this.cut()
    await gone
  }

  /** Connecting took too long, or the keep-alive time has passed. */
  onDue(): void {
    if (this.#roundTrip === undefined) this.discard()
    else this.#fail('connect')
  }

  #openThrough(proxy: Secret): void {
    const { host, port } = this.#pool
    const ends = { proxy, host, port }
    this.#tunnel = openTunnel(ends, {
      onOpen: (tunnel) => {
        if (this.#isClosed) tunnel.destroy()
        else this.#socket = this.#open(tunnel)
      },
      onFailure: (error) => this.#onLost(error),
    })
  }

  /** Opens a socket to the vendor: directly, or inside a tunnel. */
  #open(tunnel: Socket | undefined): Socket {
    const { host, port, isTls, lookup } = this.#pool
    tunnel?.setNoDelay(true).setKeepAlive(true, tcpKeepAliveDelayMs)
    const options = {
      ...(tunnel !== undefined && { socket: tunnel }),
      host,
      port,
      lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveDelayMs,
      onread: {
        buffer: readBuffer,
        callback: (length: number): boolean => {
          this.#onRead(readBuffer, length)
          return true
        },
      },
    }
    const socket = isTls ? this.#openTls(options) : this.#parts.openSocket(options)
    this.#reading = new SocketReading(socket)
    socket.on(isTls ? 'secureConnect' : 'connect', () => this.#onReady())
    // Node reads into a buffer of ours only where it has opened the connection itself.
    if (tunnel !== undefined)
      socket.on('data', (chunk: Buffer) => this.#onRead(chunk, chunk.length))
    socket.on('error', (error) => this.#onLost(error))
    socket.on('end', () => this.#onEnd())
    socket.on('close', () => this.#onLost(undefined))
    return socket
  }

  #openTls(options: ConnectionOptions): Socket {
    const { host, tlsSession } = this.#pool
    const socket = connectTls({
      ...options,
      // Explicit, because an environment variable can turn the default off.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(tlsSession !== undefined && { session: tlsSession }),
    })
    socket.on('session', (session: Buffer) => {
      this.#pool.tlsSession = session
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
    this.#writtenAtMs = this.#parts.monotonic()
    writeAtTurnEnd(this)
  }

  writeOut(): void {
    const request = this.#waiting
    if (request === undefined) return
    this.#waiting = undefined
    const { head, body, onBodyUnused } = request
    const socket = this.#opened()
    const pieces = piecesOf(body)
    const length = head.length + bytesOf(pieces)
    if (pieces.length === 0) {
      socket.write(head, 'latin1')
    } else if (length <= joinedBytesMax) {
      const joined = Buffer.allocUnsafe(length)
      let at = joined.write(head, 'latin1')
      for (const piece of pieces) at += piece.copy(joined, at)
      socket.write(joined)
      onBodyUnused?.()
    } else {
      this.#unwritten = pieces.flatMap(slicesOf)
      socket.cork()
      socket.write(head, 'latin1')
      writeSlices(socket, this.#unwritten, onBodyUnused)
      socket.uncork()
    }
  }

  /** Requests are written, and answers read, on an open connection only. */
  #opened(): Socket {
    const socket = this.#socket
    invariant(socket !== undefined, 'the connection is open')
    return socket
  }

  #onRead(bytes: Buffer, length: number): void {
    this.#reading?.afterRead(length)
    const roundTrip = this.#roundTrip
    // No request is under way: these bytes must not be taken for the answer to the next one.
    if (roundTrip === undefined || !this.#isWritten) {
      this.#fail('protocol')
      return
    }
    // The request has not left yet, so these bytes are about the connection and no answer.
    if (this.#waiting !== undefined) {
      this.#fail('reset')
      return
    }
    const reader = this.#reader
    const reading = reader.read(bytes, length)
    const { head, hasNewHead, content, start, end } = reader
    // The caller may abort in any of these calls, which closes the connection.
    if (hasNewHead && head !== undefined) roundTrip.onHead(head)
    if (start < end && this.#roundTrip === roundTrip) roundTrip.onContent(content, start, end)
    if (this.#roundTrip !== roundTrip || reading === 'more') return
    if (reading === 'malformed') this.#fail('protocol')
    else this.#complete(roundTrip, reader.hasLeftover)
  }

  /**
   * The exchange is complete. A vendor may answer before it has read the whole request: the rest is then
   * still in the queue, and the next request would wait behind it.
   */
  #complete(roundTrip: RoundTrip, hasLeftover: boolean): void {
    const keepMs = this.#reusableMs()
    const socket = this.#opened()
    const isSent = this.#unwritten.length === 0 && socket.writableLength === 0
    const isClean = !hasLeftover && socket.writable && isSent
    if (isClean && keepMs > 0) {
      this.#roundTrip = undefined
      this.#isWritten = false
      this.dueMs = this.#parts.monotonic() + keepMs
      this.resume()
      this.#pool.release(this)
    } else {
      this.discard()
    }
    roundTrip.onComplete()
  }

  #reusableMs(): number {
    const { keepAliveMs } = this.#parts
    const statedMs = this.#reader.head?.keepAliveMs
    if (statedMs === undefined) return keepAliveMs
    return Math.min(keepAliveMs, statedMs - keepAliveMarginMs)
  }

  #onEnd(): void {
    const roundTrip = this.#roundTrip
    if (roundTrip === undefined || !this.#isWritten || !this.#reader.isCompleteAtEnd()) {
      this.#onLost(undefined)
      return
    }
    this.discard()
    roundTrip.onComplete()
  }

  #onLost(error: Error | undefined): void {
    if (this.#isClosed) return
    if (this.#isWritten || error === undefined) this.#fail(this.#isWritten ? 'reset' : 'connect')
    else this.#failToOpen(error)
  }

  #failToOpen(error: NodeJS.ErrnoException): void {
    const shortage = shortageIn(error)
    if (shortage !== undefined) this.#parts.onShortage(shortage)
    this.#fail(shortage === undefined ? failureOf(error) : 'shortage')
  }

  #fail(kind: FailureKind): void {
    const roundTrip = this.#roundTrip
    const failure = { kind, isReusedConnection: this.isReused }
    // A vendor that has closed one idle connection has usually closed the others.
    const waitedMs = this.#parts.monotonic() - this.#writtenAtMs
    if (
      roundTrip !== undefined &&
      isStaleConnection(failure, { hasHead: roundTrip.hasHead, waitedMs })
    )
      this.#pool.discardIdle()
    this.discard()
    roundTrip?.fail(kind)
  }
}

/**
 * Writes each slice when the socket has taken the one before, as far as they are not dropped meanwhile. Until
 * a write calls back the system may read its memory, also where the socket is destroyed.
 */
function writeSlices(socket: Socket, slices: Buffer[], onUnused: (() => void) | undefined): void {
  const slice = slices.shift()
  if (slice === undefined) return onUnused?.()
  socket.write(slice, (error) => {
    // A lost connection reports itself.
    if (error) slices.length = 0
    writeSlices(socket, slices, onUnused)
  })
}

function slicesOf(piece: Buffer): Buffer[] {
  const count = Math.ceil(piece.length / sliceBytesMax)
  const places = Array.from({ length: count }, (_, index) => index * sliceBytesMax)
  return places.map((at) => piece.subarray(at, at + sliceBytesMax))
}
