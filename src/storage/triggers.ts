/** The triggers that a store has, by name: an audit asks whether those that guard the books are there. */
import type { Database } from './database.ts'

const listTriggersSql: Readonly<Record<Database['dialect'], string>> = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
  postgres: "SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
}

export async function listTriggers(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.query(listTriggersSql[database.dialect])
  return new Set(rows.map((row) => String(row['name'])))
}
