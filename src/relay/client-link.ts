/**
 * The client's end of an exchange: whether the client is still connected, since when it is gone, and
 * when it has read what was written. One link serves all stages of an exchange.
 */
import type { AnswerWatcher, ResponseWriter } from '../http/server/response-writer.ts'

/** The stage that handles the exchange right now. */
export interface ClientWatcher {
  /** The client has left before its answer was complete. */
  onClientGone(): void
  /** The client has read the backlog after `write` returned false. */
  onClientDrained(): void
}

export class ClientLink implements AnswerWatcher {
  /** Only the latest watcher is called. */
  watcher: ClientWatcher | undefined
  /**
   * The client left before the first byte, and its account has used up what is free: the answer is read to
   * its end and charged as the vendor counts it.
   */
  isReadToEnd = false
  readonly #monotonic: () => number
  readonly #onLeft: () => void
  #goneAtMs = Infinity

  constructor(response: ResponseWriter, monotonic: () => number, onLeft: () => void) {
    this.#monotonic = monotonic
    this.#onLeft = onLeft
    if (response.isGone) this.#goneAtMs = monotonic()
    response.watcher = this
  }

  get isGone(): boolean {
    return this.#goneAtMs !== Infinity
  }

  /** Monotonic time at which the client left; Infinity while it is connected. */
  get goneAtMs(): number {
    return this.#goneAtMs
  }

  onGone(): void {
    this.#goneAtMs = this.#monotonic()
    this.watcher?.onClientGone()
    this.#onLeft()
  }

  onDrain(): void {
    this.watcher?.onClientDrained()
  }
}
