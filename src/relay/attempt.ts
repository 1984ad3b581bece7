/**
 * One attempt of an exchange on one channel, up to the commit point: sends the request, and resolves
 * once its outcome is known. A stream resolves with its first event that is neither ping nor error;
 * everything else resolves whole. Nothing here writes to the client, so the gateway can still discard
 * the outcome and try another channel.
 *
 *     waiting ─▶ collecting ─▶ settled      an answer or error body is read to its end
 *        └─────▶ holding ────▶ settled      a stream's bytes are kept until the commit point,
 *                                           then until the delivery takes the stream over
 */
import { unwatched, type Watched } from '../base/watchdog.ts'
import type { Channel } from '../channels/channel.ts'
import { classOfFailure, type BrokenClass } from '../channels/outcomes.ts'
import type { Lease } from '../channels/route.ts'
import type { StreamMeter } from '../formats/answer.ts'
import { withoutSecrets } from '../formats/headers.ts'
import { isIdentity } from '../http/client/content-encoding.ts'
import { sendDecoding } from '../http/client/decoded-answer.ts'
import { ReceivedHead } from '../http/client/round-trip.ts'
import {
  isStaleConnection,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamHead,
  type UpstreamReceiver,
  type UpstreamRequest,
} from '../http/client/upstream.ts'
import { copyOf } from '../http/wire/framing.ts'
import { readAnswer, type ReadAnswer } from './answer-reader.ts'
import {
  isGood,
  readErrorAnswer,
  readErrorEvent,
  type AnswerContext,
  type AttemptOutcome,
  type LiveStream,
  type StreamReceiver,
} from './attempt-outcome.ts'
import type { ClientLink, ClientWatcher } from './client-link.ts'
import type { Admitted, RelayServices } from './stages.ts'

export type AttemptServices = Pick<
  RelayServices,
  'clock' | 'upstream' | 'watchdog' | 'settings' | 'onTracePoint'
>

export interface AttemptRequest {
  readonly admitted: Admitted
  readonly client: ClientLink
  readonly lease: Lease
  /** Monotonic time by which the whole exchange must have ended. */
  readonly deadlineMs: number
}

/** The request to the vendor. An attempt does not keep it: a stream can last long after its request. */
export type Outgoing = UpstreamRequest

/** The most bytes before the first event. An endless run of pings and comments is no answer. */
const beginningBytesMax = 1_048_576

export function makeAttempt(
  request: AttemptRequest,
  outgoing: Outgoing,
  services: AttemptServices,
): Promise<AttemptOutcome> {
  const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
  new Attempt(request, services, resolve).start(outgoing)
  return promise
}

class Attempt implements UpstreamReceiver, ClientWatcher, Watched, LiveStream {
  dueMs: number
  watchIndex = unwatched
  readonly #request: AttemptRequest
  readonly #services: AttemptServices
  readonly #sentAtMs: number
  #resolve: ((outcome: AttemptOutcome) => void) | undefined
  #call: UpstreamCall | undefined
  #head: UpstreamHead | undefined
  #meter: StreamMeter | undefined
  /** Body chunks while collecting, pieces for the client while holding. */
  #kept: Buffer[] = []
  #keptBytes = 0
  #receiver: StreamReceiver | undefined
  /** How the stream ended before the delivery took it over. */
  #heldEnd: 'end' | 'cut' | undefined

  constructor(
    request: AttemptRequest,
    services: AttemptServices,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    this.#request = request
    this.#services = services
    this.#resolve = resolve
    this.#sentAtMs = services.clock.monotonic()
    this.dueMs = this.#patienceEnd()
  }

  start(outgoing: Outgoing): void {
    const { lease, client } = this.#request
    const { watchdog, upstream, settings } = this.#services
    watchdog.watch(this)
    client.watcher = this
    if (client.isGone) this.onClientGone()
    const bounds = { receiver: this, bytesMax: settings.answerBytesMax }
    this.#call = sendDecoding(upstream, lease.channel, outgoing, bounds)
    // The limits may have been reached while the call was being made.
    if (this.#resolve === undefined) this.#call.abort()
  }

  // --- UpstreamReceiver ---

  onHead(received: UpstreamHead): void {
    const head = hideSecrets(received, this.#request.lease.channel)
    this.#head = head
    if (!isGood(head)) return
    const { facts, operation } = this.#request.admitted
    const contentType = (head.header('content-type') ?? '').toLowerCase()
    // An answer without a content type has to show by its bytes what it is.
    const isExpected =
      contentType === '' ||
      (facts.isStream ? contentType.startsWith('text/event-stream') : contentType.includes('json'))
    if (!isExpected || !isIdentity(head.header('content-encoding'))) this.#break('not_the_format')
    else if (facts.isStream) {
      this.#meter = operation.openMeter(facts)
      this.#request.lease.patience.onHead()
      this.#waitOn()
      this.#services.onTracePoint?.('head_received', this.#request.admitted.exchangeId)
    }
  }

  onBytes(bytes: Buffer, start: number, end: number): boolean {
    const meter = this.#meter
    if (meter === undefined) {
      this.#collect(copyOf(bytes, start, end))
      return true
    }
    const receiver = this.#receiver
    const at = receiver === undefined ? start : meter.passRepeats(bytes, start, end)
    const isReady = at === start || receiver?.onBytes(bytes, start, at) !== false
    return at === end ? isReady : this.#push(meter, copyOf(bytes, at, end))
  }

  #push(meter: StreamMeter, chunk: Buffer): boolean {
    const { eventCount } = meter
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
    if (this.#resolve !== undefined && meter.eventCount > eventCount) {
      this.#request.lease.patience.onWork()
      this.#waitOn()
    }
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
    const rest = meter.end(this.#head?.isEndAnnounced === true)
    // An unfinished frame is passed on only in a vendor's error: elsewhere it would run into our own.
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
      class: classOfFailure(failure.kind),
      isUnsent: failure.isUnsent,
      isStale: isStaleConnection(failure, {
        hasHead: this.#head !== undefined,
        waitedMs: this.#services.clock.monotonic() - this.#sentAtMs,
      }),
    })
  }

  // --- ClientWatcher ---

  onClientGone(): void {
    const { clientLeftGraceMs } = this.#services.settings
    this.dueMs = Math.min(this.dueMs, this.#request.client.goneAtMs + clientLeftGraceMs)
    if (clientLeftGraceMs === 0) this.onDue()
  }

  /** Nothing has been written yet, so there is no backlog. */
  onClientDrained(): void {}

  onReadEnough(): void {
    this.#leave()
  }

  // --- Watched ---

  onDue(): void {
    const { client, deadlineMs, lease } = this.#request
    if (client.isGone && !client.isReadOn) this.#leaveOrReadOn()
    else if (this.dueMs >= deadlineMs) this.#break('deadline')
    else if (lease.patience.isOver()) this.#break('timeout')
    else this.dueMs = this.#patienceEnd()
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
    if (this.#keptBytes <= this.#services.settings.answerBytesMax) {
      this.#kept.push(chunk)
      return
    }
    this.#kept = []
    const context = this.#context()
    if (context === undefined || isGood(context.head)) this.#break('too_large')
    else {
      this.#call?.abort()
      this.#settle({ ...readErrorAnswer(undefined, context), head: context.head })
    }
  }

  #finishCollected(): void {
    const context = this.#context()
    if (context === undefined || this.#resolve === undefined) return
    const firstEventMs = this.#services.clock.monotonic() - this.#sentAtMs
    const read = readAnswer(this.#kept, context)
    this.#kept = []
    if (!(read instanceof Promise)) return this.#judgeCollected(read, firstEventMs)
    // The vendor has done its part, and the time to read follows the size.
    this.#stopWatching()
    read.then(
      (result) => this.#judgeCollected(result, firstEventMs),
      () => this.#break('not_the_format'),
    )
  }

  #judgeCollected({ reading, body }: ReadAnswer, firstEventMs: number): void {
    const head = this.#head
    if (head === undefined) return
    if (reading.kind === 'not_the_format') this.#break('not_the_format')
    else if (reading.kind === 'vendor_error') this.#settle({ ...reading, head })
    else {
      const answer = { head, body, reading: reading.reading, firstEventMs }
      this.#settle({ kind: 'whole', class: 'answered', ...answer })
    }
  }

  /** The context in which the answer is read; undefined before its head. */
  #context(): AnswerContext | undefined {
    const head = this.#head
    if (head === undefined) return undefined
    const { admitted, lease } = this.#request
    const { format, operation, facts } = admitted
    return { head, format, operation, facts, secrets: lease.channel.secrets }
  }

  /** Settles where the kept bytes reach the commit point, or show an error that came first. */
  #judgeStart(meter: StreamMeter): void {
    const context = this.#context()
    if (context === undefined) return
    const { head } = context
    const { error, errorEnvelope } = meter
    // No client could learn of it, and the part before says only that the vendor worked.
    const hasFailed = meter.isErrorWithheld && !meter.reading().hasOutput
    if (!hasFailed && meter.hasStarted) {
      const firstEventMs = this.#services.clock.monotonic() - this.#sentAtMs
      this.#settle({ kind: 'streaming', class: 'answered', head, stream: this, firstEventMs })
      return
    }
    if (error === undefined) return
    this.#call?.abort()
    this.#settle({ ...readErrorEvent({ error, errorEnvelope }, context), head })
  }

  /** The grace time has passed. The vendor works on the prompt, whether the gateway reads or not. */
  #leaveOrReadOn(): void {
    const { client, lease } = this.#request
    if (!client.readOn()) {
      this.#leave()
      return
    }
    lease.patience.keepOn()
    this.dueMs = this.#patienceEnd()
  }

  #patienceEnd(): number {
    const { lease, deadlineMs } = this.#request
    return Math.min(lease.patience.dueMs, deadlineMs)
  }

  /** The vendor has shown that it works. A client that has left is waited for no longer. */
  #waitOn(): void {
    const { client } = this.#request
    if (!client.isGone || client.isReadOn) this.dueMs = this.#patienceEnd()
  }

  #leave(): void {
    this.#call?.abort()
    this.#settle({ kind: 'client_left', class: 'client_left' })
  }

  #break(name: BrokenClass): void {
    this.#call?.abort()
    this.#settle({ kind: 'broken', class: name, isUnsent: false, isStale: false })
  }

  /** The first outcome counts; every later one is the echo of an abort. */
  #settle(outcome: AttemptOutcome): void {
    const resolve = this.#resolve
    if (resolve === undefined) return
    this.#resolve = undefined
    this.#stopWatching()
    resolve(outcome)
  }

  #stopWatching(): void {
    this.#services.watchdog.unwatch(this)
    this.#request.client.watcher = undefined
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

/** A vendor may send its request back: no part of a secret is shown, recorded or logged. */
function hideSecrets(head: UpstreamHead, { secrets }: Channel): UpstreamHead {
  const fields = withoutSecrets(head.fields, secrets)
  return fields === head.fields ? head : new ReceivedHead({ ...head, fields })
}
