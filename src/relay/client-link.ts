/**
 * The client's end of an exchange: whether the client is still connected, since when it is gone, and
 * when it has read what was written. One link serves all stages of an exchange.
 */
import type { AnswerWatcher, ResponseWriter } from '../http/server/response-writer.ts'
import type { RelayServices } from './stages.ts'

type LinkServices = Pick<RelayServices, 'clock' | 'onTracePoint'>

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
  readonly #exchangeId: string
  readonly #services: LinkServices
  #goneAtMs = Infinity

  constructor(response: ResponseWriter, exchangeId: string, services: LinkServices) {
    this.#exchangeId = exchangeId
    this.#services = services
    if (response.isGone) this.#goneAtMs = services.clock.monotonic()
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
    const { clock, onTracePoint } = this.#services
    this.#goneAtMs = clock.monotonic()
    this.watcher?.onClientGone()
    onTracePoint?.('client_left', this.#exchangeId)
  }

  onDrain(): void {
    this.watcher?.onClientDrained()
  }
}
