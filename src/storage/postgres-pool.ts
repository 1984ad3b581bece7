/**
 * A few connections to one store, lent out one user at a time. It keeps: a broken connection is
 * never lent again; those that work are lent, whether or not more can be opened, as on a server that
 * is full; and while there is none everybody is told at once instead of waiting, until an attempt
 * made in the background has opened one.
 */
import { systemClock, type Timer } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import {
  connectPostgres,
  faultOf,
  postgresError,
  type PostgresConnection,
} from './postgres-connection.ts'
import type { PostgresLocation } from './postgres-location.ts'

export interface PoolOptions {
  readonly location: PostgresLocation
  readonly connectionsMax: number
  /** A statement that takes longer is taken for lost; 10 s unless told. */
  readonly answerTimeoutMs?: number
}

const defaultAnswerTimeoutMs = 10_000
/** Between two attempts to find a server again. */
const firstAttemptMs = 100
const lastAttemptMs = 1_000
/** How often what was rolled back because of others is tried again. */
const conflictsMax = 10

interface Waiting {
  resolve(connection: PostgresConnection): void
  reject(error: Error): void
}

export class PostgresPool {
  readonly #options: PoolOptions
  readonly #idle: PostgresConnection[] = []
  readonly #waiting: Waiting[] = []
  /** Lent, idle or being opened. Nobody waits while it is zero. */
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

  /** False while there is no connection to lend, from the first failed attempt until one has succeeded. */
  isAvailable(): boolean {
    return this.#outage === undefined && !this.#isClosed
  }

  /** Lends a connection to `work`, which leaves no transaction open on it. */
  async use<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#acquire()
    try {
      return await work(connection)
    } finally {
      this.#release(connection)
    }
  }

  /**
   * The same for work that may be done twice: it is done again where other transactions stood in
   * the way, and once where its connection was lost: it may have been a stale one. Rejects with
   * `ledger.unavailable` where no server answers.
   */
  async useAgain<Result>(
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
    // During an outage only what the attempt opens is known to be on a server that will do.
    if (this.#isClosed || this.#outage !== undefined) {
      void connection.close()
      this.#count--
      return
    }
    if (connection.isUsable) {
      this.#hand(connection)
      return
    }
    this.#count--
    this.#openForWaiting()
  }

  #hand(connection: PostgresConnection): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#idle.push(connection)
    else waiting.resolve(connection)
  }

  /**
   * One more, where somebody waits for whom none is being opened. After a failure only when the next
   * attempt is due: a full server has better to do than to refuse. Without any connection at once:
   * nobody would give one back.
   */
  #openForWaiting(): void {
    const isWanted =
      this.#waiting.length > this.#openingCount && this.#count < this.#options.connectionsMax
    const mayOpen = this.#attemptTimer === undefined || this.#count === 0
    if (isWanted && mayOpen) void this.#open()
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
      else this.#hand(connection)
      this.#openForWaiting()
    } catch (error) {
      this.#openingCount--
      this.#count--
      this.#suffer(error)
    }
  }

  async #connect(): Promise<PostgresConnection> {
    const { location, answerTimeoutMs = defaultAnswerTimeoutMs } = this.#options
    const opened = await connectPostgres(location, { answerTimeoutMs }, this.#hostIndex)
    this.#hostIndex = opened.hostIndex
    return opened.connection
  }

  /**
   * At the start an operator's mistake, such as a server that breaks the promise, is told as such. Later
   * it is an outage like any other: what waits is done once the mistake is mended.
   */
  #outageOf(error: unknown): GatewayError {
    const isTold =
      error instanceof GatewayError && (error.code === 'ledger.unavailable' || !this.#hasConnected)
    return isTold ? error : asOutage(error)
  }

  #recover(): void {
    this.#hasConnected = true
    this.#outage = undefined
    this.#attemptMs = firstAttemptMs
    this.#cancelAttempt()
  }

  /** Where others work, those who wait are left to whoever gives one back, and to the next attempt. */
  #suffer(error: unknown): void {
    if (this.#isClosed) return
    // A promise is broken by the server's settings, which its other connections have as well.
    const isPromiseBroken = error instanceof GatewayError && error.code === 'operations.invalid'
    if (isPromiseBroken || this.#count === 0) this.#declare(this.#outageOf(error))
    this.#attemptLater()
  }

  #declare(outage: GatewayError): void {
    this.#outage = outage
    for (const waiting of this.#waiting.splice(0)) waiting.reject(outage)
  }

  #attemptLater(): void {
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
