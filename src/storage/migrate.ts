/**
 * Creates the schema of a new store, and brings a store to the schema of this program: applies the migrations
 * that are due and replaces the stored functions whose files differ, in one transaction under the store's
 * write lock. A crash in the middle leaves the schema as it was, and two processes that open a store at once
 * do it one after the other. A store that is up to date is only read, so commands do not wait for a writer.
 *
 *     store has                                    answer
 *     no schema                                    functions, tables, all migrations
 *     another schema, another old migration        refused
 *     a version that this program does not know    refused
 *     fewer migrations, other functions            functions, then migrations
 */
import { GatewayError } from '../base/errors.ts'
import type { Database, Dialect, Queryable, Transaction } from './database.ts'
import {
  namesOfTables,
  readSchemaFiles,
  type SchemaFiles,
  type StoredFunction,
} from './schema-files.ts'

export interface Migrated {
  /** Names of the steps applied by this call; empty when there was nothing to do. */
  readonly applied: readonly string[]
  /** The schema's version afterwards. */
  readonly version: number
}

export interface SchemaState {
  /** 0 where there is no schema yet. */
  readonly version: number
  /** Whether it is the schema of this program. */
  readonly isCurrent: boolean
}

interface Standing {
  readonly version: number
  /** The stored functions that differ from their files. */
  readonly outdated: readonly OutdatedFunction[]
}

interface OutdatedFunction extends StoredFunction {
  /** Another function of this name must be dropped first, because its parameters or its result differ. */
  readonly isOtherHead: boolean
}

const versionTable = 'schemaversion'
const functionTable = 'stored_function'
const tableSql: Readonly<Record<Dialect, string>> = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = $1",
  // Not to_regclass: it may answer from before the lock was held.
  postgres:
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1',
}

/** `folder` replaces the schema of this program; for tests. */
export async function migrate(database: Database, folder?: string): Promise<Migrated> {
  const files = readSchemaFiles(database.dialect, folder)
  const standing = await database.snapshot((snapshot) => inspect(snapshot, files))
  if (isCurrent(standing, files)) return { applied: [], version: standing.version }
  return database.transact(async (transaction) => {
    // Asked again under the lock: another process may have migrated meanwhile.
    const { version, outdated } = await inspect(transaction, files)
    if (version === 0 && database.dialect === 'postgres') await refuseForeignTables(transaction)
    const applied = await writeSchema(transaction, files, { version, outdated })
    if (files.steps.length > 1) applied.push(...(await applyMigrations(transaction, files)))
    return { applied, version: newestOf(files) }
  })
}

/** Compares a store with this program. Throws `operations.conflict` where they do not belong together. */
export async function readSchemaState(
  database: Queryable & { readonly dialect: Dialect },
  folder?: string,
): Promise<SchemaState> {
  const files = readSchemaFiles(database.dialect, folder)
  const standing = await inspect(database, files)
  return { version: standing.version, isCurrent: isCurrent(standing, files) }
}

/** The version the store's schema has; 0 where there is none yet. */
export async function schemaVersion(database: Queryable, dialect: Dialect): Promise<number> {
  return versionOf(await readApplied(database, dialect))
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
  const ours = (await schemaVersion(database, 'postgres')) === 0 ? [] : namesOfTables('postgres')
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

async function inspect(store: Queryable, files: SchemaFiles): Promise<Standing> {
  const applied = await readApplied(store, files.dialect)
  const version = versionOf(applied)
  if (version === 0)
    return {
      version,
      outdated: files.functions.map((one) => ({ ...one, isOtherHead: false })),
    }
  refuseOtherSchema(applied, files)
  return { version, outdated: await findOutdated(store, files.functions) }
}

/** The md5 of each step that the store has applied, by its version. */
type Applied = ReadonlyMap<number, unknown>

async function readApplied(store: Queryable, dialect: Dialect): Promise<Applied> {
  const tables = await store.query(tableSql[dialect], [versionTable])
  if (tables.length === 0) return new Map()
  const rows = await store.query(`SELECT version, md5 FROM ${versionTable}`)
  return new Map(rows.map((row) => [Number(row['version']), row['md5']]))
}

function versionOf(applied: Applied): number {
  return Math.max(0, ...applied.keys())
}

function newestOf({ steps }: SchemaFiles): number {
  return steps.at(-1)?.version ?? 0
}

function isCurrent({ version, outdated }: Standing, files: SchemaFiles): boolean {
  return version === newestOf(files) && outdated.length === 0
}

function refuseOtherSchema(applied: Applied, files: SchemaFiles): void {
  const version = versionOf(applied)
  const newest = newestOf(files)
  const [base, ...migrations] = files.steps
  if (applied.get(base.version) !== base.md5)
    throw new GatewayError(
      'operations.conflict',
      'The store was made by a development version of Turnpike that has another schema: run that version, ' +
        'or set TURNPIKE_STORE to a new store.',
    )
  if (version > newest)
    throw new GatewayError(
      'operations.conflict',
      `The store has schema version ${version}, this program knows ${newest}: a newer ` +
        'Turnpike has used it. Run that version, or restore a backup made before the upgrade.',
    )
  const other = migrations.find(
    (step) => step.version <= version && applied.get(step.version) !== step.md5,
  )
  if (other !== undefined)
    throw new GatewayError(
      'operations.conflict',
      `Migration ${other.version} that this store has applied differs from the one shipped here. ` +
        'The program and the store do not belong together; nothing has been changed.',
    )
}

async function findOutdated(
  store: Queryable,
  functions: readonly StoredFunction[],
): Promise<readonly OutdatedFunction[]> {
  if (functions.length === 0) return []
  const rows = await store.query(`SELECT name, head_md5, md5 FROM ${functionTable}`)
  const stored = new Map(rows.map((row) => [row['name'], row]))
  return functions.flatMap((one) => {
    const row = stored.get(one.name)
    if (row?.['md5'] === one.md5) return []
    return { ...one, isOtherHead: row !== undefined && row['head_md5'] !== one.headMd5 }
  })
}

/** Creates or replaces functions, and creates the tables of a new store; in one script, for its speed. */
async function writeSchema(
  transaction: Transaction,
  { baseSql, steps: [base] }: SchemaFiles,
  { version, outdated }: Standing,
): Promise<string[]> {
  const isNew = version === 0
  const functionSql = outdated.map(({ name, sql, isOtherHead }) =>
    isOtherHead ? `DROP FUNCTION IF EXISTS ${name}; ${sql}` : sql,
  )
  const recordBaseSql = `INSERT INTO ${versionTable} (version, name, md5, run_at)
    VALUES (${base.version}, '${base.name}', '${base.md5}', CAST(CURRENT_TIMESTAMP AS TEXT));`
  const recordSql = outdated.map(
    ({ name, headMd5, md5 }) =>
      `INSERT INTO ${functionTable} (name, head_md5, md5) VALUES ('${name}', '${headMd5}', '${md5}')
       ON CONFLICT (name) DO UPDATE SET head_md5 = EXCLUDED.head_md5, md5 = EXCLUDED.md5;`,
  )
  // In a new store they come before the tables whose rows they name.
  if (isNew && functionSql.length > 0) functionSql.unshift('SET LOCAL check_function_bodies = off;')
  const script = [...functionSql, ...(isNew ? [baseSql, recordBaseSql] : []), ...recordSql]
  if (script.length > 0) await transaction.script(script.join('\n'))
  return isNew ? [`${base.version} ${base.name}`] : outdated.map(({ name }) => `function ${name}`)
}

/** Postgrator is loaded only where migrations exist: commands are short. */
async function applyMigrations(transaction: Transaction, files: SchemaFiles): Promise<string[]> {
  const { default: Postgrator } = await import('postgrator')
  const postgrator = new Postgrator({
    driver: files.dialect === 'sqlite' ? 'sqlite3' : 'pg',
    schemaTable: versionTable,
    migrationPattern: files.migrationPattern,
    validateChecksums: false,
    newline: 'LF',
    execQuery: async (sql) => ({ rows: await transaction.query(sql) }),
    execSqlScript: (sql) => transaction.script(sql),
  })
  const migrations = await postgrator.migrate()
  return migrations.map(({ version, name }) => `${version} ${name}`)
}
