/**
 * The SQLite store on the calling thread, for commands, migrations and tests, and transactions over
 * a single connection. A server uses thread.ts, which has the same contract and does not block the
 * event loop. Invariant: while a transaction is open, no other statement reaches the connection.
 */
import type { Database, Queryable, Row, SqlValue, Transaction } from '../database.ts'
import { openError } from '../open-error.ts'
import {
  faultOf,
  openConnection,
  openReadOnly,
  type SqliteConnection,
  storeError,
} from './connection.ts'
import { GatewayError } from '../../base/errors.ts'

export function openSqlite(path: string): Database {
  try {
    return new SerialDatabase(localExecutor(openConnection(path)))
  } catch (error) {
    throw openError(path, error)
  }
}

/** For looking at a copy; writing to it fails. */
export function openSqliteReadOnly(path: string): Database {
  try {
    return new SerialDatabase(localExecutor(openReadOnly(path)))
  } catch (error) {
    throw openError(path, error)
  }
}

function localExecutor(connection: SqliteConnection): Executor {
  // Async functions, so that a fault of SQLite becomes a rejection like on a thread.
  return {
    run: async (sql, parameters) => guarded(() => connection.all(sql, parameters)),
    script: async (sql) => guarded(() => connection.script(sql)),
    rollBack: async () => guarded(() => connection.rollBack()),
    close: async () => connection.close(),
  }
}

function guarded<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw error instanceof Error ? storeError(faultOf(error), error) : error
  }
}

/** A connection that answers statements in order; it may be on another thread. */
export interface Executor {
  run(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>
  script(sql: string): Promise<void>
  /** Rolls back an open transaction. */
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
    this.#requireOpen()
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
    this.#requireOpen()
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
    const requireRunning = (): void => {
      if (isOver) throw new GatewayError('gateway.internal', 'The transaction is over.')
    }
    await this.#executor.run(begin, nothing)
    try {
      const result = await work({
        isTransaction: true,
        query: async (sql, parameters = nothing) => {
          requireRunning()
          return this.#executor.run(sql, parameters)
        },
        script: async (sql) => {
          requireRunning()
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

  #requireOpen(): void {
    if (this.#isClosed) throw new GatewayError('ledger.unavailable', 'The store is closed.')
  }
}

/**
 * SQLite keeps about 2 MB of a transaction in memory and does not write them where it is rolled back;
 * it writes everything beyond that to the disk at once.
 */
const trialRows = 3_500
const rowText = 'x'.repeat(1_000)

class Undo extends Error {}

/**
 * Checks by writing that the store can be written, and rolls back. Locks and rights do not show a
 * full disk.
 */
export async function tryWriting(database: Database): Promise<void> {
  try {
    await database.transact(async (transaction) => {
      await transaction.query('CREATE TABLE write_trial (filler TEXT)')
      await transaction.query(
        `INSERT INTO write_trial
         WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${trialRows})
         SELECT CAST($1 AS TEXT) FROM number`,
        [rowText],
      )
      throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
}
