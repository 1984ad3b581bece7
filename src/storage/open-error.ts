/**
 * Why a store could not be opened, for people. What SQLite says of it is seldom what is the matter (on a
 * full disk it cannot make its index of the log, and says "disk I/O error"), so the system is asked too.
 * Nothing here opens the store's own file: closing it would take every lock this process has on it.
 */
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { outageReasonOf, StoreOutage, type OutageReason } from '../base/store-outage.ts'
import { explainSystemError } from '../base/system-error.ts'
import { faultOf, outageWords, isNoDatabase } from './sqlite-connection.ts'

/** What whoever opens a store gets to see where that fails. */
export function openError(path: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (isSystemError(cause)) return systemError(path, cause)
  switch (faultOf(cause)) {
    case 'busy':
      return outage('locked', path, cause)
    case 'full':
      return outage('disk_full', path, cause)
    case 'broken':
      return isNoDatabase(cause) ? invalid(path, cause) : brokenError(path, cause)
    case 'statement':
      return invalid(path, cause)
  }
}

function brokenError(path: string, cause: unknown): GatewayError {
  const refused = askSystem(path)
  return refused === undefined ? outage('unreadable', path, cause) : systemError(path, refused)
}

/** Whether it was for want of room that something could not be written to this file. */
export function lacksRoom(path: string, cause: unknown): boolean {
  const reason = outageReasonOf(cause)
  if (reason === 'disk_full' || faultOf(cause) === 'full') return true
  if (isSystemError(cause)) return noRoom.has(cause.code ?? '')
  if (reason !== 'unreadable' && faultOf(cause) !== 'broken') return false
  return noRoom.has(askSystem(path)?.code ?? '')
}

/** As much as SQLite's index of the log takes, twice over. */
const trialBytes = 65_536

/** What the system says to somebody who wants to use the file, and to write beside it. */
function askSystem(path: string): NodeJS.ErrnoException | undefined {
  const trialPath = join(dirname(path), `.${randomBytes(4).toString('hex')}.trial`)
  try {
    if (statSync(path).isDirectory()) return folderError(path)
    accessSync(path, constants.R_OK | constants.W_OK)
    const file = openSync(trialPath, 'wx', 0o600)
    try {
      // Goes on where the system has taken a part: only the next one may be what it refuses.
      writeFileSync(file, Buffer.alloc(trialBytes))
      fsyncSync(file)
    } finally {
      closeSync(file)
      rmSync(trialPath)
    }
    return undefined
  } catch (error) {
    return isSystemError(error) ? error : undefined
  }
}

function folderError(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error('is a folder'), { code: 'EISDIR', path })
}

/** No room on the disk, in the quota, or in what this process may write. */
const noRoom: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

function systemError(path: string, cause: NodeJS.ErrnoException): GatewayError {
  const { code = '' } = cause
  if (noRoom.has(code)) return outage('disk_full', path, cause)
  // Making the folder fails with it where a file has that name: nothing is in the way, the path is wrong.
  const explained = code === 'EEXIST' ? undefined : explainSystemError(cause)
  if (explained === undefined) return invalid(path, cause)
  const advice =
    code === 'EACCES' || code === 'EPERM' ? ' Run it as the user who owns the store.' : ''
  return new GatewayError(
    explained.code,
    `The store ${path} cannot be opened: ${explained.message}${advice}`,
    { cause },
  )
}

function outage(reason: OutageReason, path: string, cause: unknown): GatewayError {
  const known = cause instanceof Error ? new StoreOutage(reason, cause) : cause
  return new GatewayError(
    'ledger.unavailable',
    `The store ${path} cannot be opened: ${outageWords[reason]}`,
    { cause: known },
  )
}

function invalid(path: string, cause: unknown): GatewayError {
  const reason = cause instanceof Error ? cause.message : 'no reason was given'
  return new GatewayError('operations.invalid', `The store ${path} cannot be opened: ${reason}.`, {
    cause,
  })
}

/** Node's own for SQLite have a number beside the code, and no call of the system. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
