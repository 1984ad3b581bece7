/**
 * A backup for a reader on another machine. The copy is made beside the store; once it is open it has no name
 * any more. Invariants: a gateway makes and sends one copy at a time; no file of it is left, and the next
 * start removes those of a killed process; every copy is recorded when its sending begins, and as a backup
 * when its last byte was sent.
 */
import { open, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { InvariantError } from '../../base/errors.ts'
import { beginFile, removeUnfinished } from '../../storage/backup.ts'
import { conflict, noInput, operation, timeText, type OperationContext } from '../operation.ts'
import {
  backupAction,
  downloadAction,
  downloadSubject,
  recordCopy,
  usesPostgres,
} from './backup.ts'
import type { CheckedCopy, OpenCopy } from './open-copy.ts'

export interface BackupDownload extends Omit<OpenCopy, 'close'> {
  /** The copy has everything that was acknowledged before this moment. */
  readonly takenAt: string
  /** Has to be called once. Records the backup where its last byte was sent. */
  readonly end: (how: { readonly isSent: boolean }) => Promise<void>
}

const pieceBytes = 262_144

/** Bytes that the disk of a file has left for this process. */
async function findFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(path))
  return bavail * bsize
}

/**
 * Returns what makes copies of the store at `storePath`. `copy` fills the empty file and checks it. A copy
 * that could fill the disk is refused, because the gateway could then store no charge.
 */
export function createCopies(
  storePath: string,
  copy: (path: string) => Promise<CheckedCopy>,
  freeBytesOf: (path: string) => Promise<number> = findFreeBytes,
): () => Promise<OpenCopy> {
  const name = `${resolve(storePath)}.download`
  removeUnfinished(name)
  let isBusy = false

  async function requireSpace(): Promise<void> {
    const { size } = await stat(storePath)
    const freeBytes = await freeBytesOf(name)
    if (freeBytes >= 2 * size) return
    throw conflict(
      `The disk of the store has ${freeBytes} bytes left, and this copy needs twice the size of the store, ${2 * size} bytes. Use turnpike backup on the host of the gateway, with a file on another disk.`,
    )
  }

  async function openCopy(): Promise<OpenCopy> {
    await requireSpace()
    const unfinished = beginFile(name, 'Move it away.')
    try {
      const checked = await copy(unfinished.path)
      const file = await open(unfinished.path, 'r')
      return {
        ...checked,
        async read() {
          const { bytesRead, buffer } = await file.read(new Uint8Array(pieceBytes), 0, pieceBytes)
          return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
        },
        async close() {
          isBusy = false
          await file.close()
        },
      }
    } finally {
      unfinished.remove()
    }
  }

  return async () => {
    if (isBusy)
      throw conflict(
        'This gateway is making or sending a backup already. Try again when that one is complete.',
      )
    isBusy = true
    try {
      return await openCopy()
    } catch (error) {
      isBusy = false
      throw error
    }
  }
}

/** Copies the store, opens the copy and audits it, for a reader on another machine. */
export const downloadBackup = operation(
  { input: noInput },
  async (context: OperationContext): Promise<BackupDownload> => {
    const { database, clock, openCopy } = context
    if (database.dialect !== 'sqlite') throw usesPostgres()
    if (openCopy === undefined) throw new InvariantError('only a gateway sends backups')
    const takenAt = timeText(clock.now())
    const { close, ...copy } = await openCopy()
    const facts = { ...copy, subject: downloadSubject }
    try {
      await recordCopy(context, downloadAction, facts)
    } catch (error) {
      await close()
      throw error
    }
    return {
      ...copy,
      takenAt,
      async end({ isSent }) {
        await close()
        if (isSent) await recordCopy(context, backupAction, facts)
      },
    }
  },
)
