/**
 * The client's end of an exchange as the relay needs to know it: is it still there, tell me when it
 * goes, tell me when it has caught up. One for all stages of an exchange.
 */
import type { AnswerWatcher, ResponseWriter } from '../http/response-writer.ts'

/** Whichever stage has the exchange in hand. */
export interface ClientWatcher {
  /** The client has gone before its answer was complete. */
  onClientGone(): void
  /** The client has taken what the answer's `write` said was too much. */
  onClientDrained(): void
}

interface Moments {
  readonly monotonic: () => number
  readonly onLeft: () => void
}

export class ClientLink implements AnswerWatcher {
  /** The latest one to set this is told. */
  watcher: ClientWatcher | undefined
  readonly #moments: Moments
  #goneAtMs = Infinity

  constructor(response: ResponseWriter, moments: Moments) {
    this.#moments = moments
    if (response.isGone) this.#goneAtMs = moments.monotonic()
    response.watcher = this
  }

  get isGone(): boolean {
    return this.#goneAtMs !== Infinity
  }

  /** Monotonic time at which it went; Infinity while it is there. */
  get goneAtMs(): number {
    return this.#goneAtMs
  }

  onGone(): void {
    this.#goneAtMs = this.#moments.monotonic()
    this.watcher?.onClientGone()
    this.#moments.onLeft()
  }

  onDrain(): void {
    this.watcher?.onClientDrained()
  }
}
