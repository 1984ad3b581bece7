/**
 * Backup and restore of a SQLite store. A backup is a consistent copy, taken while gateways write; it is
 * opened and audited before it gets its name. A copy that fails the audit is kept, because it is
 * evidence; a damaged file is not kept.
 */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { systemClock } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import { insertRestored, listBookedAccounts, newestEntry } from '../../ledger/entry-store.ts'
import {
  beginFile,
  copyFile,
  copyStore,
  findFileFaults,
  refuseExisting,
} from '../../storage/backup.ts'
import type { Database } from '../../storage/database.ts'
import type { StoreLocation } from '../../storage/location.ts'
import { lockStore } from '../../storage/sqlite/lock.ts'
import { readSchemaState } from '../../storage/migrate.ts'
import { findLastHeartbeat } from '../../storage/node-store.ts'
import { settleFile } from '../../storage/sqlite/connection.ts'
import { openSqlite, openSqliteReadOnly } from '../../storage/sqlite/sqlite.ts'
import { auditLedger } from './audit.ts'
import type { AuditView } from './audit-forms.ts'
import type { CheckedCopy } from './open-copy.ts'
import { recordAction } from '../actions.ts'
import {
  attempt,
  conflict,
  operation,
  timeText,
  type OperationContext,
  type Outcome,
} from '../operation.ts'

export interface BackupView {
  readonly file: string
  /** The copy has everything that was acknowledged before this moment. */
  readonly taken_at: string
  readonly schema_version: number
  /** The last entry in the copy; null for an empty ledger. */
  readonly last_entry: { readonly sequence: number; readonly at: string } | null
  readonly audit: AuditView
  /** False where the operators' log could not be written; then `backup.too_old` does not know of it. */
  readonly is_recorded: boolean
}

/** The action of a backup in the operators' log; the alert `backup.too_old` looks for the last one. */
export const backupAction = 'store.backup'

/** The action of a copy that begins to be sent: from here on a part of it can be on another machine. */
export const downloadAction = 'store.download'

/** The subject of both where the copy was sent to another machine. */
export const downloadSubject = 'download'

const nameAnother = 'Name another file.'

/** Copies the store to a new file, opens the copy and audits it. The file must not exist. */
export const backupStore = operation(
  { input: z.strictObject({ file: z.string().min(1, 'must name a file') }) },
  async (context, given): Promise<BackupView> => {
    const { database, clock } = context
    const file = resolve(given.file)
    if (database.dialect !== 'sqlite') throw usesPostgres()
    const takenAtMs = clock.now()
    const unfinished = beginFile(file, nameAnother)
    try {
      const seen = await copyChecked(database, unfinished.path)
      const facts = { ...(await digestOf(unfinished.path)), isClean: seen.audit.clean }
      unfinished.publish()
      const isRecorded = await recordCopy(context, backupAction, { subject: file, ...facts })
      return { file, taken_at: timeText(takenAtMs), ...seen, is_recorded: isRecorded }
    } finally {
      unfinished.remove()
    }
  },
)

/** Copies the store into an empty file, opens the copy and audits it. */
export async function copyChecked(database: Database, path: string): Promise<Seen> {
  await copyStore(database, path)
  return examine(path)
}

/** A copy of another machine's store, whose bytes are complete. */
export interface ReceivedCopy {
  readonly takenAt: string
  readonly isRecorded: () => Promise<boolean>
}

/** Checks and audits a copy that `receive` writes to an empty file, as `backupStore` does with its copy. */
export async function keepReceived(
  given: { readonly file: string },
  receive: (path: string) => Promise<Outcome<ReceivedCopy>>,
): Promise<Outcome<BackupView>> {
  const kept = await attempt(async (): Promise<Outcome<BackupView>> => {
    const file = resolve(given.file)
    const unfinished = beginFile(file, nameAnother)
    try {
      const received = await receive(unfinished.path)
      if (received.kind === 'refusal') return received
      const { takenAt, isRecorded } = received.value
      const seen = await examine(unfinished.path)
      unfinished.publish()
      const value = { file, taken_at: takenAt, ...seen, is_recorded: await isRecorded() }
      return { kind: 'done', value }
    } finally {
      unfinished.remove()
    }
  })
  return kept.kind === 'done' ? kept.value : kept
}

/** Returns length and digest of a complete file. */
export async function digestOf(path: string): Promise<Pick<CheckedCopy, 'bytes' | 'sha256'>> {
  const sum = createHash('sha256')
  for await (const piece of createReadStream(path)) sum.update(piece as Buffer)
  return { bytes: statSync(path).size, sha256: sum.digest('base64') }
}

/** A copy is good also while another process keeps the store from being written. */
export async function recordCopy(
  context: OperationContext,
  action: typeof backupAction | typeof downloadAction,
  { subject, bytes, sha256, isClean }: CheckedCopy & { readonly subject: string },
): Promise<boolean> {
  const detail = { bytes, sha256, audit: isClean ? 'passed' : 'failed' }
  try {
    await context.database.transact((transaction) =>
      recordAction(transaction, context, { action, subject, detail }),
    )
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'ledger.unavailable') return false
    throw error
  }
}

const moveAway =
  'Move the old store away first (the file and its -wal and -shm files), or set TURNPIKE_STORE to another place.'

export type RestoredView = Omit<BackupView, 'taken_at' | 'is_recorded'>

/** Puts a backup in the store's place. Refuses where a store is, or where a gateway holds the lock. */
export function restoreStore(request: {
  readonly file: string
  readonly location: StoreLocation
}): Promise<Outcome<RestoredView>> {
  return attempt(async () => {
    const { file, location } = request
    if (location.kind !== 'sqlite') throw usesPostgres()
    const storePath = resolve(location.path)
    refuseExisting(storePath, moveAway)
    const unfinished = beginFile(storePath, moveAway)
    try {
      const lock = lockStore(storePath)
      try {
        copyFile(resolve(file), unfinished.path)
        const seen = await examine(unfinished.path)
        await noteRestored(unfinished.path)
        unfinished.publish()
        return { file: storePath, ...seen }
      } finally {
        lock.close()
      }
    } finally {
      unfinished.remove()
    }
  })
}

type Seen = Pick<BackupView, 'schema_version' | 'last_entry' | 'audit'>

async function examine(path: string): Promise<Seen> {
  const copy = openSqliteReadOnly(path)
  try {
    await refuseUnsound(copy)
    const { version } = await readSchemaState(copy)
    if (version === 0) throw conflict('The file is a database, but not a store of Turnpike.')
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

/** Adds the entry to each account that has entries. The time of the backup is the last moment in it. */
async function noteRestored(path: string): Promise<void> {
  const copy = openSqlite(path)
  try {
    await copy.transact(async (transaction) => {
      const last = await newestEntry(transaction)
      if (last === undefined) return
      const backupAtMs = Math.max(last.createdAtMs, (await findLastHeartbeat(transaction)) ?? 0)
      const atMs = systemClock.now()
      for (const accountId of await listBookedAccounts(transaction))
        await insertRestored(transaction, { accountId, backupAtMs, atMs })
    })
  } finally {
    await copy.close()
  }
  settleFile(path)
}

async function refuseUnsound(copy: Database): Promise<void> {
  let faults: readonly string[]
  try {
    faults = await findFileFaults(copy)
  } catch (error) {
    faults = [error instanceof Error ? error.message : 'the file cannot be read']
  }
  if (faults.length > 0) throw conflict(`The copy is damaged: ${faults.join('; ')}`)
}

export function usesPostgres(): Error {
  return conflict(
    'The store is on PostgreSQL. Back it up and restore it with the tools of PostgreSQL: pg_basebackup ' +
      'with a WAL archive, or pg_dump. After a restore run: turnpike audit',
  )
}
