/**
 * What is at a store's place before it is opened. A slip in a path must neither make a new, empty
 * store, whose books agree for ever, nor put our tables into somebody else's file.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { parseStoreLocation, type StoreLocation } from './location.ts'
import { isStoreTable, schemaVersion } from './migrate.ts'
import { openError } from './open-error.ts'
import { readTableNames } from './sqlite-connection.ts'

/** Whether a store has been made there; a database of something else is refused, not taken for none. */
export async function hasStore(text: string): Promise<boolean> {
  const location = parseStoreLocation(text)
  return location.kind === 'sqlite' ? holdsStore(location.path) : hasSchema(location)
}

/** For all that makes no store: throws `operations.not_found` where none has been made yet. */
export async function demandStore(text: string): Promise<void> {
  if (await hasStore(text)) return
  const location = parseStoreLocation(text)
  const place = location.kind === 'sqlite' ? `at ${resolve(location.path)}` : 'in that database'
  throw new GatewayError(
    'operations.not_found',
    `There is no store ${place}. If it is elsewhere, set TURNPIKE_STORE; ` +
      'npm start, turnpike migrate or turnpike apply make a new one.',
  )
}

/** Throws `operations.invalid` for a database that is no store of ours, and leaves it as it is. */
export function refuseForeignFile(path: string): void {
  holdsStore(path)
}

function holdsStore(path: string): boolean {
  if (!isThere(path)) return false
  const tables = tablesIn(path)
  if (tables.some(isStoreTable)) return true
  if (tables.length === 0) return false
  throw new GatewayError(
    'operations.invalid',
    `The file ${resolve(path)} is a database of something else: it holds ${tables.slice(0, 3).join(', ')}. ` +
      'Nothing in it was changed. Name the file of a store, or one that does not exist yet.',
  )
}

/** False only where the system knows of none: one that it keeps from us is there. */
function isThere(path: string): boolean {
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
  const { openPostgres } = await import('./postgres.ts')
  const database = await openPostgres(location, { connectionsMax: 1 })
  try {
    return (await schemaVersion(database, 'postgres')) > 0
  } finally {
    await database.close()
  }
}
