/**
 * Keeps a silent stream alive on the way to its client, where a proxy would cut it: after a set silence the
 * client gets an event or a comment that it passes over. Before the first event the gateway answers 200
 * itself; channels can still fail then, and an error is an event. It decides nothing else.
 */
import { unwatched, type Watched } from '../base/watchdog.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { RelayServices } from './stages.ts'

interface KeptAlive {
  readonly response: ResponseWriter
  readonly everyMs: number
  /** Headers of an answer that the gateway begins itself. */
  readonly headers: () => readonly string[]
  /** What clients of the format pass over, as a whole frame. */
  readonly ping: Buffer
}

export class KeepAlive implements Watched {
  dueMs: number
  watchIndex = unwatched
  readonly #kept: KeptAlive
  readonly #services: Pick<RelayServices, 'clock' | 'watchdog'>

  /** Begins to count. Call `stop` in the end. */
  constructor(kept: KeptAlive, services: Pick<RelayServices, 'clock' | 'watchdog'>) {
    this.#kept = kept
    this.#services = services
    this.dueMs = services.clock.monotonic() + kept.everyMs
    services.watchdog.watch(this)
  }

  /** The client has got something: the silence begins anew. */
  restart(): void {
    this.dueMs = this.#services.clock.monotonic() + this.#kept.everyMs
  }

  /** The client is behind, or in the middle of a frame: nothing may be written until `restart`. */
  hold(): void {
    this.dueMs = Infinity
  }

  /** Idempotent. */
  stop(): void {
    this.#services.watchdog.unwatch(this)
  }

  onDue(): void {
    const { response, headers, ping } = this.#kept
    if (!response.isHeadWritten) response.writeHead(200, headers())
    if (response.write([ping])) this.restart()
    else this.hold()
  }

  /** The exchange itself ends the rest. */
  cut(): void {
    this.stop()
  }
}
