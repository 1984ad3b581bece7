/**
 * The client's end of an exchange: whether the client is still connected, since when it is gone, and
 * when it has read its answer so far. One link serves all stages of an exchange.
 */
import type { AnswerWatcher } from '../http/server/response-writer.ts'
import type { KeepAlive } from './keep-alive.ts'
import type { Leaving } from './leaving.ts'
import type { Admitted, RelayServices } from './stages.ts'

type LinkServices = Pick<RelayServices, 'clock' | 'onTracePoint'>

/** The stage that handles the exchange right now. */
export interface ClientWatcher {
  /** The client has left before its answer was complete. */
  onClientGone(): void
  /** The client has read the backlog after `write` returned false. */
  onClientDrained(): void
  /** The gateway need not read on for a client that has left. */
  onReadEnough(): void
}

export class ClientLink implements AnswerWatcher {
  /** Only the latest watcher is called. */
  watcher: ClientWatcher | undefined
  /** Absent where silence is not broken. */
  keepAlive: KeepAlive | undefined
  /** The client gets what the vendor has sent. */
  isShown = false
  readonly #exchangeId: string
  readonly #leaving: Leaving
  readonly #services: LinkServices
  #goneAtMs = Infinity
  #isReadOn = false

  constructor(
    { response, exchangeId }: Pick<Admitted, 'response' | 'exchangeId'>,
    leaving: Leaving,
    services: LinkServices,
  ) {
    this.#exchangeId = exchangeId
    this.#leaving = leaving
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

  /** The client left before the first byte of the vendor's. */
  get isUnseen(): boolean {
    return this.isGone && !this.isShown
  }

  /** The grace time is over, and the answer is read on to the vendor's count. */
  get isReadOn(): boolean {
    return this.#isReadOn
  }

  /** Returns whether the answer is read on, where the grace time is over. */
  readOn(): boolean {
    if (!this.#leaving.mayReadOn) return false
    this.#isReadOn = true
    // A free answer has no count to be read for.
    if (this.isUnseen) void this.#stopWhereFree()
    return true
  }

  async #stopWhereFree(): Promise<void> {
    if (!(await this.#leaving.isFree())) return
    this.#isReadOn = false
    this.watcher?.onReadEnough()
  }

  onGone(): void {
    const { clock, onTracePoint } = this.#services
    this.#goneAtMs = clock.monotonic()
    this.keepAlive?.stop()
    this.watcher?.onClientGone()
    onTracePoint?.('client_left', this.#exchangeId)
  }

  onDrain(): void {
    this.keepAlive?.restart()
    this.watcher?.onClientDrained()
  }
}
