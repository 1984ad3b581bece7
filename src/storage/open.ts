/**
 * Opens a store for a command; a gateway opens its own, see gateway/store.ts. Looks at the place
 * first: a mistyped path must neither create a new, empty store nor add our tables to a database of
 * another program.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database, Queryable } from './database.ts'
import { parseStoreLocation, type StoreLocation } from './location.ts'
import { GatewayError, InvariantError } from '../base/errors.ts'
import { isStoreTable, migrate, readSchemaState, schemaVersion, type Migrated } from './migrate.ts'
import { openError } from './open-error.ts'
import { readTableNames } from './sqlite/connection.ts'

/** Opens the store at `text`. Each engine's code is loaded only when it is used: commands are short. */
export async function openStore(text: string): Promise<Database> {
  const location = parseStoreLocation(text)
  if (location.kind === 'sqlite') {
    const { openSqlite } = await import('./sqlite/sqlite.ts')
    refuseForeignFile(location.path)
    return openSqlite(location.path)
  }
  const { openPostgres } = await import('./postgres/postgres.ts')
  return openPostgres(location, { connectionsMax: 1 })
}

/**
 * Brings the schema of the store at `text` up to date. Throws `operations.conflict` where a migration is due
 * and a gateway serves an embedded store: it would not do the work that the new schema needs. On
 * PostgreSQL the schema's functions do it for callers of any version. Tests bring a schema `folder`.
 */
export async function bringUpToDate(
  text: string,
  database: Database,
  folder?: string,
): Promise<Migrated> {
  const location = parseStoreLocation(text)
  if (location.kind !== 'sqlite') return migrate(database, folder)
  const { version, isCurrent } = await readSchemaState(database, folder)
  if (version === 0 || isCurrent) return migrate(database, folder)
  const { lockStore } = await import('./sqlite/lock.ts')
  const lock = lockStore(location.path, (path) => servedText(path, version))
  try {
    return await migrate(database, folder)
  } finally {
    lock.close()
  }
}

function servedText(path: string, version: number): string {
  return (
    `A gateway of another version serves the store ${path}, which has schema version ${version}. ` +
    'Nothing was changed. Stop the gateway, start it with this version, then run the command again.'
  )
}

/** Returns whether a store exists there. Throws `operations.invalid` for another program's database. */
export async function hasStore(text: string): Promise<boolean> {
  const location = parseStoreLocation(text)
  return location.kind === 'sqlite' ? holdsStore(location.path) : hasSchema(location)
}

/** Throws `operations.not_found` when no store exists there. */
export async function requireStore(text: string): Promise<void> {
  if (await hasStore(text)) return
  const location = parseStoreLocation(text)
  const place = location.kind === 'sqlite' ? `at ${resolve(location.path)}` : 'in that database'
  throw new GatewayError(
    'operations.not_found',
    `There is no store ${place}. If it is elsewhere, set TURNPIKE_STORE; ` +
      'npm start, turnpike migrate or turnpike apply make a new one.',
  )
}

/** Throws `operations.invalid` for a database of another program, and does not change it. */
export function refuseForeignFile(path: string): void {
  holdsStore(path)
}

function holdsStore(path: string): boolean {
  if (!fileExists(path)) return false
  const tables = tablesIn(path)
  if (tables.some(isStoreTable)) return true
  if (tables.length === 0) return false
  throw new GatewayError(
    'operations.invalid',
    `The file ${resolve(path)} is a database of another program: it contains ${tables.slice(0, 3).join(', ')}. ` +
      'Nothing was changed. Set TURNPIKE_STORE to a store, or to a file that does not exist yet.',
  )
}

/** Returns false only when the file does not exist. A file that cannot be read exists. */
function fileExists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw openError(path, error)
  }
}

function tablesIn(path: string): readonly string[] {
  try {
    return readTableNames(path)
  } catch (error) {
    throw openError(path, error)
  }
}

async function hasSchema(location: Exclude<StoreLocation, { kind: 'sqlite' }>): Promise<boolean> {
  const { openPostgres } = await import('./postgres/postgres.ts')
  const database = await openPostgres(location, { connectionsMax: 1 })
  try {
    return (await schemaVersion(database, 'postgres')) > 0
  } finally {
    await database.close()
  }
}

const nothing: Queryable = { query: () => Promise.resolve([]) }

/** A store that does not exist yet: reads find nothing, writes fail. For `plan` before `apply`. */
export const emptyDatabase: Database = {
  dialect: 'sqlite',
  ...nothing,
  snapshot: (work) => work(nothing),
  transact: () =>
    Promise.reject(new InvariantError('a store that does not exist cannot be written')),
  close: () => Promise.resolve(),
}
