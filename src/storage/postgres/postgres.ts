/**
 * The store on PostgreSQL, with the contract of the store on SQLite. Write transactions run one after
 * the other over all processes: each takes one advisory lock first. Operators' changes are rare, and so
 * they mean the same on both stores. Holds and charges do not use it; see ledger/postgres/.
 */
import { GatewayError } from '../../base/errors.ts'
import type { Database, Queryable, Row, SqlValue, Transaction } from '../database.ts'
import { connectPostgres, type PostgresConnection } from './connection.ts'
import type { PostgresLocation } from '../location.ts'
import { PostgresPool } from './pool.ts'
import { systemClock, type Timer } from '../../base/clock.ts'

/** The name of the lock of all write transactions of this store. */
const writersLock = 'turnpike writers'
/** A transaction of an operator may be large, and may wait for another one. */
const operatorTimeoutMs = 120_000

export interface PostgresDatabase extends Database {
  readonly dialect: 'postgres'
  /** False while no server answers. */
  isAvailable(): boolean
}

export interface PostgresOptions {
  /** Four by default; one is enough for a command. */
  readonly connectionsMax?: number
}

/** Rejects where no server answers, or the one that does breaks the ledger's promises. */
export async function openPostgres(
  location: PostgresLocation,
  options: PostgresOptions = {},
): Promise<PostgresDatabase> {
  const pool = new PostgresPool({
    location,
    connectionsMax: 4,
    answerTimeoutMs: operatorTimeoutMs,
    ...options,
  })
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
    // A read is repeated; any other statement may have been executed.
    if (/^\s*SELECT\b/i.test(sql))
      return this.#pool.useIdempotently((connection) => connection.query(sql, parameters))
    return this.transact((transaction) => transaction.query(sql, parameters))
  }

  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#pool.useIdempotently((connection) =>
      bracket(connection, 'BEGIN ISOLATION LEVEL READ COMMITTED', async (transaction) => {
        await transaction.query('SELECT pg_advisory_xact_lock(hashtext($1))', [writersLock])
        return work(transaction)
      }),
    )
  }

  snapshot<Result>(work: (snapshot: Queryable) => Promise<Result>): Promise<Result> {
    return this.#pool.useIdempotently((connection) =>
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
  const requireRunning = (): void => {
    if (isOver) throw new GatewayError('gateway.internal', 'The transaction is over.')
  }
  await connection.query(begin)
  let result: Result
  try {
    result = await work({
      isTransaction: true,
      query: async (sql, parameters = []) => {
        requireRunning()
        return connection.query(sql, parameters)
      },
      script: async (sql) => {
        requireRunning()
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

/** After a lost connection the outcome of a commit is unknown; then nothing is repeated. */
async function commit(connection: PostgresConnection): Promise<void> {
  try {
    await connection.query('COMMIT')
  } catch (error) {
    if (connection.isUsable) throw error
    throw new GatewayError(
      'ledger.unavailable',
      'The connection to PostgreSQL was lost during a commit: the change may or may not be stored. ' +
        'Check before you repeat it.',
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

export interface ListenOptions {
  readonly location: PostgresLocation
  readonly hint: () => void
}

const reconnectMs = 1_000
const listenTimeoutMs = 10_000

/**
 * Listens on a separate connection for notifications from the triggers on table `revision`. They
 * are hints: callers poll as well. A lost connection is opened again. A pooler has no session to
 * listen in, so nothing is done behind one.
 */
export function listenForRevisions(options: ListenOptions): { close(): void } {
  const { location, hint } = options
  let connection: PostgresConnection | undefined
  let timer: Timer | undefined
  let isClosed = false

  async function connect(): Promise<void> {
    const opened = await connectPostgres(location, { answerTimeoutMs: listenTimeoutMs })
    connection = opened.connection
    if (isClosed || connection.isPooled) {
      await connection.close()
      return
    }
    connection.onEnd(connectLater)
    connection.onNotification(hint)
    await connection.query('LISTEN turnpike_revision')
    // Notifications from before LISTEN are lost.
    hint()
  }

  function connectLater(): void {
    if (isClosed) return
    timer?.cancel()
    // Everything else that uses the store reports why it cannot connect.
    timer = systemClock.after(reconnectMs, () => void connect().catch(connectLater))
  }

  void connect().catch(connectLater)
  return {
    close() {
      isClosed = true
      timer?.cancel()
      connection?.destroy()
    },
  }
}
