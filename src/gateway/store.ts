/**
 * The store of a running gateway, on either engine: opened, migrated, with the ledger on it. The one
 * place that knows what the two need: SQLite one process and threads, PostgreSQL a node's name. The code for
 * PostgreSQL is loaded only when it is used: it would be a tenth of the start on SQLite.
 */
import { hostname } from 'node:os'
import { thisBuild } from '../base/build.ts'
import type { Clock } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { openAll } from '../base/opening.ts'
import { createEmbeddedLedger } from '../ledger/embedded/ledger.ts'
import { FreeExchangeLog } from '../ledger/free-exchange-log.ts'
import { saveFreeExchanges } from '../ledger/free-exchange-store.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { CommitSummary } from '../ledger/settlement-queue.ts'
import type { Config } from '../settings/list.ts'
import type { StoreConnections } from '../settings/shares.ts'
import type { RevisionWatchOptions } from '../storage/changes.ts'
import type { Database } from '../storage/database.ts'
import { refuseForeignFile } from '../storage/open.ts'
import {
  parseStoreLocation,
  type SqliteLocation,
  type PostgresLocation,
} from '../storage/location.ts'
import { lockStore } from '../storage/sqlite/lock.ts'
import { openMembership, type Membership, type MembershipOptions } from '../storage/membership.ts'
import { migrate } from '../storage/migrate.ts'
import { watchCommits } from '../storage/sqlite/commit-watch.ts'
import { OnDemandDatabase } from '../storage/sqlite/on-demand.ts'
import { openSqliteThread } from '../storage/sqlite/thread.ts'

export interface GatewayStoreOptions {
  readonly config: Config
  /** Replaces the name of the settings. */
  readonly nodeName: string | undefined
  readonly connections: StoreConnections
  readonly clock: Clock
  /** The store has failed and stays unusable: the process must end and be started again. */
  readonly onFatal: (error: Error) => void
  /** A fault that is retried, or that concerns one exchange. */
  readonly onFault: (error: unknown) => void
  /** The store answers; called again and again. */
  readonly onRecovered: () => void
  /** Ended exchanges were committed, or could not be. */
  readonly onCommit: (summary: CommitSummary) => void
  /** The most pages of 4 KB that an embedded store may have. */
  readonly pagesMax: number | undefined
  /** Replaces the time of a PostgreSQL server in tests. */
  readonly readStoreTime: (() => number) | undefined
}

export interface GatewayStore {
  readonly database: Database
  /** Closes with the store, if it is still open. */
  readonly ledger: Ledger
  /** Records free exchanges. Closes with the store: waiting rows are written first. */
  readonly freeExchanges: FreeExchangeLog
  /** This gateway among those on the store. */
  readonly membership: Membership
  /** Whether the store and the ledger answer, as far as known. */
  isAvailable(): boolean
  /** How the engine reports changes: at once, or that there is none. */
  readonly revisions: Pick<RevisionWatchOptions, 'listen' | 'mayHaveChanged'>
  close(): Promise<void>
}

export interface FurtherStoreOptions {
  readonly store: string
  readonly connections: StoreConnections
  readonly clock: Clock
  readonly onFatal: (error: Error) => void
  /** It only reads, so that no other thread waits for its locks, and goes last. */
  readonly isBackground?: boolean
}

/**
 * Opens the store once more for the work of operators: a long read there delays no request, and a
 * running gateway notices its changes like those of commands.
 */
export async function openOperatorStore({
  store,
  connections,
  clock,
  onFatal,
  isBackground,
}: FurtherStoreOptions): Promise<Database> {
  const location = parseStoreLocation(store)
  const connectionsMax = connections.operators
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('../storage/postgres/postgres.ts')
    return openPostgres(location, { connectionsMax })
  }
  const open = (): Promise<Database> => openSqliteThread(location.path, onFatal, isBackground)
  return new OnDemandDatabase({ clock, open })
}

export function openGatewayStore(options: GatewayStoreOptions): Promise<GatewayStore> {
  const location = parseStoreLocation(options.config.store)
  return location.kind === 'sqlite'
    ? openEmbedded(location, options)
    : openOnServer(location, options)
}

function openEmbedded(
  { path }: SqliteLocation,
  options: GatewayStoreOptions,
): Promise<GatewayStore> {
  const { clock, onFatal, onFault, onRecovered, onCommit, pagesMax } = options
  return openAll(async (opened) => {
    refuseForeignFile(path)
    // Before any write: another process that holds the lock may run on an older schema.
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
      onCommit,
      ...(pagesMax === undefined ? {} : { pagesMax }),
    })
    opened.defer(() => ledger.close())
    const freeExchanges = openFreeExchanges(database, options)
    opened.defer(() => freeExchanges.close())
    return {
      database,
      ledger,
      freeExchanges,
      membership: await openMembership({
        ...membershipOptions(options, database),
        isAlone: true,
        onRound: () => {
          if (ledger.isAvailable()) onRecovered()
        },
      }),
      isAvailable: () => ledger.isAvailable() && database.isAvailable(),
      revisions: { mayHaveChanged: watchCommits(path) },
      close: () => opened.disposeAsync(),
    }
  })
}

function openOnServer(
  location: PostgresLocation,
  options: GatewayStoreOptions,
): Promise<GatewayStore> {
  const { config, connections, clock, onFault, onRecovered } = options
  return openAll(async (opened) => {
    const { moneyPoolOptions, openPostgresLedger } = await import('../ledger/postgres/ledger.ts')
    const { PostgresPool } = await import('../storage/postgres/pool.ts')
    const { listenForRevisions, openPostgres } = await import('../storage/postgres/postgres.ts')
    const database = await openPostgres(location, { connectionsMax: connections.other })
    opened.defer(() => database.close())
    await migrate(database)
    // Money and everything else have connections of their own, which come back one after the other.
    const parts: { isAvailable(): boolean }[] = [database]
    const isAvailable = (): boolean => parts.every((part) => part.isAvailable())
    const reportRecovered = (): void => {
      if (isAvailable()) onRecovered()
    }
    const pool = new PostgresPool({
      location,
      ...moneyPoolOptions,
      connectionsMax: connections.money,
    })
    parts.push(pool)
    opened.defer(() => pool.close())
    const membership = await openMembership({
      ...membershipOptions(options, database),
      onRound: reportRecovered,
      holdLease: { pool, leaseMs: config.nodeLeaseMs },
    })
    const { holdLease: lease } = membership
    invariant(lease !== undefined, 'holds on PostgreSQL have a lease')
    opened.defer(() => lease.end())
    const ledger = await openPostgresLedger({
      pool,
      lease,
      database,
      clock,
      settleTimeoutMs: config.settleTimeoutMs,
      onFault,
      onRecovered: reportRecovered,
      onCommit: options.onCommit,
      onError: onFault,
    })
    parts.push(ledger)
    opened.defer(() => ledger.close())
    const freeExchanges = openFreeExchanges(database, options)
    opened.defer(() => freeExchanges.close())
    return {
      database,
      ledger,
      freeExchanges,
      membership,
      isAvailable,
      revisions: { listen: (hint) => listenForRevisions({ location, hint }) },
      close: () => opened.disposeAsync(),
    }
  })
}

function openFreeExchanges(
  database: Database,
  { clock, onFault }: GatewayStoreOptions,
): FreeExchangeLog {
  return new FreeExchangeLog({
    clock,
    save: (rows) => saveFreeExchanges(database, rows),
    onError: onFault,
  })
}

function membershipOptions(
  { config, nodeName, clock, onFault, readStoreTime }: GatewayStoreOptions,
  database: Database,
): MembershipOptions {
  return {
    clock,
    database,
    name: nodeName ?? config.nodeName ?? hostname(),
    region: config.region,
    build: thisBuild(),
    onError: onFault,
    ...(readStoreTime === undefined ? {} : { readTime: readStoreTime }),
  }
}
