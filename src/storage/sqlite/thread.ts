/**
 * The SQLite store on a separate thread, so that the event loop never waits on a disk. The same
 * contract as sqlite.ts. When the thread dies, all waiting calls are rejected and no more are
 * accepted: statements in flight may or may not have been stored.
 */
import { GatewayError } from '../../base/errors.ts'
import { startService } from '../../base/thread.ts'
import type { Database, Row, SqlValue } from '../database.ts'
import { openError } from '../open-error.ts'
import { SerialDatabase } from './sqlite.ts'
import { storeError, type SqliteFault } from './connection.ts'

/**
 * Ample for the rows of one statement. Below 2 GB V8 lets the thread use the program's built-in code where
 * it lies, in place of a copy of 2 MB.
 */
export const storeHeapMbMax = 1_024

export interface ThreadDatabase extends Database {
  /** False once the thread is gone. */
  isAvailable(): boolean
}

export interface StoreThreadData {
  readonly path: string
  readonly isBackground: boolean
}

export type StoreRequest =
  /** Answered once the thread has opened the store. */
  | { kind: 'open' }
  | { kind: 'run'; sql: string; parameters: readonly SqlValue[] }
  | { kind: 'script'; sql: string }
  | { kind: 'roll_back' }
  | { kind: 'close' }

export type StoreAnswer =
  | { kind: 'rows'; rows: Row[] }
  | { kind: 'failed'; fault: SqliteFault; error: Error }

/**
 * Opens the store at `path` on a new thread; rejects where it cannot be opened. `onDeath` is called when
 * the thread ends unexpectedly. `isBackground`: other threads go first.
 */
export async function openSqliteThread(
  path: string,
  onDeath?: (error: Error) => void,
  isBackground = false,
): Promise<ThreadDatabase> {
  let isOpen = false
  const thread = startService<StoreRequest, StoreAnswer>(new URL('./worker.ts', import.meta.url), {
    data: { path, isBackground } satisfies StoreThreadData,
    heapMbMax: storeHeapMbMax,
    onLost(error) {
      if (isOpen) onDeath?.(unavailable(error))
      isOpen = false
    },
  })

  async function ask(request: StoreRequest): Promise<Row[]> {
    const answer = await thread.ask(request).catch((error: unknown) => {
      throw unavailable(error)
    })
    if (answer.kind === 'rows') return answer.rows
    throw storeError(answer.fault, answer.error)
  }

  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await ask({ kind: 'close' })
    await thread.end()
  }

  try {
    await thread.ask({ kind: 'open' })
  } catch (error) {
    throw openError(path, error)
  }
  isOpen = true
  const database = new SerialDatabase({
    run: (sql, parameters) => ask({ kind: 'run', sql, parameters }),
    script: async (sql) => void (await ask({ kind: 'script', sql })),
    rollBack: async () => void (await ask({ kind: 'roll_back' })),
    close,
  })
  return Object.assign(database, { isAvailable: () => isOpen })
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError(
    'ledger.unavailable',
    'The store does not answer: its thread has ended.',
    { cause },
  )
}
