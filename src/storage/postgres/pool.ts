/**
 * A pool of connections to one store. Invariants: a broken connection is never used again; while some
 * connections work they are used, also when no more can be opened; while none works every caller is
 * refused at once, and the pool reconnects in the background.
 *
 * Not `pg-pool`: its callers fail when a connection cannot be opened although others work, as on a
 * full server, and wait for a timeout during an outage; it knows neither several hosts nor a statement
 * whose answer came too late.
 */
import { systemClock, type Timer } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import { connectPostgres, faultOf, postgresError, type PostgresConnection } from './connection.ts'
import type { PostgresLocation } from '../location.ts'

export interface PoolOptions {
  readonly location: PostgresLocation
  readonly connectionsMax: number
  /** A statement that takes longer counts as lost; 10 s by default. */
  readonly answerTimeoutMs?: number
}

const defaultAnswerTimeoutMs = 10_000
/** Between two attempts to connect. */
const firstAttemptMs = 100
const lastAttemptMs = 1_000
/** How often work is retried after conflicts with other transactions. */
const conflictsMax = 10

interface Waiting {
  resolve(connection: PostgresConnection): void
  reject(error: Error): void
}

export class PostgresPool {
  readonly #options: PoolOptions
  readonly #idle: PostgresConnection[] = []
  readonly #waiting: Waiting[] = []
  /** In use, idle or being opened. No caller waits while it is zero. */
  #count = 0
  #openingCount = 0
  #hostIndex = 0
  #hasConnected = false
  #outage: GatewayError | undefined
  /** Set after an attempt that failed, until the next one is due. */
  #attemptTimer: Timer | undefined
  #attemptMs = firstAttemptMs
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** False from the first failed attempt without another connection until an attempt succeeds. */
  isAvailable(): boolean {
    return this.#outage === undefined && !this.#isClosed
  }

  /** Runs `work` on a connection; it leaves no transaction open. */
  async use<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#acquire()
    try {
      return await work(connection)
    } finally {
      this.#release(connection)
    }
  }

  /**
   * The same for idempotent work: it is retried after conflicts with other transactions, and once after
   * a lost connection, which may have been a stale one. Rejects with `ledger.unavailable` where no
   * server answers.
   */
  async useIdempotently<Result>(
    work: (connection: PostgresConnection) => Promise<Result>,
  ): Promise<Result> {
    for (let conflicts = 0, losses = 0; ;) {
      try {
        return await this.use(work)
      } catch (error) {
        const fault = faultOf(error)
        const mayRepeat =
          (fault === 'conflict' && ++conflicts < conflictsMax) ||
          (fault === 'lost' && this.isAvailable() && ++losses === 1)
        if (!mayRepeat) throw postgresError(error)
      }
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelAttempt()
    for (const waiting of this.#waiting.splice(0)) waiting.reject(closedError())
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  #acquire(): Promise<PostgresConnection> {
    if (this.#isClosed) return Promise.reject(closedError())
    if (this.#outage !== undefined) return Promise.reject(this.#outage)
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) break
      if (connection.isUsable) return Promise.resolve(connection)
      this.#count--
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#openForWaiting()
    })
  }

  #release(connection: PostgresConnection): void {
    // During an outage only a new connection is known to be on a usable server.
    if (this.#isClosed || this.#outage !== undefined) {
      void connection.close()
      this.#count--
      return
    }
    if (connection.isUsable) {
      this.#handOver(connection)
      return
    }
    this.#count--
    this.#openForWaiting()
  }

  #handOver(connection: PostgresConnection): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#idle.push(connection)
    else waiting.resolve(connection)
  }

  /**
   * Opens a connection for each caller that waits. The first one alone: a nearly full server may refuse
   * all of several attempts at once. After a failure only when the next attempt is due, to spare a full
   * server; at once where there is no connection that could be returned.
   */
  #openForWaiting(): void {
    while (
      this.#waiting.length > this.#openingCount &&
      this.#count < this.#options.connectionsMax
    ) {
      const isFirstOpening = this.#openingCount > 0 && this.#count === this.#openingCount
      const mayOpen = this.#attemptTimer === undefined || this.#count === 0
      if (isFirstOpening || !mayOpen) return
      void this.#open()
    }
  }

  async #open(): Promise<void> {
    this.#cancelAttempt()
    this.#count++
    this.#openingCount++
    try {
      const connection = await this.#connect()
      this.#openingCount--
      this.#recover()
      if (this.#isClosed) void connection.close()
      else this.#handOver(connection)
      this.#openForWaiting()
    } catch (error) {
      this.#openingCount--
      this.#count--
      this.#handleFailure(error)
    }
  }

  async #connect(): Promise<PostgresConnection> {
    const { location, answerTimeoutMs = defaultAnswerTimeoutMs } = this.#options
    const opened = await connectPostgres(location, { answerTimeoutMs }, this.#hostIndex)
    this.#hostIndex = opened.hostIndex
    return opened.connection
  }

  /**
   * Before the first connection, a configuration error is reported as such. Later it is an outage:
   * callers go on once it is repaired.
   */
  #outageOf(error: unknown): GatewayError {
    const isReported =
      error instanceof GatewayError && (error.code === 'ledger.unavailable' || !this.#hasConnected)
    return isReported ? error : asOutage(error)
  }

  #recover(): void {
    this.#hasConnected = true
    this.#outage = undefined
    this.#attemptMs = firstAttemptMs
    this.#cancelAttempt()
  }

  /** Where other connections work, callers wait for one of them, or for the next attempt. */
  #handleFailure(error: unknown): void {
    if (this.#isClosed) return
    // Unsafe settings of the server apply to its other connections, too.
    const isUnsafe = error instanceof GatewayError && error.code === 'operations.invalid'
    if (isUnsafe || this.#count === 0) this.#startOutage(this.#outageOf(error))
    this.#scheduleAttempt()
  }

  #startOutage(outage: GatewayError): void {
    this.#outage = outage
    for (const waiting of this.#waiting.splice(0)) waiting.reject(outage)
  }

  #scheduleAttempt(): void {
    if (this.#attemptTimer !== undefined) return
    this.#attemptTimer = systemClock.after(this.#attemptMs, () => {
      this.#attemptTimer = undefined
      if (this.#outage === undefined) this.#openForWaiting()
      else void this.#open()
    })
    this.#attemptMs = Math.min(this.#attemptMs * 2, lastAttemptMs)
  }

  #cancelAttempt(): void {
    this.#attemptTimer?.cancel()
    this.#attemptTimer = undefined
  }
}

function asOutage(cause: unknown): GatewayError {
  return new GatewayError('ledger.unavailable', 'PostgreSQL does not answer.', { cause })
}

function closedError(): GatewayError {
  return new GatewayError('ledger.unavailable', 'The store is closed.')
}
