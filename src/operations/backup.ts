/**
 * Backups: a copy of the store at one moment, taken while gateways write, opened and audited before
 * it gets its name; and the way back, into a place where no store is. A copy whose books do not agree
 * is kept all the same, because it is evidence; one that is not a sound file is not.
 */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { GatewayError } from '../base/errors.ts'
import { newestEntry } from '../ledger/entry-store.ts'
import {
  beginFile,
  copyFile,
  copyStore,
  findFileFaults,
  refuseExisting,
} from '../storage/backup.ts'
import type { Database } from '../storage/database.ts'
import type { StoreLocation } from '../storage/location.ts'
import { lockStore } from '../storage/lock.ts'
import { refuseNewerSchema, schemaVersion } from '../storage/migrate.ts'
import { openSqliteReadOnly } from '../storage/sqlite.ts'
import { auditLedger, type AuditView } from './audit.ts'
import { conflict, parseInput, type OperationContext } from './context.ts'
import { timeText } from './views.ts'

const fileInput = z.strictObject({ file: z.string().min(1, 'must name a file') })

export interface BackupView {
  readonly file: string
  /** Everything that was acknowledged before this moment is in the copy. */
  readonly taken_at: string
  readonly schema_version: number
  /** The last entry in the copy; null where there is none. */
  readonly last_entry: { readonly sequence: number; readonly at: string } | null
  readonly audit: AuditView
}

/** The file may lie anywhere, and must not exist. */
export async function backupStore(context: OperationContext, input: unknown): Promise<BackupView> {
  const file = resolve(parseInput(fileInput, input).file)
  if (context.database.dialect !== 'sqlite') throw ownTools()
  const takenAtMs = context.clock.now()
  const unfinished = beginFile(file, 'Name another one.')
  try {
    await copyStore(context.database, unfinished.path)
    const seen = await examine(unfinished.path)
    unfinished.publish()
    return { file, taken_at: timeText(takenAtMs), ...seen }
  } finally {
    unfinished.remove()
  }
}

const moveAway =
  'Move the old store away, all of it (the file with its -wal and -shm), and repeat it; or name another place with TURNPIKE_STORE.'

export type RestoredView = Omit<BackupView, 'taken_at'>

/** Puts a backup where a store is to be; refuses where one is, or where a gateway holds the place. */
export async function restoreStore(input: {
  readonly file: string
  readonly location: StoreLocation
}): Promise<RestoredView> {
  if (input.location.kind !== 'sqlite') throw ownTools()
  const storePath = resolve(input.location.path)
  refuseExisting(storePath, moveAway)
  const unfinished = beginFile(storePath, moveAway)
  try {
    const lock = lockStore(storePath)
    try {
      copyFile(resolve(input.file), unfinished.path)
      const seen = await examine(unfinished.path)
      unfinished.publish()
      return { file: storePath, ...seen }
    } finally {
      lock.close()
    }
  } finally {
    unfinished.remove()
  }
}

type Seen = Pick<BackupView, 'schema_version' | 'last_entry' | 'audit'>

async function examine(path: string): Promise<Seen> {
  const copy = openSqliteReadOnly(path)
  try {
    await refuseUnsound(copy)
    const version = await schemaVersion(copy, 'sqlite')
    if (version === 0) throw conflict('The file is a database, and no store of this program.')
    refuseNewerSchema(version, 'sqlite')
    const last = await newestEntry(copy)
    return {
      schema_version: version,
      last_entry:
        last === undefined ? null : { sequence: last.sequence, at: timeText(last.createdAtMs) },
      audit: await auditLedger({ database: copy }),
    }
  } finally {
    await copy.close()
  }
}

async function refuseUnsound(copy: Database): Promise<void> {
  let faults: readonly string[]
  try {
    faults = await findFileFaults(copy)
  } catch (error) {
    faults = [error instanceof Error ? error.message : 'it cannot be read']
  }
  if (faults.length > 0) throw conflict(`The copy is damaged: ${faults.join('; ')}`)
}

function ownTools(): GatewayError {
  return conflict(
    'A store on PostgreSQL is backed up by its own tools: pg_basebackup with an archive of its WAL, ' +
      'or pg_dump. Restore it with them too, then run: turnpike audit',
  )
}
