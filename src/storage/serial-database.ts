/**
 * Transactions over a single connection: makes a Database of anything that runs statements in the
 * order they are handed over. It keeps one promise: while a transaction is open, no statement from
 * outside reaches the connection.
 */
import { GatewayError } from '../base/errors.ts'
import type { Database, Queryable, Row, SqlValue, Transaction } from './database.ts'

/** A connection that answers in the order it is asked; it may live on another thread. */
export interface Executor {
  run(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>
  script(sql: string): Promise<void>
  /** Ends whatever transaction is open, if any. */
  rollBack(): Promise<void>
  close(): Promise<void>
}

const nothing: readonly SqlValue[] = []

export class SerialDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly #executor: Executor
  /** Settles when the last transaction asked for so far has ended; undefined when there is none. */
  #busyUntil: Promise<void> | undefined
  #isClosed = false

  constructor(executor: Executor) {
    this.#executor = executor
  }

  async query(sql: string, parameters: readonly SqlValue[] = nothing): Promise<Row[]> {
    this.#demandOpen()
    // A loop, because another transaction may have begun between the wake-up and this line.
    while (this.#busyUntil !== undefined) await this.#busyUntil
    return this.#executor.run(sql, parameters)
  }

  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#alone('BEGIN IMMEDIATE', work)
  }

  snapshot<Result>(work: (snapshot: Queryable) => Promise<Result>): Promise<Result> {
    return this.#alone('BEGIN', work)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#busyUntil
    await this.#executor.close()
  }

  async #alone<Result>(
    begin: string,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    this.#demandOpen()
    const before = this.#busyUntil
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#busyUntil = promise
    try {
      if (before !== undefined) await before
      return await this.#bracket(begin, work)
    } finally {
      if (this.#busyUntil === promise) this.#busyUntil = undefined
      resolve()
    }
  }

  async #bracket<Result>(
    begin: string,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    let isOver = false
    const demandRunning = (): void => {
      if (isOver) throw new GatewayError('gateway.internal', 'The transaction is over.')
    }
    await this.#executor.run(begin, nothing)
    try {
      const result = await work({
        isTransaction: true,
        query: async (sql, parameters = nothing) => {
          demandRunning()
          return this.#executor.run(sql, parameters)
        },
        script: async (sql) => {
          demandRunning()
          return this.#executor.script(sql)
        },
      })
      isOver = true
      await this.#executor.run('COMMIT', nothing)
      return result
    } catch (error) {
      isOver = true
      await this.#rollBack()
      throw error
    }
  }

  async #rollBack(): Promise<void> {
    try {
      await this.#executor.rollBack()
    } catch {
      // A connection that cannot even roll back is gone, and the transaction with it; what made
      // the transaction fail says more than this does.
    }
  }

  #demandOpen(): void {
    if (this.#isClosed) throw new GatewayError('ledger.unavailable', 'The store is closed.')
  }
}
