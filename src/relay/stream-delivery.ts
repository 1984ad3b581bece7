/**
 * Delivers one committed stream: writes each piece in the turn it came, with backpressure, keeps
 * the last piece until the charge is durable, and tells every other end honestly. It is the only
 * writer of the response from the commit point on.
 *
 *     open ─▶ ended            the ending is known and reported once; the charge is being booked
 *       │       └─▶ released   the last piece (or the stream's error) has been written
 *       └─▶ open, client gone  reading on for the vendor's count, writing nothing
 */
import type { MeterReading } from '../formats/format.ts'
import type { ResponseWriter } from '../http/response-writer.ts'
import type { Ending } from '../ledger/ledger.ts'
import type { LiveStream, StreamReceiver } from './attempt-outcome.ts'
import type { ClientLink, ClientWatcher } from './client-link.ts'
import { unwatched, type Watchdog, type Watched } from '../base/watchdog.ts'

export interface StreamLimits {
  /** Between two reads from the vendor. */
  readonly idleTimeoutMs: number
  readonly clientLeftGraceMs: number
}

export interface StreamDeliveryParts {
  readonly response: ResponseWriter
  readonly client: ClientLink
  readonly stream: LiveStream
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly limits: StreamLimits
  /** Monotonic time by which the whole exchange must have ended. */
  readonly deadlineMs: number
  /** The stream's own error event, for an end that is not the vendor's. */
  readonly errorEvent: (ending: Ending) => Buffer
  /** Called once, when more than the stream's beginning has come. */
  readonly onMore: () => void
  /** Called once, when it is known how the stream ended; the last piece still waits. */
  readonly onEnded: (ending: Ending) => void
}

/** How long the vendor may take to close its side once the terminal event is in hand. */
const afterTerminalMs = 1_000

export class StreamDelivery implements StreamReceiver, ClientWatcher, Watched {
  dueMs: number
  watchIndex = unwatched
  readonly #parts: StreamDeliveryParts
  #ending: Ending | undefined
  #isReleased = false
  #isUpstreamDone = false
  #isPaused = false
  /** What comes now is more than the stream's beginning, and nobody has been told yet. */
  #isMoreNews = false
  #heldTaken = 0
  /** What had come of the answer when the client left. */
  #atLeaving: MeterReading | undefined

  constructor(parts: StreamDeliveryParts) {
    this.#parts = parts
    this.dueMs = this.#limit(parts.limits.idleTimeoutMs)
  }

  /**
   * What there is to charge for. Whoever has left has had no more than what had come by then; what is
   * read on for is the final count, and only that.
   */
  get reading(): MeterReading {
    const latest = this.#parts.stream.meter.reading()
    return latest.isFinal ? latest : (this.#atLeaving ?? latest)
  }

  /** The response's head must have been written. */
  start(): void {
    const { watchdog, client, stream } = this.#parts
    watchdog.watch(this)
    client.watcher = this
    if (client.isGone) this.onClientGone()
    stream.take(this)
    this.#isMoreNews = this.#ending === undefined
  }

  onPieces(pieces: readonly Buffer[]): boolean {
    const { response, client, stream, limits, deadlineMs } = this.#parts
    if (this.#isReleased) {
      response.write(this.#takeHeld())
      return true
    }
    if (this.#ending !== undefined) return true
    let isWritable = true
    if (!client.isGone) {
      isWritable = response.write(pieces)
      // While the client is behind nothing is asked of the vendor; its connection sees to the client.
      this.dueMs = isWritable ? this.#limit(limits.idleTimeoutMs) : deadlineMs
    }
    if (this.#isMoreNews) {
      this.#isMoreNews = false
      this.#parts.onMore()
    }
    if (stream.meter.isTerminated) this.#onTerminated()
    else if (stream.meter.error !== undefined) this.#end(this.#broken())
    // What comes behind the terminal event is counted and kept, within the meter's bound, not written.
    this.#isPaused = !isWritable && !stream.meter.isTerminated
    return !this.#isPaused
  }

  onEnd(): void {
    this.#isUpstreamDone = true
    if (this.#isReleased) this.#close()
    else this.#end(this.#parts.stream.meter.isTerminated ? this.#completed() : this.#broken())
  }

  onCut(): void {
    this.onEnd()
  }

  onClientGone(): void {
    const { limits, client, stream, deadlineMs } = this.#parts
    if (this.#ending !== undefined) {
      if (this.#isReleased) this.#close()
      return
    }
    this.#atLeaving = asOfNow(stream.meter.reading())
    this.dueMs = Math.min(deadlineMs, client.goneAtMs + limits.clientLeftGraceMs)
    if (limits.clientLeftGraceMs === 0) this.onDue()
    else if (this.#isPaused) {
      this.#isPaused = false
      stream.resume()
    }
  }

  onClientDrained(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (this.#ending === undefined) this.dueMs = this.#limit(this.#parts.limits.idleTimeoutMs)
    this.#parts.stream.resume()
  }

  onDue(): void {
    const { stream } = this.#parts
    if (this.#isReleased) {
      this.#close()
    } else if (stream.meter.isTerminated) {
      this.#stopUpstream()
      this.#end(this.#completed())
    } else {
      this.#stopUpstream()
      // The limit for silence is the vendor's to keep; the deadline is ours alone.
      this.#end(this.dueMs < this.#parts.deadlineMs ? this.#broken() : this.#cutByUs())
    }
  }

  cut(): void {
    if (this.#ending !== undefined) return
    this.#stopUpstream()
    this.#end(this.#cutByUs())
  }

  /**
   * Lets the last piece go. With `isDurable` false the charge could not be booked, so the answer
   * must not look complete.
   */
  release(isDurable: boolean): void {
    const { client, stream, response, errorEvent } = this.#parts
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
      this.dueMs = this.#parts.monotonic() + afterTerminalMs
      return
    }
    this.#detach()
    // A vendor's own error event has been passed on already; a second one would be ours to invent.
    const { error, isErrorWithheld } = stream.meter
    if (error === undefined || isErrorWithheld)
      response.write([errorEvent(this.#ending ?? 'upstream_cut')])
    // Flushed, then closed without the last chunk: no client can take this for a whole answer.
    response.breakOff()
  }

  #onTerminated(): void {
    if (this.#ending !== undefined) return
    if (this.#parts.stream.meter.reading().isFinal) this.#end(this.#completed())
    else this.dueMs = Math.min(this.dueMs, this.#parts.monotonic() + afterTerminalMs)
  }

  #completed(): Ending {
    return this.#parts.client.isGone ? 'client_left' : 'completed'
  }

  /** Whoever left first decides: a break nobody was there to see costs a client that had left no less. */
  #broken(): Ending {
    return this.#parts.client.isGone ? 'client_left' : 'upstream_cut'
  }

  #cutByUs(): Ending {
    return this.#parts.client.isGone ? 'client_left' : 'gateway_cut'
  }

  #end(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.dueMs = Infinity
    this.#parts.onEnded(ending)
  }

  #takeHeld(): readonly Buffer[] {
    const { held } = this.#parts.stream.meter
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
    const { watchdog, client } = this.#parts
    this.#stopUpstream()
    watchdog.unwatch(this)
    client.watcher = undefined
  }

  #stopUpstream(): void {
    if (this.#isUpstreamDone) return
    this.#isUpstreamDone = true
    this.#parts.stream.abort()
  }

  #limit(durationMs: number): number {
    return Math.min(this.#parts.monotonic() + durationMs, this.#parts.deadlineMs)
  }
}

/** The same, though the answer goes on. */
function asOfNow(reading: MeterReading): MeterReading {
  const { text, bytes, audioBytes } = reading.output
  return { ...reading, output: { text, bytes, audioBytes } }
}
