/**
 * One connection of a client: reads one request at a time, passes it to the handler, and reads the next one
 * when it has been answered. The client may be hostile: every state has a timeout, all memory is bounded, and
 * bytes that two programs could read differently get one refusal and the end of the connection.
 *
 *     idle ─▶ serving ─▶ idle …           the handler has a request, then has answered it
 *       │        └─▶ discarding ─▶ idle   answered before its body was read: the rest of the body is dropped
 *       └────────┴─▶ closing ─▶ closed    no request is served; what is written goes out
 */
import type { Socket } from 'node:net'
import { unwatched, type Watched } from '../../base/watchdog.ts'
import { SocketReading } from '../socket-reading.ts'
import type { Peer } from './client-address.ts'
import type { ConnectionParts } from './connection-parts.ts'
import { ClientOutput, type OutputOwner } from './client-output.ts'
import type { Arrival, Place, PlaceHolder } from './connection-places.ts'
import { discardBody, IncomingBody, type BodySource, IncomingRequest } from './request.ts'
import { notHttp, plainRefusal, requestTimeout } from './reply.ts'
import { ResponseWriter, type AnswerConnection } from './response-writer.ts'
import { UnreadInput } from './unread-input.ts'
import type { RequestFault, RequestHead } from '../wire/request-head.ts'

/** Behind a refused request at most this much is still read. */
const discardedBytesMax = 65_536
/** How long a client has to close its side once it has received its answer. */
const lingerMs = 1_000
/** How often the connection checks whether a client receives its answer. */
const stallCheckMs = 1_000

type State = 'idle' | 'serving' | 'discarding' | 'closing' | 'closed'

export class ServerConnection
  implements AnswerConnection, BodySource, OutputOwner, PlaceHolder, Watched
{
  dueMs: number
  watchIndex = unwatched
  readonly output: ClientOutput
  readonly #socket: Socket
  readonly #reading: SocketReading
  readonly #parts: ConnectionParts
  /** Behind the request under way. */
  readonly #ahead: UnreadInput
  readonly #peer: Peer
  readonly #place: Place
  #state: State = 'idle'
  /** The next request that has arrived is read in the next turn of the event loop. */
  #isTurnDue = false
  /** The client closed its side while requests waited for their turn. */
  #hasEnded = false
  #hasServed = false
  #body: IncomingBody | undefined
  #response: ResponseWriter | undefined
  /** While idle: the client has received the last answer, and the keep-alive time runs. */
  #isReceived = true
  /** The bytes behind the current request are no request: this one is the last. */
  #isLost = false
  /** Received while closing, or while lost. */
  #discardedBytes = 0

  constructor(socket: Socket, parts: ConnectionParts, { peer, place }: Arrival) {
    this.output = new ClientOutput(socket, this)
    this.#socket = socket
    this.#reading = new SocketReading(socket)
    this.#parts = parts
    this.#ahead = new UnreadInput(parts.headBytesMax)
    this.#peer = peer
    this.#place = place
    place.holder = this
    this.dueMs = parts.monotonic() + parts.headTimeoutMs
    socket.on('data', (piece: Buffer) => this.#onData(piece))
    socket.on('end', () => this.#onEnd())
    // A close event follows, which is handled.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#onClose())
    socket.on('drain', () => this.#onDrain())
    parts.watchdog.watch(this)
  }

  get isClosing(): boolean {
    return this.#parts.isDraining()
  }

  get keepAlive(): string {
    return this.#parts.keepAlive
  }

  get date(): () => string {
    return this.#parts.date
  }

  pauseReading(): void {
    this.#reading.stop()
  }

  resumeReading(): void {
    this.#reading.goOn()
  }

  /** Closes the connection unless a request is under way. */
  closeIfIdle(): void {
    if (this.#isIdle()) this.#close()
  }

  giveWay(): boolean {
    if (!this.#place.hasKey) this.cut()
    else if (this.#isIdle() && this.output.unsentBytes === 0) this.#close()
    else return false
    return true
  }

  #isIdle(): boolean {
    return this.#state === 'idle' && !this.#ahead.hasBegunHead && this.#ahead.length === 0
  }

  /** Closes the connection at once; written bytes go out as far as the socket has room for them. */
  cut(): void {
    this.output.flush()
    this.#socket.destroy()
  }

  onDue(): void {
    const isUnread = this.#state === 'serving' && this.#body?.isComplete === false
    if (this.#state === 'idle' && !this.#ahead.hasBegunHead) this.#onIdleDue()
    else if (this.#state === 'idle' || isUnread) this.#refuse(requestTimeout)
    else if (this.#state === 'serving') this.#checkStall()
    else if (this.#state === 'closing' && this.output.unsentBytes > 0) this.#checkStall()
    else this.cut()
  }

  #onIdleDue(): void {
    if (this.output.unsentBytes > 0) this.#checkStall()
    else if (this.#isReceived) this.#close()
    else this.#awaitRequest()
  }

  /** A slow client is served to the end; a client that receives nothing for too long is cut off. */
  #checkStall(): void {
    const nowMs = this.#parts.monotonic()
    if (this.output.hasStalled(nowMs, this.#parts.writeStallTimeoutMs)) this.cut()
    else this.dueMs = nowMs + stallCheckMs
  }

  /** In every other state, and until the whole request has arrived, a timeout runs already. */
  onBehind(): void {
    if (this.#state !== 'serving' || this.dueMs !== Infinity) return
    const nowMs = this.#parts.monotonic()
    this.output.startWatching(nowMs)
    this.dueMs = nowMs + stallCheckMs
  }

  /** Ends the connection although the answer is not complete. */
  breakOff(): void {
    this.#close()
  }

  /** The current answer is complete. */
  onAnswered(): void {
    const response = this.#response
    const body = this.#body
    this.#response = undefined
    if (this.#state !== 'serving') return
    if (response?.isLast === true || this.isClosing) {
      this.#close({ hasUnread: this.#isLost })
    } else if (body?.isComplete === false) {
      this.#state = 'discarding'
      body.readInto(discardBody)
    } else {
      this.#becomeIdle()
    }
  }

  #becomeIdle(): void {
    this.#state = 'idle'
    this.#body = undefined
    this.#place.onSpare()
    if (!this.output.isDue) this.#awaitRequest()
    this.#readOn()
    if (this.#ahead.length > 0) this.#advanceNextTurn()
  }

  /** Bytes kept ahead stay within their bound, also while it is served one request per turn. */
  #readOn(): void {
    if (!this.#ahead.isFull) this.resumeReading()
  }

  /** The keep-alive time starts only when the client has received its answer. */
  #awaitRequest(): void {
    const nowMs = this.#parts.monotonic()
    this.#isReceived = this.output.unsentBytes === 0
    if (!this.#isReceived) this.output.startWatching(nowMs)
    this.dueMs = nowMs + (this.#isReceived ? this.#parts.keepAliveTimeoutMs : stallCheckMs)
  }

  #onData(piece: Buffer): void {
    this.#reading.afterRead(piece.length)
    if (this.#state === 'closed') return
    if (this.#state === 'closing' || this.#isLost) {
      this.#discardedBytes += piece.length
      if (this.#discardedBytes > discardedBytesMax) this.pauseReading()
      return
    }
    const body = this.#body
    const at = body === undefined || body.isComplete ? 0 : this.#readBody(body, piece)
    if (at < piece.length) this.#ahead.keep(at === 0 ? piece : piece.subarray(at))
    if (body?.isComplete === true && this.#state === 'discarding') this.#becomeIdle()
    else if (this.#state === 'idle') this.#advance()
    else if (this.#state === 'serving' && body?.isComplete === true)
      if (at > 0) this.#checkArrivedAhead()
      else this.#checkLaterAhead()
    if (this.#ahead.isFull) this.pauseReading()
  }

  /** Returns the offset behind the body. */
  #readBody(body: IncomingBody, piece: Buffer): number {
    const at = body.push(piece, 0)
    if (body.isBroken) {
      this.#refuse(notHttp)
      return piece.length
    }
    if (body.isComplete && this.#state === 'serving') this.#onRequestComplete()
    return at
  }

  #onRequestComplete(): void {
    this.dueMs = Infinity
    this.#place.onBusy()
  }

  /**
   * Input that a client sends ahead is read later. If it cannot become a request, both sides disagree about
   * where requests begin: the request that came with it is answered, and the connection ends behind that.
   */
  #checkArrivedAhead(): void {
    if (this.#ahead.mayBecomeRequest) return
    this.#isLost = true
    this.#ahead.drop()
    this.#response?.closeAfterwards()
  }

  /** The client could take the bytes being written for another answer: the connection is cut. */
  #checkLaterAhead(): void {
    if (!this.#ahead.mayBecomeRequest) this.cut()
  }

  /** Reads one request. Those behind it wait for later turns, so that other clients are served between. */
  #advance(): void {
    if (this.#isTurnDue || this.#state !== 'idle') return
    if (this.#ahead.length > 0 && !this.output.isBehind) this.#readHead()
  }

  #advanceNextTurn(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    setImmediate(() => this.#onTurn())
  }

  #onTurn(): void {
    this.#isTurnDue = false
    if (this.#state === 'closed') return
    const wasServing = this.#state === 'serving'
    this.#advance()
    if (this.#state === 'idle') this.#readOn()
    if (!this.#hasEnded) return
    // A request that is not answered within a turn runs for a client that has left.
    if (this.#state === 'serving' && !wasServing) this.#advanceNextTurn()
    else if (!this.#isTurnDue) this.#leave()
  }

  #readHead(): void {
    const hadBegun = this.#ahead.hasBegunHead
    const head = this.#ahead.readHead()
    if (head?.kind === 'head') this.#serve(head)
    else if (head !== undefined) this.#refuse(head)
    // The time runs from the first byte of a head; on a new connection it runs already.
    else if (!hadBegun && this.#hasServed)
      this.dueMs = this.#parts.monotonic() + this.#parts.headTimeoutMs
  }

  #serve(head: RequestHead): void {
    const body = new IncomingBody(head.framing, this)
    this.#state = 'serving'
    this.#hasServed = true
    this.#body = body
    if (!body.isComplete && this.#ahead.length > 0) {
      this.#ahead.readInto(body)
      if (body.isBroken) {
        this.#refuse(notHttp)
        return
      }
    }
    const response = new ResponseWriter(this, head)
    this.#response = response
    if (this.#place.isForHealthOnly) response.closeAfterwards()
    if (body.isComplete) {
      this.#onRequestComplete()
      this.#checkArrivedAhead()
    } else {
      this.dueMs = this.#parts.monotonic() + this.#parts.requestTimeoutMs
      this.pauseReading()
    }
    const address = this.#parts.addresses.find(this.#peer, head.fields)
    const from = { address, place: this.#place }
    this.#parts.handle(new IncomingRequest(head, body, from), response)
  }

  /** Sends one error and closes the connection; with an answer under way it only closes. */
  #refuse(fault: RequestFault): void {
    const isAnswering = this.#response?.isHeadWritten === true || this.#state === 'discarding'
    this.#dropExchange()
    if (isAnswering) {
      this.#state = 'closing'
      this.cut()
      return
    }
    this.output.write([plainRefusal(fault, this.#parts.newRequestId())])
    this.#close({ hasUnread: true })
  }

  /** Reports to the receivers of the current request that its client has gone. */
  #dropExchange(): void {
    const body = this.#body
    const response = this.#response
    this.#body = undefined
    this.#response = undefined
    body?.onGone()
    response?.onClientGone()
  }

  /**
   * Serves no more requests. To close while bytes still arrive would cause a reset that can overtake the
   * answer: then only the gateway's side is closed, and a bounded rest is read for a moment.
   */
  #close({ hasUnread = false } = {}): void {
    const nowMs = this.#parts.monotonic()
    const mayHaveMore = hasUnread || this.#ahead.length > 0 || this.#body?.isComplete === false
    this.#state = 'closing'
    this.#ahead.drop()
    this.#body = undefined
    this.dueMs = nowMs + lingerMs
    this.output.startWatching(nowMs)
    if (!mayHaveMore) this.output.close()
    else this.output.end()
    if (mayHaveMore) this.resumeReading()
  }

  /** The client has closed its side: it has left, but gets answers to what it sent before. */
  #onEnd(): void {
    if (this.#state === 'idle' && this.#isTurnDue) this.#hasEnded = true
    else this.#leave()
  }

  #leave(): void {
    this.#dropExchange()
    this.#ahead.drop()
    if (this.#state === 'closing') this.output.close()
    else this.#close()
  }

  #onClose(): void {
    this.#state = 'closed'
    this.#place.release()
    this.#ahead.drop()
    this.output.drop()
    this.#parts.watchdog.unwatch(this)
    this.#dropExchange()
  }

  writeOut(): void {
    this.output.flush()
    if (this.#state === 'idle' && !this.#ahead.hasBegunHead) this.#awaitRequest()
  }

  #onDrain(): void {
    this.output.flush()
    if (this.output.isBehind) return
    if (this.#state === 'serving' && this.#body?.isComplete === true) this.dueMs = Infinity
    this.#response?.watcher?.onDrain()
    if (this.#state !== 'idle') return
    if (!this.#ahead.hasBegunHead) this.#awaitRequest()
    this.#readOn()
    this.#advance()
  }
}
