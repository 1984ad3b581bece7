/**
 * Takes ended exchanges into the store, in groups. It keeps: an exchange is acknowledged only after
 * the statement that books it has committed. Where the answer to a statement is lost, the same
 * exchanges are handed in again on another connection: their rows tell which are booked already.
 *
 * While no server answers, each settlement waits until its deadline; then its answer is withheld,
 * and what remains to be recorded is an exchange that cost the client nothing.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import { faultOf } from '../../storage/postgres-connection.ts'
import type { PostgresPool } from '../../storage/postgres-pool.ts'
import type { ExchangeRecord } from '../ledger.ts'
import { withhold } from '../withholding.ts'
import { Lane } from './groups.ts'
import { settleExchanges } from './statements.ts'

export interface Settlement {
  record: ExchangeRecord
  /** Monotonic; when it is given up that the client gets the end of the answer. */
  readonly deadlineMs: number
  resolve(): void
  reject(error: Error): void
}

export interface SettlingOptions {
  readonly pool: PostgresPool
  readonly clock: Clock
  /** Durable; called before any promise of the group is resolved. */
  readonly onBooked: (group: readonly Settlement[]) => void
  /** The store will never take this one; its hold must not be freed. */
  readonly onRefused: (settlement: Settlement, error: Error) => void
  /** A group could not be stored and is tried again; told once per outage. */
  readonly onOutage: (error: Error) => void
  /** A group is stored after others could not be; told once per outage. */
  readonly onRecovered: () => void
  /** There is something to send. */
  readonly onAdded: () => void
}

const retryMs = 250
/** How long a process that ends waits for a server that takes what is left. */
const closeTimeoutMs = 15_000

export class Settling {
  readonly #options: SettlingOptions
  readonly #lane: Lane<Settlement>
  #isBlocked = false
  #retryTimer: Timer | undefined
  /** Set by close(): told when nothing is left to write, or nothing more can be. */
  #onQuiet: (() => void) | undefined
  /** Monotonic; set by close(). */
  #closeByMs = Infinity

  constructor(options: SettlingOptions) {
    this.#options = options
    this.#lane = new Lane(options.onAdded)
  }

  get sendableCount(): number {
    return this.#lane.sendableCount
  }

  add(settlement: Settlement): void {
    this.#lane.add(settlement)
  }

  /** Writes what is left; rejects where no server takes it. */
  async close(): Promise<void> {
    if (!this.#lane.isIdle) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onQuiet = resolve
      this.#closeByMs = this.#options.clock.monotonic() + closeTimeoutMs
      this.#lane.resume()
      await promise
    }
    this.#retryTimer?.cancel()
    const unwritten = this.#lane.waiting
    for (const settlement of unwritten) withhold(settlement, unavailable())
    if (unwritten.length > 0)
      throw new GatewayError(
        'ledger.unavailable',
        `${unwritten.length} ended exchanges could not be stored; their answers were not completed.`,
      )
  }

  /** The next group to be booked, by `book` or otherwise; then comes `finish`, in any case. */
  take(): readonly Settlement[] {
    return this.#lane.take()
  }

  finish(): void {
    this.#lane.finish()
    this.#tellWhenQuiet()
  }

  async book(group: readonly Settlement[]): Promise<void> {
    try {
      await this.#write(group)
    } catch (error) {
      if (isOutage(error)) this.handBack(group, error)
      else await this.#bookOneByOne(group)
    }
  }

  /** The group is durable. */
  acknowledge(group: readonly Settlement[]): void {
    if (this.#isBlocked) this.#options.onRecovered()
    this.#isBlocked = false
    this.#options.onBooked(group)
    for (const settlement of group) settlement.resolve()
  }

  async #write(group: readonly Settlement[]): Promise<void> {
    const records = group.map((settlement) => settlement.record)
    await this.#options.pool.useAgain((connection) => settleExchanges(connection, records))
    this.acknowledge(group)
  }

  /** One of them is refused; the others must not suffer for it. */
  async #bookOneByOne(group: readonly Settlement[]): Promise<void> {
    for (const [index, settlement] of group.entries()) {
      try {
        await this.#write([settlement])
      } catch (error) {
        if (isOutage(error)) {
          this.handBack(group.slice(index), error)
          return
        }
        this.#refuse(settlement, error)
      }
    }
  }

  #refuse(settlement: Settlement, cause: unknown): void {
    const error = new GatewayError('gateway.internal', 'The exchange could not be recorded.', {
      cause,
    })
    this.#options.onRefused(settlement, error)
    settlement.reject(error)
  }

  /** Not stored, for want of a server: tried again, and withheld once its time is over. */
  handBack(group: readonly Settlement[], cause: unknown): void {
    const error = unavailable(cause)
    if (!this.#isBlocked) this.#options.onOutage(error)
    this.#isBlocked = true
    this.#lane.pause()
    this.#lane.putBack(group)
    this.#withholdOverdue(error)
    this.#retryTimer?.cancel()
    this.#retryTimer = this.#options.clock.after(retryMs, () => this.#lane.resume())
  }

  #withholdOverdue(error: Error): void {
    const nowMs = this.#options.clock.monotonic()
    for (const settlement of this.#lane.waiting)
      if (settlement.deadlineMs <= nowMs) withhold(settlement, error)
  }

  #tellWhenQuiet(): void {
    const isGivenUp = this.#lane.isStopped && this.#options.clock.monotonic() >= this.#closeByMs
    if (this.#lane.isIdle || isGivenUp) this.#onQuiet?.()
  }
}

/** Whether nothing was stored for want of a server, and not because of what was asked. */
export function isOutage(error: unknown): boolean {
  return (
    faultOf(error) !== 'statement' ||
    (error instanceof GatewayError && error.code === 'ledger.unavailable')
  )
}

function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger cannot store charges at the moment.', {
    cause,
  })
}
