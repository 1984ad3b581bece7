/**
 * One SQLite connection on the calling thread: the only file that knows `node:sqlite`. Every call
 * blocks until SQLite has answered, so a server uses it on worker threads only. Every connection has
 * WAL, durable commits and foreign keys.
 */
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { GatewayError, InvariantError, StoreOutage, type OutageReason } from '../../base/errors.ts'
import { makeFolder } from '../../base/folders.ts'
import type { Row, SqlValue } from '../database.ts'

/** Earlier releases can corrupt a WAL file that several connections write. */
const oldestSafeVersion = [3, 51, 3] as const
const busyTimeoutMs = 5_000
const statementsMax = 200
const walBytesKept = 64 * 1024 * 1024
/** A commit that comes while pages are moved into the main file waits, so few are moved at a time. */
const pagesPerCheckpoint = 1_000

export interface ConnectionOptions {
  /** How long a statement waits for another process's lock; 5 s by default. */
  readonly busyTimeoutMs?: number
  /** This connection does not grow the file beyond this many pages of 4 KB; no limit by default. */
  readonly pagesMax?: number
  /** False: its commits make no checkpoints; see `wal-checkpoints.ts`. */
  readonly autoCheckpoint?: boolean
  /** Memory for pages of the file; SQLite's 2 MB by default. */
  readonly cacheBytes?: number
}

/** A compiled statement; `$1…$n` are given in order. */
export interface Statement {
  all(...parameters: readonly SqlValue[]): Row[]
  first(...parameters: readonly SqlValue[]): Row | undefined
  /** Returns the number of rows changed. */
  run(...parameters: readonly SqlValue[]): number
  /** Returns the id of the inserted row; undefined where none was inserted. */
  insert(...parameters: readonly SqlValue[]): bigint | undefined
  /** Rows one by one; stop early by leaving the loop. */
  each(...parameters: readonly SqlValue[]): Iterable<Row>
}

/** The kind of failure; it decides the next step. */
export type SqliteFault =
  | 'busy' // another process has the lock; a retry may work
  | 'full' // no space; rolled back, the connection works
  | 'broken' // the disk or the file failed; the connection must not be used again
  | 'statement' // the statement itself was refused

export class SqliteConnection {
  readonly #database: DatabaseSync
  /** Least recently used first, because a Map keeps the order of insertion. */
  readonly #statements = new Map<string, Statement>()

  readonly #begin: Statement
  readonly #commit: Statement

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#begin = this.prepare('BEGIN IMMEDIATE')
    this.#commit = this.prepare('COMMIT')
  }

  /** Compiles without caching; for statements that live as long as their owner. */
  prepare(sql: string): Statement {
    return wrapStatement(this.#database.prepare(numberParameters(sql)))
  }

  all(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#cached(sql).all(...parameters)
  }

  first(sql: string, parameters: readonly SqlValue[] = []): Row | undefined {
    return this.#cached(sql).first(...parameters)
  }

  /** Runs several statements without parameters. */
  script(sql: string): void {
    this.#database.exec(sql)
  }

  /** Runs `work` in one write transaction: durable when this returns, undone when it throws. */
  transact<Result>(work: () => Result): Result {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.rollBack()
      throw error
    }
  }

  /** Ends an open transaction, if there is one; some faults have ended it already. */
  rollBack(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** Returns the number of committed pages in the log that are not in the file yet. */
  countWalPages(): number {
    const row = this.#cached('PRAGMA wal_checkpoint(NOOP)').first()
    return Number(row?.['log']) - Number(row?.['checkpointed'])
  }

  /** Makes a checkpoint: moves these pages into the file, except those that a reader still needs. */
  checkpoint(): void {
    this.#cached('PRAGMA wal_checkpoint(PASSIVE)').first()
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #cached(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) {
      this.#statements.delete(sql)
      this.#statements.set(sql, known)
      return known
    }
    const statement = this.prepare(sql)
    if (this.#statements.size >= statementsMax) {
      for (const oldest of this.#statements.keys()) {
        this.#statements.delete(oldest)
        break
      }
    }
    this.#statements.set(sql, statement)
    return statement
  }
}

/** Opens the store's file, making it (and its folder) readable by the owner alone where missing. */
export function openConnection(path: string, options: ConnectionOptions = {}): SqliteConnection {
  createPrivately(path)
  const database = new DatabaseSync(path, {
    readBigInts: true,
    enableForeignKeyConstraints: true,
    timeout: options.busyTimeoutMs ?? busyTimeoutMs,
    defensive: true,
  })
  try {
    requireSafeVersion(database)
    switchToWal(database, options.busyTimeoutMs ?? busyTimeoutMs)
    database.exec(
      `PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;
       PRAGMA journal_size_limit = ${walBytesKept}; PRAGMA wal_autocheckpoint = ${options.autoCheckpoint === false ? 0 : pagesPerCheckpoint}`,
    )
    if (options.cacheBytes !== undefined)
      database.exec(`PRAGMA cache_size = -${options.cacheBytes / 1024}`)
    if (options.pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${options.pagesMax}`)
    return new SqliteConnection(database)
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens a store that is not being written, without leaving files beside it. */
export function openReadOnly(path: string): SqliteConnection {
  const database = new DatabaseSync(path, { readOnly: true, readBigInts: true, defensive: true })
  requireSafeVersion(database)
  return new SqliteConnection(database)
}

/** Reads the table names of any existing database; does not change its journal mode. */
export function readTableNames(path: string): readonly string[] {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, defensive: true })
  try {
    requireSafeVersion(database)
    const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    return rows.map((row) => String(row['name']))
  } finally {
    database.close()
  }
}

/** Moves the log or journal of a file into the file, so that the file is complete by itself. */
export function settleFile(path: string): void {
  const database = new DatabaseSync(path, { defensive: true })
  try {
    requireSafeVersion(database)
    // Reading rolls back an unfinished journal; leaving WAL mode moves the log in.
    database.exec('SELECT name FROM sqlite_schema; PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** Opens a file used for nothing but its lock: no WAL, no waiting. See lock.ts. */
export function openLockFile(path: string): SqliteConnection {
  createPrivately(path)
  return new SqliteConnection(new DatabaseSync(path, { timeout: 0 }))
}

export function faultOf(error: unknown): SqliteFault {
  // The low byte is SQLite's primary result code, the rest says where it came from.
  const primary = resultCode(error) & 0xff
  if (primary === 5 || primary === 6) return 'busy'
  if (primary === 13) return 'full'
  return brokenCodes.has(primary) ? 'broken' : 'statement'
}

/** NOMEM, READONLY, IOERR, CORRUPT, CANTOPEN, PROTOCOL, NOTADB. */
const brokenCodes: ReadonlySet<number> = new Set([7, 8, 10, 11, 14, 15, 26])

function resultCode(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error)) return 0
  return typeof error.errcode === 'number' ? error.errcode : 0
}

/** Whether the file is not a database at all, so the disk is not the cause. */
export function isNoDatabase(error: unknown): boolean {
  return (resultCode(error) & 0xff) === 26
}

/** Returns the error for callers: their own invalid values as they are, all else as unavailable. */
export function storeError(fault: SqliteFault, cause: Error): Error {
  if (fault === 'statement') return cause
  const reason = outageReasons[fault]
  return new GatewayError(
    'ledger.unavailable',
    `The store does not answer: ${outageTexts[reason]}`,
    { cause: new StoreOutage(reason, cause) },
  )
}

const outageReasons: Readonly<Record<Exclude<SqliteFault, 'statement'>, OutageReason>> = {
  busy: 'locked',
  full: 'disk_full',
  broken: 'unreadable',
}

/** The cause and the advice: the end of a sentence, and another sentence. */
export const outageTexts: Readonly<Record<OutageReason, string>> = {
  locked:
    'another process is writing to it. End that process, such as a sqlite3 shell in a transaction.',
  disk_full: 'there is no space left. Make room on its disk.',
  unreadable:
    'its file cannot be read or written. Make room or repair the disk; if both are fine, restore a backup.',
}

function wrapStatement(statement: StatementSync): Statement {
  return {
    all: (...parameters) => statement.all(...parameters),
    first: (...parameters) => statement.get(...parameters),
    run: (...parameters) => Number(statement.run(...parameters).changes),
    insert: (...parameters) => {
      const { changes, lastInsertRowid } = statement.run(...parameters)
      return Number(changes) === 0 ? undefined : BigInt(lastInsertRowid)
    },
    each: (...parameters) => statement.iterate(...parameters),
  }
}

/**
 * Converts `$1` to SQLite's `?1`; quoted text, quoted names and comments stay. Refuses a second
 * statement, which SQLite would silently ignore. Parameters that are used once and in order get no
 * number: binding would search for each number, in quadratic time.
 */
function numberParameters(sql: string): string {
  const numbers = [...sql.matchAll(tokenPattern)].flatMap((match) => match[1] ?? [])
  const isInOrder = numbers.every((number, index) => Number(number) === index + 1)
  const numbered = sql.replace(tokenPattern, (matched: string, number: string | undefined) => {
    if (number === undefined) return matched
    return isInOrder ? '?' : '?' + number
  })
  if (/;\s*\S/.test(numbered.replace(/'(?:[^']|'')*'|--[^\n]*/g, '')))
    throw new InvariantError('one statement at a time; several go through script()')
  return numbered
}

const tokenPattern = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g

function createPrivately(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  const file = openSync(path, 'a', 0o600)
  closeSync(file)
  chmodSync(path, 0o600)
}

function requireSafeVersion(database: DatabaseSync): void {
  const row = database.prepare('SELECT sqlite_version() AS version').get()
  const version = String(row?.['version'])
  const parts = version.split('.').map(Number)
  for (const [index, least] of oldestSafeVersion.entries()) {
    const part = parts[index] ?? 0
    if (part > least) return
    if (part < least)
      throw new GatewayError(
        'operations.invalid',
        `SQLite ${version} can corrupt a store that several processes write; ` +
          `${oldestSafeVersion.join('.')} or newer is needed. Use the runtime that ./bin/turnpike finds.`,
      )
  }
}

/**
 * Switching to WAL needs exclusive access for a moment, and SQLite does not wait for it as for other
 * locks; two processes that open a new store at once collide here.
 */
function switchToWal(database: DatabaseSync, waitMs: number): void {
  const stepMs = 20
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (faultOf(error) !== 'busy' || waitedMs >= waitMs) throw error
      Atomics.wait(pause, 0, 0, stepMs)
    }
  }
}
