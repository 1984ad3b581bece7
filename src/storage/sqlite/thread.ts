/**
 * The SQLite store on a separate thread, so that the event loop never waits on a disk. The same
 * contract as sqlite.ts. When the thread dies, all waiting calls are rejected and no more are
 * accepted: statements in flight may or may not have been stored.
 */
import { Worker } from 'node:worker_threads'
import { GatewayError } from '../../base/errors.ts'
import type { Database, Row, SqlValue } from '../database.ts'
import { openError } from '../open-error.ts'
import { SerialDatabase, type Executor } from './sqlite.ts'
import { storeError, type SqliteFault } from './connection.ts'

/**
 * Ample for the rows of one statement. Below 2 GB V8 lets the thread use the program's built-in code where
 * it lies, in place of a copy of 2 MB.
 */
export const storeThreadLimits = { maxOldGenerationSizeMb: 1_024 } as const

export interface ThreadDatabase extends Database {
  /** False once the thread is gone. */
  isAvailable(): boolean
}

export type StoreRequest =
  | { kind: 'run'; id: number; sql: string; parameters: readonly SqlValue[] }
  | { kind: 'script'; id: number; sql: string }
  | { kind: 'roll_back'; id: number }
  | { kind: 'close'; id: number }

export type StoreAnswer =
  | { kind: 'opened' }
  | { kind: 'rows'; id: number; rows: Row[] }
  | { kind: 'failed'; id: number; fault: SqliteFault; error: Error }

interface Waiting {
  resolve(rows: Row[]): void
  reject(error: Error): void
}

type Unnumbered<Request> = Request extends unknown ? Omit<Request, 'id'> : never

/**
 * Opens the store at `path` on a new thread; rejects where it cannot be opened. `onDeath` is called when
 * the thread ends unexpectedly.
 */
export async function openSqliteThread(
  path: string,
  onDeath?: (error: Error) => void,
): Promise<ThreadDatabase> {
  const executor = new ThreadExecutor(path, onDeath)
  try {
    await executor.opened
  } catch (error) {
    throw openError(path, error)
  }
  const database = new SerialDatabase(executor)
  return Object.assign(database, { isAvailable: () => executor.isAlive })
}

class ThreadExecutor implements Executor {
  readonly opened: Promise<void>
  readonly #worker: Worker
  readonly #onDeath: ((error: Error) => void) | undefined
  readonly #waiting = new Map<number, Waiting>()
  readonly #opening = Promise.withResolvers<void>()
  #lastId = 0
  #state: 'opening' | 'open' | 'closing' | 'gone' = 'opening'

  constructor(path: string, onDeath: ((error: Error) => void) | undefined) {
    this.#onDeath = onDeath
    this.opened = this.#opening.promise
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { path },
      resourceLimits: storeThreadLimits,
    })
    this.#worker.on('message', (answer: StoreAnswer) => this.#receive(answer))
    this.#worker.on('error', (error) => this.#die(error instanceof Error ? error : undefined))
    this.#worker.on('exit', () => this.#die(undefined))
  }

  get isAlive(): boolean {
    return this.#state === 'open'
  }

  run(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#ask({ kind: 'run', sql, parameters })
  }

  async script(sql: string): Promise<void> {
    await this.#ask({ kind: 'script', sql })
  }

  async rollBack(): Promise<void> {
    await this.#ask({ kind: 'roll_back' })
  }

  async close(): Promise<void> {
    if (this.#state !== 'open') return
    const answered = this.#ask({ kind: 'close' })
    this.#state = 'closing'
    await answered
    await this.#worker.terminate()
  }

  #ask(request: Unnumbered<StoreRequest>): Promise<Row[]> {
    if (this.#state !== 'open') return Promise.reject(unavailable(undefined))
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#worker.postMessage({ ...request, id } satisfies StoreRequest, [])
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #receive(answer: StoreAnswer): void {
    if (answer.kind === 'opened') {
      this.#state = 'open'
      this.#opening.resolve()
      return
    }
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (answer.kind === 'rows') waiting?.resolve(answer.rows)
    else waiting?.reject(storeError(answer.fault, answer.error))
  }

  #die(cause: Error | undefined): void {
    if (this.#state === 'gone') return
    const before = this.#state
    this.#state = 'gone'
    const error = unavailable(cause)
    this.#opening.reject(cause ?? error)
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
    if (before === 'open') this.#onDeath?.(error)
  }
}

function unavailable(cause: Error | undefined): GatewayError {
  return new GatewayError(
    'ledger.unavailable',
    'The store does not answer: its thread has ended.',
    {
      cause,
    },
  )
}
