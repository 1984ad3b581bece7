/**
 * Copies of an embedded store: taken while others write to it, checked, and put in place under their
 * name only when they are whole. No file is ever overwritten; a copy is readable by its owner alone.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { explainSystemError } from '../base/system-error.ts'
import type { Database, Queryable } from './database.ts'
import { lacksRoom } from './open-error.ts'
import { settleFile } from './sqlite-connection.ts'

/** Beside the place it is meant for, so that putting it there is one step of the file system. */
export interface UnfinishedFile {
  readonly path: string
  /** On the disk under its final name when it returns; throws where that name is taken. */
  publish(): void
  /** Without effect once it has been published. */
  remove(): void
}

/** The file is there, empty and private. `whatToDo` is told where its final name is taken. */
export function beginFile(path: string, whatToDo: string): UnfinishedFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  refuseExisting(path, whatToDo)
  const name = `.${basename(path)}.${randomBytes(4).toString('hex')}.unfinished`
  const unfinished = join(dirname(path), name)
  closeSync(openSync(unfinished, 'wx', 0o600))
  return {
    path: unfinished,
    publish() {
      sync(unfinished)
      refuseExisting(path, whatToDo)
      // A link, unlike a renaming, fails where another process has taken the name meanwhile.
      linkSync(unfinished, path)
      rmSync(unfinished)
      sync(dirname(path))
    },
    remove() {
      for (const suffix of besides) rmSync(unfinished + suffix, { force: true })
    },
  }
}

/** With the files that belong to a store: a log left behind would be taken for the new store's own. */
const besides = ['', '-wal', '-shm', '-journal']

export function refuseExisting(path: string, whatToDo: string): void {
  for (const suffix of besides)
    if (existsSync(path + suffix))
      throw new GatewayError(
        'operations.conflict',
        `There is a file ${path + suffix} already, and nothing is ever overwritten. ${whatToDo}`,
      )
}

/**
 * One moment of the store, whole, into an empty file. Not SQLite's backup interface: that begins
 * anew with each commit of another connection, so under load it might never end.
 */
export async function copyStore(database: Database, path: string): Promise<void> {
  if (database.dialect !== 'sqlite')
    throw new GatewayError(
      'operations.invalid',
      'A store on PostgreSQL is backed up with its own tools, while the gateway runs: ' +
        '`pg_dump --format=custom --file=FILE URL` for one moment, a base backup with an archive of ' +
        'the log for every moment. Restore into a new database and run `turnpike audit` on it.',
    )
  try {
    await database.query('VACUUM INTO $1', [path])
  } catch (error) {
    if (lacksRoom(path, error)) throw noRoomFor(path, error)
    throw error
  }
}

/** What SQLite needs beside a file to know all of it; `-shm` is only an index of the log. */
const unsettled = ['-wal', '-journal']

/**
 * All that a file of SQLite holds, into an empty file of its own. What was committed last may stand
 * in a log beside it, which is copied too and moved into the copy; the source is only read.
 */
export function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to)
    for (const suffix of unsettled) if (existsSync(from + suffix)) copyPrivately(from, to, suffix)
    settleFile(to)
  } catch (error) {
    if (lacksRoom(to, error)) throw noRoomFor(to, error)
    const reason = error instanceof Error ? error.message : 'no reason was given'
    throw (
      explainSystemError(error) ??
      new GatewayError('operations.conflict', `The file ${from} cannot be used: ${reason}.`, {
        cause: error,
      })
    )
  }
}

/** It is the copy that needs room, whatever file was being read when there was none. */
function noRoomFor(path: string, cause: unknown): GatewayError {
  return new GatewayError(
    'operations.conflict',
    `${dirname(path)} has no room left on its disk for the copy. Make room and repeat it; nothing was left there.`,
    { cause },
  )
}

function copyPrivately(from: string, to: string, suffix: string): void {
  closeSync(openSync(to + suffix, 'wx', 0o600))
  copyFileSync(from + suffix, to + suffix)
}

/** What SQLite itself finds wrong with the file; empty where it is sound. */
export async function findFileFaults(copy: Queryable): Promise<readonly string[]> {
  const integrity = await copy.query('PRAGMA integrity_check(20)')
  const faults = integrity.map((row) => String(row['integrity_check']))
  const references = await copy.query('PRAGMA foreign_key_check')
  return [
    ...faults.filter((fault) => fault !== 'ok'),
    ...references.slice(0, 20).map((row) => `a row of ${String(row['table'])} refers to nothing`),
  ]
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
