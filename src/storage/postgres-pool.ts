/**
 * A few connections to one store, lent out one user at a time. It keeps: a broken connection is
 * never lent again, and while no server answers everybody is told at once instead of waiting, until
 * an attempt made in the background has found one.
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
  /** Lent, idle or being opened. */
  #count = 0
  #hostIndex = 0
  #hasConnected = false
  #outage: GatewayError | undefined
  #attemptTimer: Timer | undefined
  #attemptMs = firstAttemptMs
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** False from the first failed attempt to connect until one has succeeded. */
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
   * the way, and once where its connection was lost: it may have been a stale one. Rejects with `ledger.unavailable` where no server answers.
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
    this.#attemptTimer?.cancel()
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
      if (this.#count < this.#options.connectionsMax) void this.#open()
    })
  }

  #release(connection: PostgresConnection): void {
    if (this.#isClosed) {
      void connection.close()
      return
    }
    if (connection.isUsable) {
      this.#hand(connection)
      return
    }
    this.#count--
    if (this.#waiting.length > 0) void this.#open()
  }

  #hand(connection: PostgresConnection): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#idle.push(connection)
    else waiting.resolve(connection)
  }

  async #open(): Promise<void> {
    this.#count++
    try {
      const { location, answerTimeoutMs = defaultAnswerTimeoutMs } = this.#options
      const opened = await connectPostgres(location, { answerTimeoutMs }, this.#hostIndex)
      this.#hostIndex = opened.hostIndex
      this.#recover()
      if (this.#isClosed) void opened.connection.close()
      else this.#hand(opened.connection)
    } catch (error) {
      this.#count--
      this.#suffer(this.#outageOf(error))
    }
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
  }

  #suffer(error: GatewayError): void {
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
    if (this.#isClosed) return
    this.#outage = error
    this.#attemptTimer?.cancel()
    this.#attemptTimer = systemClock.after(this.#attemptMs, () => void this.#open())
    this.#attemptMs = Math.min(this.#attemptMs * 2, lastAttemptMs)
  }
}

function asOutage(cause: unknown): GatewayError {
  return new GatewayError('ledger.unavailable', 'PostgreSQL does not answer.', { cause })
}

function closedError(): GatewayError {
  return new GatewayError('ledger.unavailable', 'The store is closed.')
}
