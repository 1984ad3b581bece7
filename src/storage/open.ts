/** Opens a store for whoever comes and goes: a command. A gateway's stays open; see gateway-store.ts. */
import type { Database } from './database.ts'
import { parseStoreLocation } from './location.ts'

/** Each engine is loaded only where it is used: a command is over before it would pay off. */
export async function openStore(text: string): Promise<Database> {
  const location = parseStoreLocation(text)
  if (location.kind === 'sqlite') {
    const { openSqlite } = await import('./sqlite.ts')
    const { refuseForeignFile } = await import('./existing-store.ts')
    refuseForeignFile(location.path)
    return openSqlite(location.path)
  }
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(location, { connectionsMax: 1 })
}
