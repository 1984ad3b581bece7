/**
 * Copies of an embedded store: made while others write to it, checked, and published under their name
 * only when complete. Never overwrites a file; only its owner can read a copy.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { makeFolder } from '../base/folders.ts'
import { explainSystemError } from '../base/system-error.ts'
import type { Database, Queryable } from './database.ts'
import { lacksSpace } from './open-error.ts'
import { settleFile } from './sqlite/connection.ts'

/** A file beside its final place, so that publishing it is one step of the file system. */
export interface UnfinishedFile {
  readonly path: string
  /** Puts the file on the disk under its final name; throws where that name exists. */
  publish(): void
  /** Deletes the file; no effect after `publish`. */
  remove(): void
}

/** Creates an empty private file. `whatToDo` is the advice in the error where its name exists. */
export function beginFile(path: string, whatToDo: string): UnfinishedFile {
  makeFolder(dirname(path))
  refuseExisting(path, whatToDo)
  const name = `.${basename(path)}.${randomBytes(4).toString('hex')}.unfinished`
  const unfinished = join(dirname(path), name)
  closeSync(openSync(unfinished, 'wx', 0o600))
  return {
    path: unfinished,
    publish() {
      sync(unfinished)
      refuseExisting(path, whatToDo)
      // A link, unlike a rename, fails where another process has created the name meanwhile.
      linkSync(unfinished, path)
      rmSync(unfinished)
      sync(dirname(path))
    },
    remove() {
      for (const suffix of storeSuffixes) rmSync(unfinished + suffix, { force: true })
    },
  }
}

/** Deletes what killed processes have left of files that were to get this name. */
export function removeUnfinished(path: string): void {
  const folder = dirname(path)
  const start = `.${basename(path)}.`
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (name.startsWith(start) && /^[0-9a-f]{8}\.unfinished(-\w+)?$/.test(name.slice(start.length)))
      rmSync(join(folder, name), { force: true })
}

/** The files of a store: SQLite would take an old log for the log of the new store. */
const storeSuffixes = ['', '-wal', '-shm', '-journal']

export function refuseExisting(path: string, whatToDo: string): void {
  for (const suffix of storeSuffixes)
    if (existsSync(path + suffix))
      throw new GatewayError(
        'operations.conflict',
        `The file ${path + suffix} already exists, and is not overwritten. ${whatToDo}`,
      )
}

/**
 * Copies one moment of the store into an empty file. Does not use SQLite's backup interface: it starts
 * again with each commit of another connection, so under load it might never end.
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
    if (lacksSpace(path, error)) throw noSpaceError(path, error)
    throw error
  }
}

/** Writes a copy that comes in pieces into an empty file. */
export async function writeCopy(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for await (const piece of pieces)
      await writePiece(piece, path, (bytes) => file.appendFile(bytes))
  } finally {
    await file.close()
  }
}

async function writePiece(
  piece: Uint8Array,
  path: string,
  append: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  try {
    await append(piece)
  } catch (error) {
    throw lacksSpace(path, error) ? noSpaceError(path, error) : error
  }
}

/** Files with committed data beside the store; `-shm` is only an index of the log. */
const logSuffixes = ['-wal', '-journal']

/**
 * Copies a SQLite file with its log into an empty file, and moves the log into the copy. Only reads the
 * source.
 */
export function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to)
    for (const suffix of logSuffixes) if (existsSync(from + suffix)) copyPrivately(from, to, suffix)
    settleFile(to)
  } catch (error) {
    if (lacksSpace(to, error)) throw noSpaceError(to, error)
    const reason = error instanceof Error ? error.message : 'no reason was given'
    throw (
      explainSystemError(error) ??
      new GatewayError('operations.conflict', `The file ${from} cannot be used: ${reason}.`, {
        cause: error,
      })
    )
  }
}

/** The copy needs the room, whichever file was being read at that moment. */
function noSpaceError(path: string, cause: unknown): GatewayError {
  return new GatewayError(
    'operations.conflict',
    `The disk of ${dirname(path)} has no space left for the copy. Make room and try again; the incomplete copy was deleted.`,
    { cause },
  )
}

function copyPrivately(from: string, to: string, suffix: string): void {
  closeSync(openSync(to + suffix, 'wx', 0o600))
  copyFileSync(from + suffix, to + suffix)
}

/** Returns SQLite's own findings about the file; empty where it is sound. */
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
