/**
 * One gateway process per SQLite store. The lock is a second, tiny database file kept in an
 * exclusive transaction: the operating system frees it when the process ends, however it ends, so
 * no stale lock is ever left behind. Commands do not take it.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GatewayError } from '../../base/errors.ts'
import { openError } from '../open-error.ts'
import { faultOf, openLockFile, type SqliteConnection } from './connection.ts'

export interface StoreLock {
  /** Releases the store for another process. */
  close(): void
}

/**
 * Takes the lock of the store at `storePath`, or throws `operations.conflict` at once. The store itself
 * need not be there yet, and is not touched. `explain` returns what the error says.
 */
export function lockStore(storePath: string, explain = servedText): StoreLock {
  const path = resolveLinks(storePath) + '.lock'
  let file: SqliteConnection | undefined
  try {
    file = openLockFile(path)
    file.script('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (faultOf(error) !== 'busy') throw openError(path, error)
    throw new GatewayError('operations.conflict', explain(storePath, path), { cause: error })
  }
  const locked = file
  return { close: () => locked.close() }
}

function servedText(storePath: string, lockPath: string): string {
  return (
    `Another gateway process is serving the store ${storePath}: it holds ${lockPath}. ` +
    'Stop that process, or set TURNPIKE_STORE to another store. ' +
    'Commands other than serve work beside a running gateway.'
  )
}

/**
 * Resolves links, so that two paths to one file share one lock. The file may not exist yet: the lock is
 * taken before a new store is created.
 */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const isLink = isMissing && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    return isLink === true ? resolveLinks(resolve(dirname(path), readlinkSync(path))) : path
  }
}
