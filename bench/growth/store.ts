/**
 * The two stores whose history grows. Each is filled in bulk without syncing, then set to production
 * settings and measured through the program's own interfaces. All bulk data is on disk before a
 * measurement.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../src/base/clock.ts'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { moneyPoolOptions, openPostgresLedger } from '../../src/ledger/postgres/ledger.ts'
import { openMembership } from '../../src/storage/membership.ts'
import { PostgresPool } from '../../src/storage/postgres/pool.ts'
import type { Database } from '../../src/storage/database.ts'
import { openStore } from '../../src/storage/open.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openConnection } from '../../src/storage/sqlite/connection.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import type { GrowthStoreName } from './report.ts'
import type { HistoryStore } from './history.ts'

export interface GrowthStore {
  readonly name: GrowthStoreName
  /** For one short use; the caller closes it. */
  openDatabase(): Promise<Database>
  /** A second connection, as a gateway has it: its queries do not block the event loop. */
  openSecond(): Promise<Database>
  openLedger(clock: Clock): Promise<Ledger>
  /** Nothing is synced while `work` runs, and no other process may use the store. */
  writeInBulk<Result>(work: (store: HistoryStore) => Promise<Result>): Promise<Result>
  sizeBytes(): Promise<number>
  /** Number of tables that contain the exchanges. */
  countTables(): Promise<number>
  close(): Promise<void>
}

function fail(error: unknown): never {
  throw error
}

export function embeddedStore(folder: string): GrowthStore {
  const path = join(folder, 'turnpike.db')
  const openDatabase = (): Promise<Database> => openStore(`sqlite:${path}`)
  return {
    name: 'sqlite',
    openDatabase,
    openSecond: () => openSqliteThread(path),
    openLedger: (clock) => createEmbeddedLedger({ path, clock, onFatal: fail, onFault: fail }),
    async writeInBulk(work) {
      const connection = openConnection(path)
      connection.script(
        `PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -400000`,
      )
      try {
        return await work({
          dialect: 'sqlite',
          run: async (script) => connection.transact(() => connection.script(script)),
        })
      } finally {
        connection.script('PRAGMA journal_mode = WAL')
        connection.close()
        syncAll()
      }
    },
    sizeBytes: () => Promise.resolve(statSync(path).size),
    countTables: () => Promise.resolve(1),
    // Frees the disk for the next store.
    close: () => rm(path, { force: true }),
  }
}

/** The memory of a small server, as in the stores part; other settings have their defaults. */
const serverSettings = { shared_buffers: '256MB', max_wal_size: '1GB' }
const bulkSettings = {
  ...serverSettings,
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  work_mem: '64MB',
}

export async function serverStore(workFolder: string): Promise<GrowthStore> {
  // Not in the work folder: the server runs as another system user, which may not read it.
  const parentFolder = dirname(workFolder)
  const server = await startPostgres({ settings: serverSettings, parentFolder })
  try {
    return serverStoreOn(server, await server.createDatabase())
  } catch (error) {
    await server.close()
    throw error
  }
}

function serverStoreOn(server: PostgresServer, url: string): GrowthStore {
  const database = new URL(url).pathname.slice(1)
  const location = parsePostgresUrl(url)
  const ask = async (sql: string): Promise<number> => Number(await server.run(sql, database))
  return {
    name: 'postgres',
    openDatabase: () => openStore(url),
    openSecond: () => openPostgres(location),
    async openLedger(clock) {
      const figures = await openPostgres(location)
      const pool = new PostgresPool({ location, ...moneyPoolOptions })
      const { holdLease: lease } = await openMembership({
        clock,
        database: figures,
        name: 'bench',
        region: 'bench',
        build: { version: 'bench', commit: null },
        holdLease: { pool, leaseMs: 60_000 },
        onError: fail,
        readTime: () => clock.now(),
      })
      if (lease === undefined) throw new Error('holds on PostgreSQL have a lease')
      const ledger = await openPostgresLedger({
        pool,
        lease,
        database: figures,
        clock,
        settleTimeoutMs: 10_000,
        onFault: fail,
        onError: fail,
      })
      const closeLedger = ledger.close.bind(ledger)
      return Object.assign(ledger, {
        close: async () => {
          await closeLedger()
          await lease.end()
          await pool.close()
          await figures.close()
        },
      })
    },
    async writeInBulk(work) {
      await server.restart('fast', bulkSettings)
      try {
        return await work({
          dialect: 'postgres',
          run: async (script) => {
            await server.run(script, database)
          },
        })
      } finally {
        // Otherwise autovacuum would run in the middle of a measurement.
        await server.run('VACUUM ANALYZE', database)
        await server.restart('fast', serverSettings)
        syncAll()
      }
    },
    sizeBytes: () => ask('SELECT pg_database_size(current_database())'),
    countTables: () =>
      ask("SELECT COUNT(*) FROM pg_inherits WHERE inhparent = 'exchange'::regclass"),
    close: () => server.close(),
  }
}

function syncAll(): void {
  spawnSync('sync')
}
