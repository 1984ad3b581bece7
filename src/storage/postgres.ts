/**
 * The store on PostgreSQL: the same contract as on SQLite. Write transactions come one after the
 * other, over all processes, because each begins with one advisory lock: what operators do is rare,
 * and so it means the same on both stores. Holds and charges do not go this way; see
 * ledger/postgres/.
 */
import { GatewayError } from '../base/errors.ts'
import type { Database, Queryable, Row, SqlValue, Transaction } from './database.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { PostgresLocation } from './postgres-location.ts'
import { PostgresPool } from './postgres-pool.ts'

/** The text under which every writer of this store queues. */
const writersLock = 'turnpike writers'
/** Operators' work may be large, and may wait for another's. */
const answerTimeoutMs = 120_000

export interface PostgresDatabase extends Database {
  readonly dialect: 'postgres'
  /** False while no server answers. */
  isAvailable(): boolean
}

export interface PostgresOptions {
  /** Four unless told; one is enough for a command. */
  readonly connectionsMax?: number
}

/** Rejects where no server answers, or the one that does breaks the ledger's promises. */
export async function openPostgres(
  location: PostgresLocation,
  options: PostgresOptions = {},
): Promise<PostgresDatabase> {
  const pool = new PostgresPool({ location, connectionsMax: 4, answerTimeoutMs, ...options })
  try {
    await pool.use(() => Promise.resolve())
  } catch (error) {
    await pool.close()
    throw error
  }
  return new PooledDatabase(pool)
}

class PooledDatabase implements PostgresDatabase {
  readonly dialect = 'postgres'
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  isAvailable(): boolean {
    return this.#pool.isAvailable()
  }

  query(sql: string, parameters: readonly SqlValue[] = []): Promise<Row[]> {
    // What only reads may be asked again; anything else may have happened.
    if (/^\s*SELECT\b/i.test(sql))
      return this.#pool.useAgain((connection) => connection.query(sql, parameters))
    return this.transact((transaction) => transaction.query(sql, parameters))
  }

  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#pool.useAgain((connection) =>
      bracket(connection, 'BEGIN ISOLATION LEVEL READ COMMITTED', async (transaction) => {
        await transaction.query('SELECT pg_advisory_xact_lock(hashtext($1))', [writersLock])
        return work(transaction)
      }),
    )
  }

  snapshot<Result>(work: (snapshot: Queryable) => Promise<Result>): Promise<Result> {
    return this.#pool.useAgain((connection) =>
      bracket(connection, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    )
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

async function bracket<Result>(
  connection: PostgresConnection,
  begin: string,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  let isOver = false
  const demandRunning = (): void => {
    if (isOver) throw new GatewayError('gateway.internal', 'The transaction is over.')
  }
  await connection.query(begin)
  let result: Result
  try {
    result = await work({
      isTransaction: true,
      query: async (sql, parameters = []) => {
        demandRunning()
        return connection.query(sql, parameters)
      },
      script: async (sql) => {
        demandRunning()
        return connection.script(sql)
      },
    })
    isOver = true
  } catch (error) {
    isOver = true
    await rollBack(connection)
    throw error
  }
  await commit(connection)
  return result
}

/** Only the connection's loss leaves open what became of it, and then nothing is done again. */
async function commit(connection: PostgresConnection): Promise<void> {
  try {
    await connection.query('COMMIT')
  } catch (error) {
    if (connection.isUsable) throw error
    throw new GatewayError(
      'ledger.unavailable',
      'The connection to PostgreSQL was lost while a change was being stored: it may or may not ' +
        'have been. Look before it is made again.',
      { cause: error },
    )
  }
}

async function rollBack(connection: PostgresConnection): Promise<void> {
  if (!connection.isUsable) return
  try {
    await connection.query('ROLLBACK')
  } catch {
    // A connection that cannot even roll back is gone, and the transaction with it; what made
    // the transaction fail says more than this does.
    connection.destroy()
  }
}
