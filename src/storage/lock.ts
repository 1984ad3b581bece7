/**
 * One gateway process per SQLite store. The lock is a second, tiny database file kept in an
 * exclusive transaction: the operating system frees it when the process ends, however it ends, so
 * no stale lock is ever left behind. Commands do not take it.
 */
import { existsSync, realpathSync } from 'node:fs'
import { GatewayError } from '../base/errors.ts'
import { faultOf, openLockFile } from './sqlite-connection.ts'

export interface StoreLock {
  /** Gives the store free for another process. */
  close(): void
}

/** Takes the lock of the store at `storePath`, or throws `operations.conflict` at once. */
export function lockStore(storePath: string): StoreLock {
  // By its true name, so that two ways to one file meet at one lock.
  const path = (existsSync(storePath) ? realpathSync(storePath) : storePath) + '.lock'
  const file = openLockFile(path)
  try {
    file.script('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (faultOf(error) !== 'busy') throw error
    throw new GatewayError(
      'operations.conflict',
      `Another gateway process is serving the store ${storePath}: it holds ${path}. ` +
        'Stop that process first, or give this one a store of its own with TURNPIKE_STORE. ' +
        'Commands other than serve work beside a running gateway.',
      { cause: error },
    )
  }
  return { close: () => file.close() }
}
