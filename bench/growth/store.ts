/**
 * The two stores whose past is made to grow. Each is written to in bulk without syncing, then brought
 * into the state in which production has it, and measured through the program's own doors. What
 * the bulk has left to write is on disk before anything is measured.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../src/base/clock.ts'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/ledger.ts'
import type { Database } from '../../src/storage/database.ts'
import { openStore } from '../../src/storage/open.ts'
import { openPostgres } from '../../src/storage/postgres.ts'
import { parsePostgresUrl } from '../../src/storage/postgres-location.ts'
import { openConnection } from '../../src/storage/sqlite-connection.ts'
import { openSqliteThread } from '../../src/storage/sqlite-thread.ts'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import type { GrowthStoreName } from './figures.ts'
import type { HistoryStore } from './history.ts'

export interface GrowthStore {
  readonly name: GrowthStoreName
  /** For whoever does one thing and closes it. */
  openDatabase(): Promise<Database>
  /** As a gateway has it beside its ledger: no question keeps the event loop. */
  openBeside(): Promise<Database>
  openLedger(clock: Clock): Promise<Ledger>
  /** While `work` runs nothing is synced and nobody else may use the store. */
  writeInBulk<Result>(work: (store: HistoryStore) => Promise<Result>): Promise<Result>
  sizeBytes(): Promise<number>
  /** Tables that the exchanges are spread over. */
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
    openBeside: () => openSqliteThread(path),
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
    // Gone before the next store grows: the disk holds one at a time.
    close: () => rm(path, { force: true }),
  }
}

/** As in the part about stores: memory as a small server has it, all else as it comes. */
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
  // Beside the work folder: the server runs as another account, which may not look into it.
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
    openBeside: () => openPostgres(location),
    async openLedger(clock) {
      const figures = await openPostgres(location)
      const ledger = await openPostgresLedger({
        location,
        database: figures,
        clock,
        nodeName: 'bench',
        leaseMs: 60_000,
        settleTimeoutMs: 10_000,
        onFault: fail,
        onError: fail,
        readTime: () => clock.now(),
      })
      const closeLedger = ledger.close.bind(ledger)
      return Object.assign(ledger, {
        close: async () => {
          await closeLedger()
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
        // Autovacuum would do so by itself, but in the middle of what is measured.
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
