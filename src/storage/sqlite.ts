/**
 * The SQLite store on the calling thread, for commands, migrations and tests. A server uses
 * sqlite-thread.ts, which keeps the same contract without ever blocking its event loop.
 */
import type { Database } from './database.ts'
import { openError } from './open-error.ts'
import { SerialDatabase, type Executor } from './serial-database.ts'
import {
  faultOf,
  openConnection,
  openReadOnly,
  storeError,
  type SqliteConnection,
} from './sqlite-connection.ts'

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
