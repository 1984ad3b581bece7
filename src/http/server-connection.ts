/**
 * One connection of a client: reads requests one at a time, hands each over, and goes on when it has
 * been answered. The client is taken for hostile: every state has a time limit, what is kept is
 * bounded, and whatever cannot be read in one way only gets one refusal and the end.
 *
 *     idle ─▶ serving ─▶ idle …          a request is handed over, then answered
 *       │        └─▶ swallowing ─▶ idle   answered before its body was read: a small rest is read on
 *       └────────┴─▶ leaving ─▶ closed    nothing more is served; what is written goes out
 */
import type { Socket } from 'node:net'
import { unwatched, type Watchdog, type Watched } from '../base/watchdog.ts'
import { ClientOutput, type OutputSite } from './client-output.ts'
import { IncomingBody, type BodyReceiver, type BodySource } from './incoming-body.ts'
import { IncomingRequest } from './incoming-request.ts'
import { headTooLarge, notHttp, plainRefusal, tooLate } from './plain-refusal.ts'
import { ResponseWriter, type AnswerSite } from './response-writer.ts'
import type { UnacknowledgedBytes } from './unacknowledged-bytes.ts'
import { HeadReader, type HeadReading } from './wire/head-reader.ts'
import { parseRequestHead, type RequestFault, type RequestHead } from './wire/request-head.ts'

/** What all connections of a listener have in common. */
export interface ConnectionSite {
  readonly headBytesMax: number
  readonly headTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly writeStallTimeoutMs: number
  readonly keepAlive: string
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly unacknowledgedBytes: UnacknowledgedBytes
  readonly date: () => string
  readonly newRequestId: () => string
  readonly isDraining: () => boolean
  readonly handle: (request: IncomingRequest, response: ResponseWriter) => void
}

/** What a client may send ahead of its answers before nothing more is read from it. */
const aheadBytesMax = 16_384
/** Behind a refused request at most this much is still read before the connection goes. */
const swallowBytesMax = 65_536
/** How long a client has to leave, once nothing more is read from it and it has taken its answer. */
const lingerMs = 1_000
/** How often is looked whether a client takes what is written. */
const lookMs = 1_000

const nothing = Buffer.alloc(0)
const carriageReturn = 0x0d
const lineFeed = 0x0a

type State = 'idle' | 'serving' | 'swallowing' | 'leaving' | 'closed'

export class ServerConnection implements AnswerSite, BodySource, OutputSite, Watched {
  dueMs: number
  watchIndex = unwatched
  readonly output: ClientOutput
  readonly #socket: Socket
  readonly #site: ConnectionSite
  readonly #heads: HeadReader
  readonly #remoteAddress: string | undefined
  #state: State = 'idle'
  /** Come but not read: behind the request under way. */
  #ahead: Buffer = nothing
  #isAdvancing = false
  #hasServed = false
  #body: IncomingBody | undefined
  #response: ResponseWriter | undefined
  /** While idle: the last answer has been taken, and the time between two requests runs. */
  #isTaken = true
  /** While leaving: how much has still come. */
  #swallowedBytes = 0

  constructor(socket: Socket, site: ConnectionSite) {
    this.output = new ClientOutput(socket, this, site.unacknowledgedBytes)
    this.#socket = socket
    this.#site = site
    this.#heads = new HeadReader(site.headBytesMax)
    this.#remoteAddress = socket.remoteAddress
    this.dueMs = site.monotonic() + site.headTimeoutMs
    socket.on('data', (piece: Buffer) => this.#onData(piece))
    socket.on('end', () => this.#onEnd())
    // What follows is a close, which is all that matters.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#onClose())
    socket.on('drain', () => this.#onDrain())
    site.watchdog.watch(this)
  }

  get isClosing(): boolean {
    return this.#site.isDraining()
  }

  get keepAlive(): string {
    return this.#site.keepAlive
  }

  get date(): () => string {
    return this.#site.date
  }

  pauseReading(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  /** Ends the connection if nothing is under way on it. */
  leaveIfIdle(): void {
    if (this.#state === 'idle' && !this.#heads.hasBegun) this.#leave()
  }

  /** Ends it with whatever is under way; what has been written goes out as far as there is room for it. */
  cut(): void {
    this.output.goOn()
    this.#socket.destroy()
  }

  onDue(): void {
    const isUnread = this.#state === 'serving' && this.#body?.isComplete === false
    if (this.#state === 'idle' && !this.#heads.hasBegun) this.#onIdleDue()
    else if (this.#state === 'idle' || isUnread) this.#refuse(tooLate)
    else if (this.#state === 'serving') this.#lookOrCut()
    else if (this.#state === 'leaving' && this.output.untakenBytes > 0) this.#lookOrCut()
    else this.cut()
  }

  #onIdleDue(): void {
    if (this.output.untakenBytes > 0) this.#lookOrCut()
    else if (this.#isTaken) this.#leave()
    else this.#awaitRequest()
  }

  /** However slowly a client takes its answer, it is served; one that takes nothing is not. */
  #lookOrCut(): void {
    const nowMs = this.#site.monotonic()
    if (this.output.hasStalled(nowMs, this.#site.writeStallTimeoutMs)) this.cut()
    else this.dueMs = nowMs + lookMs
  }

  /** In every other state, and until the request has come whole, there is a limit already. */
  onBehind(): void {
    if (this.#state !== 'serving' || this.dueMs !== Infinity) return
    const nowMs = this.#site.monotonic()
    this.output.startWatching(nowMs)
    this.dueMs = nowMs + lookMs
  }

  /** The answer under way will not be completed. */
  breakOff(): void {
    this.#leave()
  }

  /** The answer under way is complete. */
  onAnswered(): void {
    const response = this.#response
    const body = this.#body
    this.#response = undefined
    if (this.#state !== 'serving') return
    if (response?.isLast === true || this.isClosing) {
      this.#leave()
    } else if (body?.isComplete === false) {
      this.#state = 'swallowing'
      body.readInto(unheard)
    } else {
      this.#becomeIdle()
    }
  }

  #becomeIdle(): void {
    this.#state = 'idle'
    this.#body = undefined
    if (!this.output.isDue) this.#awaitRequest()
    this.resumeReading()
    this.#advance()
  }

  /** The time until the next request is only that: whoever still takes an answer is not idle. */
  #awaitRequest(): void {
    const nowMs = this.#site.monotonic()
    this.#isTaken = this.output.untakenBytes === 0
    if (!this.#isTaken) this.output.startWatching(nowMs)
    this.dueMs = nowMs + (this.#isTaken ? this.#site.keepAliveTimeoutMs : lookMs)
  }

  #onData(piece: Buffer): void {
    if (this.#state === 'closed') return
    if (this.#state === 'leaving') {
      this.#swallowedBytes += piece.length
      if (this.#swallowedBytes > swallowBytesMax) this.pauseReading()
      return
    }
    const body = this.#body
    const at = body === undefined || body.isComplete ? 0 : this.#readBody(body, piece)
    if (at < piece.length) this.#keepAhead(at === 0 ? piece : piece.subarray(at))
    if (body?.isComplete === true && this.#state === 'swallowing') this.#becomeIdle()
    else if (this.#state === 'idle') this.#advance()
    else if (this.#state === 'serving' && body?.isComplete === true) this.#lookAhead()
    if (this.#ahead.length > aheadBytesMax) this.pauseReading()
  }

  /** Returns where the bytes behind the body begin. */
  #readBody(body: IncomingBody, piece: Buffer): number {
    const at = body.push(piece, 0)
    if (body.isBroken) {
      this.#refuse(notHttp)
      return piece.length
    }
    if (body.isComplete && this.#state === 'serving') this.dueMs = Infinity
    return at
  }

  #keepAhead(piece: Buffer): void {
    this.#ahead = this.#ahead.length === 0 ? piece : Buffer.concat([this.#ahead, piece])
  }

  /**
   * What a client sends while its answer is under way is read only afterwards. If it cannot become a
   * request, the client has lost its place, and anything written now could be taken for its answer.
   */
  #lookAhead(): void {
    if (this.#ahead.length === 0) return
    const heads = new HeadReader(this.#site.headBytesMax)
    const reading = heads.read(this.#ahead, startOf(this.#ahead))
    if (reading === 'more') return
    if (reading !== 'whole' || parseRequestHead(heads.text).kind === 'fault') this.cut()
  }

  /**
   * Reads the requests that have come, one after the other, as long as each is answered at once and
   * its answer taken.
   */
  #advance(): void {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    while (this.#state === 'idle' && this.#ahead.length > 0 && !this.output.isBehind)
      this.#readHead()
    this.#isAdvancing = false
  }

  #readHead(): void {
    const piece = this.#ahead
    this.#ahead = nothing
    const hadBegun = this.#heads.hasBegun
    const reading = this.#heads.read(piece, hadBegun ? 0 : startOf(piece))
    if (reading !== 'whole') {
      this.#awaitHead(reading, hadBegun)
      return
    }
    if (this.#heads.next < piece.length) this.#ahead = piece.subarray(this.#heads.next)
    const head = parseRequestHead(this.#heads.text)
    if (head.kind === 'head') this.#serve(head)
    else this.#refuse(head)
  }

  #awaitHead(reading: HeadReading, hadBegun: boolean): void {
    if (reading === 'too_large') this.#refuse(headTooLarge)
    else if (reading === 'malformed') this.#refuse(notHttp)
    // From its first byte on, and not from each byte; a new connection's time runs already.
    else if (!hadBegun && this.#hasServed)
      this.dueMs = this.#site.monotonic() + this.#site.headTimeoutMs
  }

  #serve(head: RequestHead): void {
    const body = new IncomingBody(head.framing, this)
    this.#state = 'serving'
    this.#hasServed = true
    this.#body = body
    if (!body.isComplete && this.#ahead.length > 0) {
      const piece = this.#ahead
      const at = body.push(piece, 0)
      this.#ahead = at < piece.length ? piece.subarray(at) : nothing
      if (body.isBroken) {
        this.#refuse(notHttp)
        return
      }
    }
    const response = new ResponseWriter(this, head)
    this.#response = response
    if (body.isComplete) {
      this.dueMs = Infinity
      if (this.#ahead.length > 0) this.#lookAhead()
    } else {
      this.dueMs = this.#site.monotonic() + this.#site.requestTimeoutMs
      this.pauseReading()
    }
    this.#site.handle(new IncomingRequest(head, body, this.#remoteAddress), response)
  }

  /** One answer of our own and the end, unless an answer is under way: then only the end. */
  #refuse(fault: RequestFault): void {
    const isAnswering = this.#response?.isHeadWritten === true || this.#state === 'swallowing'
    this.#forget()
    if (isAnswering) {
      this.#state = 'leaving'
      this.cut()
      return
    }
    this.output.write([plainRefusal(fault, this.#site.newRequestId())])
    this.#leave({ hasUnread: true })
  }

  /** Whoever serves the request learns that its client has gone. */
  #forget(): void {
    const body = this.#body
    const response = this.#response
    this.#body = undefined
    this.#response = undefined
    body?.onGone()
    response?.leave()
  }

  /**
   * Nothing more is served. Closing while bytes still come would be a reset that can overtake the
   * answer: then only our end is closed, and a little more is read for a moment.
   */
  #leave({ hasUnread = false } = {}): void {
    const nowMs = this.#site.monotonic()
    const mayHaveMore = hasUnread || this.#ahead.length > 0 || this.#body?.isComplete === false
    this.#state = 'leaving'
    this.#ahead = nothing
    this.#body = undefined
    this.dueMs = nowMs + lingerMs
    this.output.startWatching(nowMs)
    if (mayHaveMore) {
      this.output.end()
      this.resumeReading()
    } else {
      this.output.close()
    }
  }

  /** The client has ended its side: it is not there to be answered. */
  #onEnd(): void {
    this.#forget()
    this.#ahead = nothing
    if (this.#state === 'leaving') this.output.close()
    else this.#leave()
  }

  #onClose(): void {
    this.#state = 'closed'
    this.#ahead = nothing
    this.output.drop()
    this.#site.watchdog.unwatch(this)
    this.#forget()
  }

  writeOut(): void {
    this.output.goOn()
    if (this.#state === 'idle' && !this.#heads.hasBegun) this.#awaitRequest()
  }

  #onDrain(): void {
    this.output.goOn()
    if (this.output.isBehind) return
    if (this.#state === 'serving' && this.#body?.isComplete === true) this.dueMs = Infinity
    this.#response?.watcher?.onDrain()
    if (this.#state !== 'idle') return
    if (!this.#heads.hasBegun) this.#awaitRequest()
    this.resumeReading()
    this.#advance()
  }
}

/** One empty line before a request is no part of it: old clients sent one behind a body. */
function startOf(piece: Buffer): number {
  return piece[0] === carriageReturn && piece[1] === lineFeed ? 2 : 0
}

/** Of a request that has been answered. */
const unheard: BodyReceiver = {
  onContent: () => undefined,
  onEnd: () => undefined,
  onGone: () => undefined,
}
