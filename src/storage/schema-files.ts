/**
 * The schema as this program has it, in files: `tables.sql` with the tables of both engines, `schema.sql`
 * with what only one engine has, one file per stored function of PostgreSQL, and the migrations, of which
 * there are none before the first release. Reads files and knows no store; `migrate.ts` compares both.
 */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Dialect } from './database.ts'

/** A step that a store records: the tables with `schema.sql` are the first one, the migrations follow. */
interface SchemaStep {
  readonly version: number
  readonly name: string
  readonly md5: string
}

export interface StoredFunction {
  readonly name: string
  readonly sql: string
  /** Of parameters and result, which `CREATE OR REPLACE` cannot change. */
  readonly headMd5: string
  readonly md5: string
}

export interface SchemaFiles {
  readonly dialect: Dialect
  /** All tables and triggers of a new store; they come after the functions, which triggers name. */
  readonly baseSql: string
  /** In the order of their versions; the first one is `baseSql`. */
  readonly steps: readonly [base: SchemaStep, ...migrations: SchemaStep[]]
  readonly functions: readonly StoredFunction[]
  /** The files of the migrations, as Postgrator takes them. */
  readonly migrationPattern: string
}

const shippedFolder = join(import.meta.dirname, 'schema')

/** Words of `tables.sql` that belong to the other engine, and the replacement that an engine reads. */
const otherWords: Readonly<Record<Dialect, readonly (readonly [RegExp, string])[]>> = {
  sqlite: [
    [/\bBIGINT\b/g, 'INTEGER'],
    [/ COLLATE "C"/g, ''],
    [/ GENERATED ALWAYS AS IDENTITY PRIMARY KEY/g, ' PRIMARY KEY AUTOINCREMENT'],
    [/^(\).*?) (?:WITH|PARTITION BY \w+) \(.*?\);/gm, '$1;'],
  ],
  postgres: [[/^\) STRICT(?:, WITHOUT ROWID)?/gm, ')']],
}

/** `folder` has the tables of both and one folder per dialect; tests bring their own. */
export function readSchemaFiles(dialect: Dialect, folder: string = shippedFolder): SchemaFiles {
  const ours = join(folder, dialect)
  const tables = otherWords[dialect].reduce(
    (sql, [word, own]) => sql.replaceAll(word, own),
    readText(join(folder, 'tables.sql')),
  )
  const baseSql = `${tables}\n${readText(join(ours, 'schema.sql'))}`
  return {
    dialect,
    baseSql,
    steps: [
      { version: 1, name: 'schema', md5: md5Of(withoutComments(baseSql)) },
      ...listSql(join(ours, 'migrations')).flatMap(readMigration),
    ],
    functions: listSql(join(ours, 'functions')).map(readFunction),
    migrationPattern: join(ours, 'migrations', '*.sql'),
  }
}

/** Names of all tables that the files create. */
export function namesOfTables(dialect: Dialect): readonly string[] {
  const migrations = listSql(join(shippedFolder, dialect, 'migrations')).map(readText)
  return [readSchemaFiles(dialect).baseSql, ...migrations].flatMap((sql) =>
    [...sql.matchAll(/^CREATE TABLE "?(\w+)"?/gm)].map(([, name = '']) => name),
  )
}

function listSql(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return names.sort().map((name) => join(folder, name))
}

/** The number, name and checksum of a migration, as Postgrator records them. */
function readMigration(path: string): SchemaStep[] {
  const [, version, name = ''] = /^(\d+)\.do\.(.*)\.sql$/.exec(basename(path)) ?? []
  return version === undefined
    ? []
    : [{ version: Number(version), name, md5: md5Of(readText(path)) }]
}

function readFunction(path: string): StoredFunction {
  const sql = readText(path)
  const text = withoutComments(sql)
  const head = text.slice(0, text.indexOf(' LANGUAGE '))
  const name = basename(path, '.sql').replaceAll('-', '_')
  return { name, sql, headMd5: md5Of(head), md5: md5Of(text) }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
}

/** Another comment or layout makes no other schema. */
function withoutComments(sql: string): string {
  return sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function md5Of(text: string): string {
  return hash('md5', text)
}
