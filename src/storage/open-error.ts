/**
 * Explains to people why a store could not be opened. SQLite's message is often misleading (on a full
 * disk it cannot create its index of the log and reports "disk I/O error"), so this asks the system,
 * too. It never opens the store's own file: closing it would release every lock of this process on it.
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
import { GatewayError, outageReasonOf, StoreOutage, type OutageReason } from '../base/errors.ts'
import { explainSystemError } from '../base/system-error.ts'
import { faultOf, outageTexts, isNoDatabase } from './sqlite/connection.ts'

/** Returns the error for callers who cannot open a store. */
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

/** Whether a write to this file failed for lack of disk space. */
export function lacksSpace(path: string, cause: unknown): boolean {
  const reason = outageReasonOf(cause)
  if (reason === 'disk_full' || faultOf(cause) === 'full') return true
  if (isSystemError(cause)) return noSpaceCodes.has(cause.code ?? '')
  if (reason !== 'unreadable' && faultOf(cause) !== 'broken') return false
  return noSpaceCodes.has(askSystem(path)?.code ?? '')
}

/** Twice the size of SQLite's index of the log. */
const trialBytes = 65_536

/** Returns the system's error for using the file and writing beside it; undefined where both work. */
function askSystem(path: string): NodeJS.ErrnoException | undefined {
  const trialPath = join(dirname(path), `.${randomBytes(4).toString('hex')}.trial`)
  try {
    if (statSync(path).isDirectory()) return folderError(path)
    accessSync(path, constants.R_OK | constants.W_OK)
    const file = openSync(trialPath, 'wx', 0o600)
    try {
      // Writes all of it: the system may accept a part and refuse the next one.
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

/** No space on the disk, in the quota, or within this process's limit. */
const noSpaceCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

function systemError(path: string, cause: NodeJS.ErrnoException): GatewayError {
  const { code = '' } = cause
  if (noSpaceCodes.has(code)) return outage('disk_full', path, cause)
  // A file has the name of the folder: the path is wrong.
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
    `The store ${path} cannot be opened: ${outageTexts[reason]}`,
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
