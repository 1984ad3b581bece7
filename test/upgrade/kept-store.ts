/**
 * The stores of released versions, kept as SQL texts in `stores/`, one for each engine. `load…` makes a store
 * of one; `dump…` makes the text of a store. `keep-stores.ts` writes them, and knows what is in them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Database, Dialect } from '../../src/storage/database.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { TestAccount } from '../support/accounts.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import { applyCatalogue, createClientKey, showAccount } from '../support/operations.ts'
import { runPostgresProgram } from '../support/postgres-programs.ts'

/** Released versions whose stores are kept, oldest first. */
export const keptVersions = ['0.1.0'] as const

/** The name of the account in them that has asked most. */
export const keptAccount = 'kept'

/**
 * Leads the channels of a kept store to these vendors, and makes a key with which its gateway can be asked.
 */
export async function openKept(context: OperationContext, vendorUrl: string): Promise<TestAccount> {
  const catalogue = demoCatalogueWith({ every: { check: 'none' } })(vendorUrl)
  await applyCatalogue(context, { text: catalogue })
  const { id } = await showAccount(context, { account: keptAccount })
  const { secret } = await createClientKey(context, { account: id, name: 'later' })
  return { id, name: keptAccount, key: secret, token: '' }
}

export function pathOfKept(version: string, dialect: Dialect): string {
  return join(import.meta.dirname, 'stores', `${version}.${dialect}.sql`)
}

/** Makes the file of a new SQLite store. */
export function loadSqlite(version: string, path: string): void {
  const database = new DatabaseSync(path)
  database.exec(readFileSync(pathOfKept(version, 'sqlite'), 'utf8'))
  database.close()
}

/** Fills an empty database. */
export async function loadPostgres(version: string, database: Database): Promise<void> {
  const text = readFileSync(pathOfKept(version, 'postgres'), 'utf8')
  // Functions name tables that come after them.
  const script = `SET LOCAL check_function_bodies = off;\n${text}`
  await database.transact((transaction) => transaction.script(script))
}

/** Tables with their rows, then what acts on rows: indexes and triggers. */
export function dumpSqlite(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true })
  const all = database
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
    )
    .all() as { type: string; name: string; sql: string }[]
  const of = (wanted: (type: string) => boolean): readonly string[] =>
    all.filter(({ type }) => wanted(type)).map(({ sql }) => `${sql};`)
  const tables = all.filter(({ type }) => type === 'table').map(({ name }) => name)
  const lines = [
    'PRAGMA foreign_keys = OFF;',
    'BEGIN;',
    ...of((type) => type === 'table'),
    ...[...tables, 'sqlite_sequence'].flatMap((table) => insertsOf(database, table)),
    ...of((type) => type !== 'table'),
    'COMMIT;',
  ]
  database.close()
  return `${lines.join('\n')}\n`
}

function insertsOf(database: DatabaseSync, table: string): readonly string[] {
  const columns = database.prepare(`PRAGMA table_info("${table}")`).all()
  const values = columns.map(({ name }) => `quote("${String(name)}")`).join(" || ', ' || ")
  return database
    .prepare(`SELECT ${values} AS "values" FROM "${table}"`)
    .all()
    .map((row) => `INSERT INTO "${table}" VALUES (${String(row['values'])});`)
}

/** By `pg_dump`, without what only its own `psql` reads and what the reader's role decides. */
export async function dumpPostgres(url: string): Promise<string> {
  const words = ['--inserts', '--no-owner', '--no-privileges', '--no-comments', '--schema=public']
  const text = await runPostgresProgram('pg_dump', [...words, `--dbname=${url}`])
  const isLeftOut = /^(?:--|\\|SET |SELECT pg_catalog\.set_config|CREATE SCHEMA public;|$)/
  const lines = text.split('\n').filter((line) => !isLeftOut.test(line))
  return `${lines.join('\n')}\n`
}
