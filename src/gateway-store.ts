/**
 * The store of a running gateway, on either engine: opened, migrated, with the ledger on it. The one
 * place that knows what the two need: SQLite one process and threads, PostgreSQL a node's name.
 */
import { hostname } from 'node:os'
import type { Clock } from './base/clock.ts'
import { openAll } from './base/opening.ts'
import { createEmbeddedLedger } from './ledger/embedded/ledger.ts'
import type { Ledger } from './ledger/ledger.ts'
import { openPostgresLedger } from './ledger/postgres/ledger.ts'
import type { Config } from './settings.ts'
import type { RevisionWatchOptions } from './storage/changes.ts'
import type { Database } from './storage/database.ts'
import { refuseForeignFile } from './storage/existing-store.ts'
import { parseStoreLocation, type SqliteLocation } from './storage/location.ts'
import { lockStore } from './storage/lock.ts'
import { migrate } from './storage/migrate.ts'
import { listenForRevisions } from './storage/postgres-listener.ts'
import type { PostgresLocation } from './storage/postgres-location.ts'
import { openPostgres } from './storage/postgres.ts'
import { openSqliteThread } from './storage/sqlite-thread.ts'
import { refuseUnfinishedCopy } from './storage/store-copy.ts'

export interface GatewayStoreOptions {
  readonly config: Config
  readonly clock: Clock
  /** The store failed for good: the process has to end and be started anew. */
  readonly onFatal: (error: Error) => void
  /** What went wrong once and is tried again, or concerns one exchange. */
  readonly onFault: (error: unknown) => void
  /** Charges can be stored again after some could not. */
  readonly onRecovered: () => void
  /** Pages of 4 KB that charges may have an embedded store grow to. */
  readonly pagesMax: number | undefined
  /** Time of a store on PostgreSQL where a test holds it still. */
  readonly readStoreTime: (() => number) | undefined
}

export interface GatewayStore {
  readonly database: Database
  /** Closed with the store, where its user has not done so before. */
  readonly ledger: Ledger
  /** Whether everything about it answers, as far as is known. */
  isAvailable(): boolean
  /** Tells of changes at once, where the engine can. */
  readonly listen: RevisionWatchOptions['listen']
  close(): Promise<void>
}

export function openGatewayStore(options: GatewayStoreOptions): Promise<GatewayStore> {
  const location = parseStoreLocation(options.config.store)
  return location.kind === 'sqlite'
    ? openEmbedded(location, options)
    : openOnServer(location, options)
}

function openEmbedded(
  { path }: SqliteLocation,
  { clock, onFatal, onFault, onRecovered, pagesMax }: GatewayStoreOptions,
): Promise<GatewayStore> {
  return openAll(async (opened) => {
    refuseForeignFile(path)
    // Before anything is written: whoever holds it may run on an older schema.
    const lock = lockStore(path)
    opened.defer(() => lock.close())
    const database = await openSqliteThread(path, onFatal)
    opened.defer(() => database.close())
    await migrate(database)
    const ledger = await createEmbeddedLedger({
      path,
      clock,
      onFatal,
      onFault,
      onRecovered,
      ...(pagesMax === undefined ? {} : { pagesMax }),
    })
    opened.defer(() => ledger.close())
    return {
      database,
      ledger,
      isAvailable: () => ledger.isAvailable() && database.isAvailable(),
      listen: undefined,
      close: () => opened.disposeAsync(),
    }
  })
}

function openOnServer(
  location: PostgresLocation,
  { config, clock, onFault, onRecovered, readStoreTime }: GatewayStoreOptions,
): Promise<GatewayStore> {
  return openAll(async (opened) => {
    const database = await openPostgres(location)
    opened.defer(() => database.close())
    await migrate(database)
    // So that a start which comes while this store is being filled is not taken for a node.
    await refuseUnfinishedCopy(database)
    const ledger = await openPostgresLedger({
      location,
      database,
      clock,
      nodeName: config.nodeName ?? hostname(),
      leaseMs: config.nodeLeaseMs,
      settleTimeoutMs: config.settleTimeoutMs,
      onFault,
      onRecovered,
      onError: onFault,
      ...(readStoreTime === undefined ? {} : { readTime: readStoreTime }),
    })
    opened.defer(() => ledger.close())
    // Again when the node is known: whoever fills this store looks for nodes after it has marked it.
    await refuseUnfinishedCopy(database)
    return {
      database,
      ledger,
      isAvailable: () => ledger.isAvailable() && database.isAvailable(),
      listen: (hint) => listenForRevisions({ location, hint }),
      close: () => opened.disposeAsync(),
    }
  })
}
