/**
 * Makes checkpoints: moves committed pages from the write-ahead log (WAL) into the store's file, so
 * that no commit waits long for it. After a commit a few pages are moved at once, in a few
 * milliseconds. While a reader keeps one state for long (an audit, a backup, a statement), later
 * commits stay in the log; then a thread moves them, and commits go on. To ask SQLite for the size of the
 * log costs as much as to write a row, so it is asked only when the log may have grown enough.
 */
import type { SqliteConnection } from './connection.ts'
import type { ThreadDatabase } from './thread.ts'

/** A checkpoint starts at this many pages (4 MB). */
const pagesPerCheckpoint = 1_000
/** More pages than this (8 MB) would delay the next commits for too long. */
const pagesAtOnceMax = 2_000
/** Those of a row that is committed alone; rows of one commit share most of them. */
const leastPagesPerRow = 12
/** After a checkpoint that moved nothing or failed, the next one waits this long. */
const pauseMs = 250

export interface WalCheckpointsParts {
  /** The connection that commits; it makes no checkpoints by itself. */
  readonly connection: SqliteConnection
  /** Opens the same store on a thread; called when there is much to move. */
  readonly openThread: () => Promise<ThreadDatabase>
  readonly monotonic: () => number
}

export class WalCheckpoints {
  readonly #parts: WalCheckpointsParts
  #thread: ThreadDatabase | undefined
  #moving: Promise<void> | undefined
  #pausedUntilMs = 0
  /** Rows in the log, and with how many of them its size is asked for. */
  #rowCount = 0
  #checkAt = 1

  constructor(parts: WalCheckpointsParts) {
    this.#parts = parts
  }

  /** Never throws: pages that were not moved are safe in the log, and are moved later. */
  afterCommit(rowCount: number): void {
    this.#rowCount += rowCount
    if (this.#moving !== undefined || this.#rowCount < this.#checkAt) return
    try {
      const { connection, monotonic } = this.#parts
      const waitingCount = connection.countWalPages()
      const pagesPerRow = Math.max(leastPagesPerRow, waitingCount / this.#rowCount)
      this.#checkAt = this.#rowCount + (pagesPerCheckpoint - waitingCount) / pagesPerRow
      if (waitingCount < pagesPerCheckpoint) return
      this.#rowCount = 0
      this.#checkAt = 1
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

  /** Returns false where nothing could be moved because a reader still needs an old state. */
  async #tryOnThread(waitingCount: number): Promise<boolean> {
    const { connection, openThread } = this.#parts
    if (this.#thread?.isAvailable() !== true) this.#thread = await openThread()
    await this.#thread.query('PRAGMA wal_checkpoint(PASSIVE)')
    return connection.countWalPages() < waitingCount
  }
}
