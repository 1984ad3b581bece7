/**
 * Delivers one committed stream: writes each piece in the turn it came, with backpressure, and keeps
 * the last piece until the charge is durable. A stream that ends in any other way ends with an error
 * event. From the commit point on nothing else writes to the response.
 *
 *     open ─▶ ended            the ending is known and reported once; the charge is being stored
 *       │       └─▶ released   the last piece (or the stream's error) has been written
 *       └─▶ open, client gone  reading on for the vendor's count, writing nothing: for the grace time; then,
 *                              where reasoning was asked for, as long as the vendor goes on
 *
 * A client that was behind when the vendor gave up has left.
 */
import { unwatched, type Watched } from '../base/watchdog.ts'
import type { MeterReading, StreamMeter } from '../formats/answer.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import { copyOf } from '../http/wire/framing.ts'
import { bytesOf } from '../http/wire/message-writer.ts'
import type { Ending } from '../metering/settlement.ts'
import type { LiveStream, StreamReceiver } from './attempt-outcome.ts'
import { ClientBacklog } from './client-backlog.ts'
import type { ClientLink, ClientWatcher } from './client-link.ts'
import type { RelayServices } from './stages.ts'

export interface StreamToDeliver {
  readonly response: ResponseWriter
  readonly client: ClientLink
  readonly stream: LiveStream
  /** Monotonic time by which the whole exchange must have ended. */
  readonly deadlineMs: number
  /** The longest silence between two outputs. */
  readonly idleTimeoutMs: number
  /** How long pings alone keep the stream alive. */
  readonly pingTimeoutMs: number
  /** The most tokens that the answer may have. */
  readonly answerTokensMax: number
  /** Returns the format's error event, for an end that is not the vendor's. */
  readonly errorEvent: (ending: Ending) => Buffer
  /** Called once, when more than the stream's beginning has come. */
  readonly onMore: () => void
  /** Called once, when the ending is known, with the chargeable counts; the last piece still waits. */
  readonly onEnded: (ending: Ending, reading: MeterReading) => void
}

type StreamServices = Pick<RelayServices, 'clock' | 'watchdog'> & {
  readonly settings: Pick<RelayServices['settings'], 'clientLeftGraceMs'>
}

/** How long the vendor may take to close its side once the terminal event is in hand. */
const afterTerminalMs = 1_000
/** How much is read on at most after the client has left: more than any model writes in the grace time. */
const readOnBytesMax = 2_097_152
/** Beyond the grace time this much more for each token that the answer may have: an event is smaller. */
const bytesPerToken = 1_024

export class StreamDelivery implements StreamReceiver, ClientWatcher, Watched {
  dueMs: number
  watchIndex = unwatched
  readonly #parts: StreamToDeliver
  readonly #meter: StreamMeter
  readonly #services: StreamServices
  #ending: Ending | undefined
  #isReleased = false
  #isUpstreamDone = false
  #isPaused = false
  /** The count of the last event, and when the answer is broken off unless another one comes. */
  #eventCount: number | undefined
  #pingsEndMs = 0
  readonly #backlog = new ClientBacklog()
  /** The beginning has been written, and `onMore` has not been called yet. */
  #awaitsMore = false
  #heldTaken = 0
  /** Read since the client left. */
  #readOnBytes = 0
  /** The reading at the moment when the client left. */
  #atLeaving: MeterReading | undefined

  constructor(parts: StreamToDeliver, services: StreamServices) {
    this.#parts = parts
    this.#meter = parts.stream.meter
    this.#services = services
    this.dueMs = this.#silenceLimit()
  }

  /**
   * The chargeable counts. A client that left got no more than the pieces until then; the gateway reads
   * on only for the final count.
   */
  get reading(): MeterReading {
    const latest = this.#meter.reading()
    if (this.#atLeaving === undefined) return latest
    return latest.isFinal ? { ...latest, output: this.#atLeaving.output } : this.#atLeaving
  }

  /** The response's head must have been written. */
  start(): void {
    const { client, stream } = this.#parts
    client.isShown ||= !client.isGone
    this.#services.watchdog.watch(this)
    client.watcher = this
    if (client.isGone) this.onClientGone()
    stream.take(this)
    this.#awaitsMore = this.#ending === undefined
  }

  onPieces(pieces: readonly Buffer[]): boolean {
    const { response, client } = this.#parts
    if (this.#isReleased) {
      response.write(this.#takeHeld())
      return true
    }
    if (this.#ending !== undefined) return true
    const isWritable = client.isGone || response.write(pieces)
    if (!client.isGone) this.#onWritten(isWritable)
    this.#noteMore()
    const { isTerminated } = this.#meter
    if (isTerminated) this.#onTerminated()
    else if (this.#meter.error !== undefined) this.#end(this.#broken())
    else if (client.isGone) this.#readOn(bytesOf(pieces))
    // Bytes behind the terminal event are counted and kept, within the meter's bound, not written.
    return this.#goOn(isWritable || isTerminated)
  }

  onBytes(bytes: Buffer, start: number, end: number): boolean {
    const { response, client } = this.#parts
    if (this.#ending !== undefined || client.isGone)
      return this.onPieces([copyOf(bytes, start, end)])
    const isWritable = response.writePart(bytes, start, end)
    this.#onWritten(isWritable)
    this.#noteMore()
    return this.#goOn(isWritable)
  }

  onEnd(): void {
    this.#isUpstreamDone = true
    if (this.#isReleased) this.#close()
    else this.#end(this.#meter.isTerminated ? this.#completed() : this.#broken())
  }

  onCut(): void {
    this.onEnd()
  }

  onClientGone(): void {
    const { client, stream, deadlineMs } = this.#parts
    const { clientLeftGraceMs } = this.#services.settings
    if (this.#ending !== undefined) {
      if (this.#isReleased) this.#close()
      return
    }
    this.#atLeaving = asOfNow(this.#meter.reading(), client.isUnseen)
    if (client.isReadOn) return
    this.dueMs = Math.min(deadlineMs, client.goneAtMs + clientLeftGraceMs)
    if (clientLeftGraceMs === 0) this.onDue()
    else if (this.#isPaused) {
      this.#isPaused = false
      stream.resume()
    }
  }

  onClientDrained(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#eventCount = undefined
    this.#backlog.end(this.#services.clock.monotonic())
    if (this.#ending === undefined) this.dueMs = this.#silenceLimit()
    this.#parts.stream.resume()
  }

  onDue(): void {
    if (this.#isReleased) {
      this.#close()
    } else if (this.#meter.isTerminated) {
      this.#stopUpstream()
      this.#end(this.#completed())
    } else if (!this.#isReadOn()) {
      this.#stopUpstream()
      // The vendor broke the limit of silence or of pings; the deadline is the gateway's own.
      this.#end(this.dueMs < this.#parts.deadlineMs ? this.#broken() : this.#cutByUs())
    }
  }

  onReadEnough(): void {
    this.cut()
  }

  cut(): void {
    if (this.#ending !== undefined) return
    this.#stopUpstream()
    this.#end(this.#cutByUs())
  }

  /**
   * Writes the last piece. With `isDurable` false the charge could not be stored, so the answer must
   * not look complete.
   */
  release(isDurable: boolean): void {
    const { client, response, errorEvent } = this.#parts
    this.#isReleased = true
    if (client.isGone) {
      this.#close()
      return
    }
    if (this.#ending === 'completed' && isDurable) {
      if (this.#isUpstreamDone) {
        this.#close()
        return
      }
      response.write(this.#takeHeld())
      this.dueMs = this.#services.clock.monotonic() + afterTerminalMs
      return
    }
    this.#detach()
    // A vendor's own error event has been passed on already; there must not be a second one.
    const { error, isErrorWithheld } = this.#meter
    if (error === undefined || isErrorWithheld)
      response.write([errorEvent(this.#ending ?? 'upstream_cut')])
    // Flushed, then closed without the last chunk: no client can mistake this for a whole answer.
    response.breakOff()
  }

  #onWritten(isWritable: boolean): void {
    const { client, deadlineMs } = this.#parts
    if (isWritable && !this.#meter.isInFrame) client.keepAlive?.restart()
    else client.keepAlive?.hold()
    // While the client is behind, the vendor is paused and its connection watches the client.
    this.dueMs = isWritable ? this.#silenceLimit() : deadlineMs
  }

  #noteMore(): void {
    if (!this.#awaitsMore) return
    this.#awaitsMore = false
    this.#parts.onMore()
  }

  #goOn(mayGoOn: boolean): boolean {
    this.#isPaused = !mayGoOn
    if (this.#isPaused) this.#backlog.begin(this.#services.clock.monotonic())
    return mayGoOn
  }

  #onTerminated(): void {
    if (this.#ending !== undefined) return
    const { reading } = this
    if (reading.isFinal) this.#end(this.#completed(), reading)
    else this.dueMs = Math.min(this.dueMs, this.#services.clock.monotonic() + afterTerminalMs)
  }

  /** A vendor that sends without end must not be read at full speed for as long as there is time. */
  #readOn(byteCount: number): void {
    const { client, answerTokensMax } = this.#parts
    const tokensMax = client.isReadOn ? answerTokensMax : 0
    if (client.isReadOn) this.dueMs = this.#silenceLimit()
    this.#readOnBytes += byteCount
    if (this.#readOnBytes > readOnBytesMax + tokensMax * bytesPerToken) this.onDue()
  }

  /** Reads on beyond the grace time where reasoning was bought that only the vendor's count shows. */
  #isReadOn(): boolean {
    const { client, deadlineMs } = this.#parts
    const isGraceOver = client.isGone && !client.isReadOn
    if (!isGraceOver || this.dueMs >= deadlineMs || !client.readOn()) return false
    this.dueMs = this.#silenceLimit()
    return true
  }

  #completed(): Ending {
    return this.#parts.client.isGone ? 'client_left' : 'completed'
  }

  /** The first to leave decides: a client that had left pays even if the vendor breaks off later. */
  #broken(): Ending {
    const { client } = this.#parts
    const isUnread = this.#backlog.isUnread(this.#services.clock.monotonic())
    return client.isGone || isUnread ? 'client_left' : 'upstream_cut'
  }

  #cutByUs(): Ending {
    return this.#parts.client.isGone ? 'client_left' : 'gateway_cut'
  }

  #end(ending: Ending, reading: MeterReading = this.reading): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.dueMs = Infinity
    this.#parts.client.keepAlive?.stop()
    this.#parts.onEnded(ending, reading)
  }

  #takeHeld(): readonly Buffer[] {
    const { held } = this.#meter
    const rest = held.slice(this.#heldTaken)
    this.#heldTaken = held.length
    return rest
  }

  #close(): void {
    const { response } = this.#parts
    this.#detach()
    if (!response.isGone) response.end(this.#takeHeld())
  }

  #detach(): void {
    this.#stopUpstream()
    this.#services.watchdog.unwatch(this)
    this.#parts.client.watcher = undefined
  }

  #stopUpstream(): void {
    if (this.#isUpstreamDone) return
    this.#isUpstreamDone = true
    this.#parts.stream.abort()
  }

  /** When the vendor has been silent for too long, or has sent nothing but pings for too long. */
  #silenceLimit(): number {
    const { deadlineMs, pingTimeoutMs, idleTimeoutMs } = this.#parts
    const now = this.#services.clock.monotonic()
    const { eventCount } = this.#meter
    if (eventCount !== this.#eventCount) {
      this.#eventCount = eventCount
      this.#pingsEndMs = now + pingTimeoutMs
    }
    return Math.min(now + idleTimeoutMs, this.#pingsEndMs, deadlineMs)
  }
}

/** Copies a reading, whose output otherwise grows with the answer. */
function asOfNow(reading: MeterReading, isUnseen: boolean): MeterReading {
  if (isUnseen) return { ...reading, output: { text: '', bytes: 0, audioBytes: 0 } }
  const { text, bytes, audioBytes } = reading.output
  return { ...reading, output: { text, bytes, audioBytes } }
}
