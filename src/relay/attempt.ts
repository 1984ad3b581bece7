/**
 * One try of an exchange on one channel, up to the commit point: sends the request, and resolves
 * once it is known what came of it. A stream resolves with its first event that is neither ping nor
 * error in hand; everything else resolves whole. Nothing here writes to the client, so whatever
 * comes out may still be thrown away for another channel.
 *
 *     waiting ─▶ collecting ─▶ settled      an answer or error body is read to its end
 *        └─────▶ holding ────▶ settled      a stream's bytes are kept until the commit point,
 *                                           then until somebody takes the stream over
 */
import type { Channel } from '../channels/channel.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHead,
  UpstreamReceiver,
} from '../channels/upstream.ts'
import { isStaleConnection } from '../channels/upstream-failure.ts'
import type { MeterReading, StreamMeter } from '../formats/format.ts'
import { isIdentity } from '../http/content-encoding.ts'
import type { AttemptOutcome, BrokenCause, LiveStream, StreamReceiver } from './attempt-outcome.ts'
import type { ClientLink, ClientWatcher } from './client-link.ts'
import { readErrorAnswer, readErrorEvent } from './error-answer.ts'
import type { Admitted } from './stages.ts'
import { unwatched, type Watchdog, type Watched } from '../base/watchdog.ts'

export type CommitPoint = 'first_event' | 'first_content'

export interface AttemptLimits {
  /** From the request sent to the first event of a stream, unless its model has a limit of its own. */
  readonly firstEventTimeoutMs: number
  /** What a stream has to have begun with before anything of it is shown. */
  readonly commitPoint: CommitPoint
  /** From the request sent to the end of an answer that is not streamed. */
  readonly wholeAnswerTimeoutMs: number
  /** How long to read on for the vendor's count once the client has left; 0 = not at all. */
  readonly clientLeftGraceMs: number
  /** What is not streamed, errors included, is kept in memory up to this size: it can fail over. */
  readonly answerBytesMax: number
}

export interface AttemptParts {
  readonly upstream: Upstream
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly limits: AttemptLimits
}

export interface AttemptRequest {
  readonly admitted: Admitted
  readonly channel: Channel
  readonly client: ClientLink
  /** Monotonic time by which the whole exchange must have ended. */
  readonly deadlineMs: number
  /** Tighter than the general limit, by what is usual on this channel. */
  readonly firstEventLimitMs?: number | undefined
  /**
   * Another channel is fit to serve, or this one is known to fail. Otherwise the tighter limit does not
   * hold: an unusual request, such as one that makes a model think for minutes, must not run into it
   * everywhere.
   */
  readonly hasAlternative: () => boolean
}

/** What goes to the vendor. An attempt does not keep it: a stream may outlast its request by far. */
export interface Outgoing {
  readonly path: string
  /** Flat list, credential included. */
  readonly headers: string[]
  readonly body: Buffer
}

/** Pings and comments for ever are no beginning of an answer. */
const beginningBytesMax = 1_048_576

export function makeAttempt(
  request: AttemptRequest,
  outgoing: Outgoing,
  parts: AttemptParts,
): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    new Attempt(request, parts, resolve).start(outgoing)
  })
}

class Attempt implements UpstreamReceiver, ClientWatcher, Watched, LiveStream {
  dueMs: number
  watchIndex = unwatched
  readonly #request: AttemptRequest
  readonly #parts: AttemptParts
  readonly #sentAtMs: number
  /** When the channel has used up all the time it may take. */
  readonly #limitMs: number
  #resolve: ((outcome: AttemptOutcome) => void) | undefined
  #call: UpstreamCall | undefined
  #head: UpstreamHead | undefined
  #meter: StreamMeter | undefined
  /** Body chunks while collecting, pieces for the client while holding. */
  #kept: Buffer[] = []
  #keptBytes = 0
  #receiver: StreamReceiver | undefined
  /** How the stream ended while nobody had taken it over yet. */
  #heldEnd: 'end' | 'cut' | undefined

  constructor(
    request: AttemptRequest,
    parts: AttemptParts,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    this.#request = request
    this.#parts = parts
    this.#resolve = resolve
    this.#sentAtMs = parts.monotonic()
    const { limits } = parts
    const { facts, model } = request.admitted
    const { isStream } = facts
    const firstEventMs = model.firstEventTimeoutMs ?? limits.firstEventTimeoutMs
    this.#limitMs = this.#sentAtMs + (isStream ? firstEventMs : limits.wholeAnswerTimeoutMs)
    const usualMs = isStream ? (request.firstEventLimitMs ?? Infinity) : Infinity
    this.dueMs = Math.min(this.#limitMs, this.#sentAtMs + usualMs, request.deadlineMs)
  }

  start(outgoing: Outgoing): void {
    const { channel, client } = this.#request
    this.#parts.watchdog.watch(this)
    client.watcher = this
    if (client.isGone) this.onClientGone()
    this.#call = this.#parts.upstream.send(channel, { method: 'POST', ...outgoing }, this)
    // The limits may have been reached while the call was being made.
    if (this.#resolve === undefined) this.#call.abort()
  }

  onHead(head: UpstreamHead): void {
    this.#head = head
    if (!isGood(head)) return
    const contentType = (head.header('content-type') ?? '').toLowerCase()
    const isStream = this.#request.admitted.facts.isStream
    // An answer that does not name its type has to show by its bytes what it is.
    const isExpected =
      contentType === '' ||
      (isStream ? contentType.startsWith('text/event-stream') : contentType.includes('json'))
    if (!isExpected || !isIdentity(head.header('content-encoding'))) {
      this.#break('not_the_format')
      return
    }
    if (isStream)
      this.#meter = this.#request.admitted.format.openMeter(this.#request.admitted.facts)
  }

  onData(chunk: Buffer): boolean {
    const meter = this.#meter
    if (meter === undefined) {
      this.#collect(chunk)
      return true
    }
    const pieces = meter.push(chunk)
    if (meter.isOverflown) {
      this.#cutStream()
      return true
    }
    if (this.#receiver !== undefined) return this.#receiver.onPieces(pieces)
    for (const piece of pieces) {
      this.#kept.push(piece)
      this.#keptBytes += piece.length
    }
    if (this.#resolve !== undefined) this.#judgeStart(meter)
    const isTooMuch = this.#keptBytes > beginningBytesMax
    if (isTooMuch && this.#resolve !== undefined) this.#break('protocol')
    return true
  }

  onEnd(): void {
    const meter = this.#meter
    if (meter === undefined) {
      this.#finishCollected()
      return
    }
    const rest = meter.end()
    // An unfinished frame that is no error of the vendor's would run into the error event we add.
    const isShown = meter.error !== undefined && rest.length > 0
    if (this.#receiver !== undefined) {
      if (isShown) this.#receiver.onPieces(rest)
      this.#receiver.onEnd()
      return
    }
    if (isShown) for (const piece of rest) this.#kept.push(piece)
    this.#heldEnd = 'end'
    if (this.#resolve === undefined) return
    if (meter.isTerminated || meter.error !== undefined) this.#judgeStart(meter)
    if (this.#resolve !== undefined) this.#break('not_the_format')
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#resolve === undefined) {
      this.#passOnCut()
      return
    }
    this.#settle({
      kind: 'broken',
      cause: failure.kind === 'aborted' ? 'shutdown' : failure.kind,
      isUnsent: failure.isUnsent,
      isStale: isStaleConnection(failure, {
        hasHead: this.#head !== undefined,
        waitedMs: this.#parts.monotonic() - this.#sentAtMs,
      }),
    })
  }

  onClientGone(): void {
    const { clientLeftGraceMs } = this.#parts.limits
    this.dueMs = Math.min(this.dueMs, this.#request.client.goneAtMs + clientLeftGraceMs)
    if (clientLeftGraceMs === 0) this.onDue()
  }

  /** Nothing has been written yet that it could be behind with. */
  onClientDrained(): void {}

  onDue(): void {
    const { client, deadlineMs, hasAlternative } = this.#request
    if (client.isGone) this.#leave()
    else if (this.dueMs >= deadlineMs) this.#break('deadline')
    else if (this.dueMs >= this.#limitMs || hasAlternative()) this.#break('timeout')
    else this.dueMs = Math.min(this.#limitMs, deadlineMs)
  }

  cut(): void {
    if (this.#request.client.isGone) this.#leave()
    else this.#break('shutdown')
  }

  // --- LiveStream: valid once the attempt has resolved as streaming ---

  get meter(): StreamMeter {
    if (this.#meter === undefined) throw new Error('only a streaming attempt has a meter')
    return this.#meter
  }

  take(receiver: StreamReceiver): void {
    const kept = this.#kept
    this.#kept = []
    this.#receiver = receiver
    receiver.onPieces(kept)
    if (this.#heldEnd === 'end') receiver.onEnd()
    else if (this.#heldEnd === 'cut') receiver.onCut()
  }

  resume(): void {
    this.#call?.resume()
  }

  abort(): void {
    this.#call?.abort()
  }

  // --- before the commit point ---

  #collect(chunk: Buffer): void {
    this.#keptBytes += chunk.length
    if (this.#keptBytes <= this.#parts.limits.answerBytesMax) {
      this.#kept.push(chunk)
      return
    }
    this.#kept = []
    if (this.#head === undefined || isGood(this.#head)) this.#break('protocol')
    else {
      this.#call?.abort()
      this.#settle(readErrorAnswer(this.#head, undefined, this.#request.admitted))
    }
  }

  #finishCollected(): void {
    const head = this.#head
    if (head === undefined || this.#resolve === undefined) return
    const body =
      this.#kept.length === 1 ? (this.#kept[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#kept)
    const { format, facts, operation } = this.#request.admitted
    if (!isGood(head)) {
      this.#settle(readErrorAnswer(head, body, this.#request.admitted))
      return
    }
    const firstEventMs = this.#parts.monotonic() - this.#sentAtMs
    if (operation === 'messages.count_tokens') {
      if (format.isTokenCount(body))
        this.#settle({ kind: 'whole', head, body, reading: emptyReading, firstEventMs })
      else this.#break('not_the_format')
      return
    }
    const answer = format.readAnswer(body, facts)
    if (answer.kind === 'not_the_format') this.#break('not_the_format')
    else this.#settle({ kind: 'whole', head, body, reading: answer.reading, firstEventMs })
  }

  /** Decides whether the kept bytes reach the commit point, or show an error that came first. */
  #judgeStart(meter: StreamMeter): void {
    const head = this.#head
    if (head === undefined) return
    if (this.#isBegun(meter)) {
      this.#settle({
        kind: 'streaming',
        head,
        stream: this,
        firstEventMs: this.#parts.monotonic() - this.#sentAtMs,
      })
      return
    }
    if (meter.error === undefined) return
    this.#call?.abort()
    const { error, errorEnvelope: envelope } = meter
    this.#settle(readErrorEvent(head, { error, envelope }, this.#request.admitted))
  }

  #isBegun(meter: StreamMeter): boolean {
    if (!meter.hasStarted) return false
    if (this.#parts.limits.commitPoint === 'first_event' || meter.isTerminated) return true
    return meter.reading().hasOutput
  }

  #leave(): void {
    this.#call?.abort()
    this.#settle({ kind: 'client_left' })
  }

  #break(cause: BrokenCause): void {
    this.#call?.abort()
    this.#settle({ kind: 'broken', cause, isUnsent: false, isStale: false })
  }

  /** The first outcome counts; every later one is the echo of an abort. */
  #settle(outcome: AttemptOutcome): void {
    const resolve = this.#resolve
    if (resolve === undefined) return
    this.#resolve = undefined
    this.#parts.watchdog.unwatch(this)
    this.#request.client.watcher = undefined
    resolve(outcome)
  }

  // --- after the commit point ---

  #cutStream(): void {
    if (this.#resolve !== undefined) {
      this.#break('protocol')
      return
    }
    this.#call?.abort()
    this.#passOnCut()
  }

  #passOnCut(): void {
    if (this.#receiver === undefined) this.#heldEnd ??= 'cut'
    else this.#receiver.onCut()
  }
}

const emptyReading: MeterReading = {
  usage: undefined,
  isFinal: true,
  isImplausible: false,
  hasOutput: false,
  isRefusal: false,
  output: { text: '', bytes: 0, audioBytes: 0 },
  webSearches: 0,
  model: undefined,
}

function isGood({ status }: UpstreamHead): boolean {
  return status >= 200 && status <= 299
}
