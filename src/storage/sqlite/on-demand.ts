/**
 * A SQLite store whose thread runs only while it is used: a thread takes about 10 MB. Each use waits for the
 * thread to start, some tens of milliseconds where there is none. Invariant: a thread ends only while nothing
 * uses it, so a transaction has one thread from begin to end.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import type { Database, Queryable, Row, SqlValue, Transaction } from '../database.ts'

/** A thread without use ends after this time. */
const idleMs = 30_000

export interface OnDemandParts {
  readonly clock: Clock
  /** Opens the store on a new thread. */
  readonly open: () => Promise<Database>
}

export class OnDemandDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly #parts: OnDemandParts
  /** The thread, running or starting. */
  #opening: Promise<Database> | undefined
  #idle: Timer | undefined
  #usesCount = 0
  /** Settles when the last idle thread has ended. */
  #ending: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: OnDemandParts) {
    this.#parts = parts
  }

  query(sql: string, parameters?: readonly SqlValue[]): Promise<Row[]> {
    return this.#use((database) => database.query(sql, parameters))
  }

  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#use((database) => database.transact(work))
  }

  snapshot<Result>(work: (snapshot: Queryable) => Promise<Result>): Promise<Result> {
    return this.#use((database) => database.snapshot(work))
  }

  /** Waits for the transactions that run. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#idle?.cancel()
    const opening = this.#opening
    this.#opening = undefined
    await this.#ending
    // Callers that wait for a thread that did not start get its failure.
    const database = await opening?.catch(() => undefined)
    await database?.close()
  }

  async #use<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new GatewayError('ledger.unavailable', 'The store is closed.')
    this.#idle?.cancel()
    this.#usesCount++
    try {
      return await work(await (this.#opening ??= this.#open()))
    } finally {
      this.#usesCount--
      if (this.#usesCount === 0) this.#endWhenIdle()
    }
  }

  async #open(): Promise<Database> {
    try {
      return await this.#parts.open()
    } catch (cause) {
      // The next use tries again.
      this.#opening = undefined
      throw new GatewayError('ledger.unavailable', 'The store does not open at the moment.', {
        cause,
      })
    }
  }

  #endWhenIdle(): void {
    if (this.#isClosed) return
    this.#idle = this.#parts.clock.after(idleMs, () => {
      const opening = this.#opening
      this.#opening = undefined
      const end = async (): Promise<void> => (await opening)?.close()
      // A thread that has failed has reported that.
      this.#ending = end().catch(() => undefined)
    })
  }
}
