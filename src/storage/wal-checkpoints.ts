/**
 * Moves committed pages from the log of a SQLite store (its WAL) into the store's file, so that nobody
 * who commits waits long for it. A few pages are moved by whoever has just committed, in a few
 * milliseconds. Where somebody has read one state for long (an audit, a backup, a statement), all that
 * was committed meanwhile still stands in the log: a thread moves that, and commits go on.
 */
import type { SqliteConnection } from './sqlite-connection.ts'
import type { ThreadDatabase } from './sqlite-thread.ts'

/** From so many pages on (4 MB) they are moved. */
const pagesPerCheckpoint = 1_000
/** More than these (8 MB) would make the next commits wait for too long. */
const pagesAtOnceMax = 2_000
/** Until the thread is asked again after it could move nothing, or has failed. */
const pauseMs = 250

export interface WalCheckpointsParts {
  /** The one that commits; it moves nothing by itself. */
  readonly connection: SqliteConnection
  /** Opens the same store on a thread; called once there is much to move. */
  readonly openThread: () => Promise<ThreadDatabase>
  readonly monotonic: () => number
}

export class WalCheckpoints {
  readonly #parts: WalCheckpointsParts
  #thread: ThreadDatabase | undefined
  #moving: Promise<void> | undefined
  #pausedUntilMs = 0

  constructor(parts: WalCheckpointsParts) {
    this.#parts = parts
  }

  /** Never throws: what could not be moved is safe in the log, and is moved another time. */
  afterCommit(): void {
    if (this.#moving !== undefined) return
    try {
      const { connection, monotonic } = this.#parts
      const waitingCount = connection.countWalPages()
      if (waitingCount < pagesPerCheckpoint) return
      if (waitingCount <= pagesAtOnceMax) connection.checkpoint()
      else if (monotonic() >= this.#pausedUntilMs) this.#moving = this.#moveOnThread(waitingCount)
    } catch {
      return
    }
  }

  async close(): Promise<void> {
    await this.#moving
    await this.#thread?.close()
  }

  async #moveOnThread(waitingCount: number): Promise<void> {
    const isMoved = await this.#tryOnThread(waitingCount).catch(() => false)
    if (!isMoved) this.#pausedUntilMs = this.#parts.monotonic() + pauseMs
    this.#moving = undefined
  }

  /** False where nothing could be moved: whoever still reads an old state keeps it where it is. */
  async #tryOnThread(waitingCount: number): Promise<boolean> {
    const { connection, openThread } = this.#parts
    if (this.#thread?.isAvailable() !== true) this.#thread = await openThread()
    await this.#thread.query('PRAGMA wal_checkpoint(PASSIVE)')
    return connection.countWalPages() < waitingCount
  }
}
