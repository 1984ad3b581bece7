/**
 * Migrates the schema to the version of this program: numbered SQL files, forward only, each with a
 * checksum, applied in one transaction under the store's write lock. A crash in the middle leaves the
 * old schema, and two processes that migrate at once do it one after the other. A store that is up to
 * date is only read, so commands do not wait for a writer.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Postgrator from 'postgrator'
import { GatewayError, InvariantError } from '../base/errors.ts'
import type { Database, Dialect, Queryable, Transaction } from './database.ts'

export interface Migrated {
  /** Names of the migrations applied by this call; empty when there was nothing to do. */
  readonly applied: readonly string[]
  /** The schema's version afterwards. */
  readonly version: number
}

const versionTable = 'schemaversion'
const tableSql: Readonly<Record<Dialect, string>> = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = $1",
  postgres: 'SELECT to_regclass($1) AS name WHERE to_regclass($1) IS NOT NULL',
}
const shippedFolder = join(import.meta.dirname, 'migrations')

/** `folder` has one folder per dialect; tests bring their own. */
export async function migrate(
  database: Database,
  folder: string = shippedFolder,
): Promise<Migrated> {
  const { dialect } = database
  const files = join(folder, dialect)
  const standing = await database.snapshot(async (snapshot): Promise<Migrated | undefined> => {
    const version = await schemaVersion(snapshot, dialect)
    const newestKnown = refuseNewerSchema(version, dialect, folder)
    if (version < newestKnown) return undefined
    return { applied: await apply(readingOnly(snapshot), { files, dialect }), version }
  })
  if (standing !== undefined) return standing
  // Asked again under the lock: another process may have migrated meanwhile.
  return database.transact(async (transaction) => {
    const version = await schemaVersion(transaction, dialect)
    const newestKnown = refuseNewerSchema(version, dialect, folder)
    if (version === 0 && dialect === 'postgres') await refuseForeignTables(transaction)
    const applied = await apply(transaction, { files, dialect })
    return { applied, version: newestKnown }
  })
}

/** For comparing checksums alone, where there is nothing to apply. */
function readingOnly(snapshot: Queryable): Pick<Transaction, 'query' | 'script'> {
  return {
    query: (sql, parameters) => snapshot.query(sql, parameters),
    script: () => Promise.reject(new InvariantError('there is nothing to apply')),
  }
}

/** Whether a table of this name marks a store of ours. */
export function isStoreTable(name: string): boolean {
  return name === versionTable
}

/**
 * Throws where a PostgreSQL database has a table that is neither ours nor of an extension, in any schema.
 * Partitions count as part of their table.
 */
export async function refuseForeignTables(database: Queryable): Promise<void> {
  const ours = (await schemaVersion(database, 'postgres')) === 0 ? [] : shippedTables()
  const rows = await database.query(
    `SELECT relname FROM pg_class
       JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relkind IN ('r', 'p', 'f') AND NOT relispartition
        AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
        AND NOT (nspname = current_schema() AND relname IN (SELECT json_array_elements_text($1)))
        AND NOT EXISTS (
          SELECT FROM pg_depend
           WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
      ORDER BY relname`,
    [JSON.stringify(ours)],
  )
  if (rows.length === 0) return
  const names = rows.slice(0, 3).map((row) => String(row['relname']))
  throw new GatewayError(
    'operations.invalid',
    `The PostgreSQL database has tables of another program: ${names.join(', ')}. Nothing was changed. ` +
      'Create a separate database for the store.',
  )
}

/** Names of all tables that migrations of PostgreSQL create. */
function shippedTables(): readonly string[] {
  const folder = join(shippedFolder, 'postgres')
  const scripts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const created = scripts.flatMap((script) => [...script.matchAll(/^CREATE TABLE "?(\w+)"?/gm)])
  return [versionTable, ...created.map(([, name = '']) => name)]
}

/** The version the store's schema has; 0 where there is none yet. */
export async function schemaVersion(database: Queryable, dialect: Dialect): Promise<number> {
  const tables = await database.query(tableSql[dialect], [versionTable])
  if (tables.length === 0) return 0
  const [row] = await database.query(`SELECT MAX(version) AS version FROM ${versionTable}`)
  return Number(row?.['version'] ?? 0)
}

/** Throws where a newer program has been at work; returns the newest version this one knows. */
export function refuseNewerSchema(
  version: number,
  dialect: Dialect,
  folder: string = shippedFolder,
): number {
  const newestKnown = newestMigration(join(folder, dialect))
  if (version <= newestKnown) return newestKnown
  throw new GatewayError(
    'operations.conflict',
    `The store has schema version ${version}, this program knows ${newestKnown}: a newer ` +
      'Turnpike has used it. Run that version, or restore a backup made before the upgrade.',
  )
}

async function apply(
  transaction: Pick<Transaction, 'query' | 'script'>,
  { files, dialect }: { readonly files: string; readonly dialect: Dialect },
): Promise<string[]> {
  const postgrator = new Postgrator({
    driver: dialect === 'sqlite' ? 'sqlite3' : 'pg',
    schemaTable: versionTable,
    migrationPattern: join(files, '*.sql'),
    validateChecksums: true,
    newline: 'LF',
    execQuery: async (sql) => ({ rows: await transaction.query(sql) }),
    execSqlScript: (sql) => transaction.script(sql),
  })
  try {
    const migrations = await postgrator.migrate()
    return migrations.map((migration) => `${migration.version} ${migration.name}`)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('MD5 checksum failed')) throw error
    throw new GatewayError(
      'operations.conflict',
      `A migration that this store has applied differs from the one shipped here (${error.message}). ` +
        'The program and the store do not belong together; nothing has been changed.',
      { cause: error },
    )
  }
}

function newestMigration(files: string): number {
  let newest = 0
  for (const name of readdirSync(files)) {
    const match = /^(\d+)\.do\..*\.sql$/.exec(name)
    if (match !== null) newest = Math.max(newest, Number(match[1]))
  }
  return newest
}
