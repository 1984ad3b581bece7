/** The schema of stores on PostgreSQL, and its stored functions: each is replaced when its file changes. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { migrate, readSchemaState } from '../../src/storage/migrate.ts'
import { openPostgres, type PostgresDatabase } from '../../src/storage/postgres/postgres.ts'
import { readSchemaFiles } from '../../src/storage/schema-files.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { makeFolder } from './embedded-harness.ts'
import { describeMigrations } from './migrate-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

const open = (url: string): Promise<PostgresDatabase> =>
  openPostgres(parsePostgresUrl(url), { connectionsMax: 1 })

describeMigrations('the schema on PostgreSQL', async () => {
  const database = await open(await server.createDatabase())
  return { database, close: () => database.close() }
})

it('creates the schema once when several open a new store together', async () => {
  const url = await server.createDatabase()
  const all = await Promise.all([1, 2, 3, 4].map(() => open(url)))
  try {
    const migrated = await Promise.all(all.map((database) => migrate(database)))
    const applied = migrated.map((one) => one.applied.join())
    assert.deepEqual(applied.sort(), ['', '', '', '1 schema'])
  } finally {
    await Promise.all(all.map((database) => database.close()))
  }
})

describe('a stored function', () => {
  interface Place {
    readonly database: PostgresDatabase
    readonly folder: string
    /** Writes `functions/double.sql`. */
    readonly write: (sql: string) => void
  }

  async function openPlace(test: TestContext): Promise<Place> {
    const made = makeFolder()
    const folder = made.path
    const database = await open(await server.createDatabase())
    test.after(async () => {
      await database.close()
      made.remove()
    })
    mkdirSync(join(folder, 'postgres', 'functions'), { recursive: true })
    const { baseSql } = readSchemaFiles('postgres')
    writeFileSync(join(folder, 'tables.sql'), '')
    writeFileSync(join(folder, 'postgres', 'schema.sql'), baseSql)
    for (const { name, sql } of readSchemaFiles('postgres').functions)
      writeFileSync(join(folder, 'postgres', 'functions', `${name.replaceAll('_', '-')}.sql`), sql)
    const write = (sql: string): void =>
      writeFileSync(join(folder, 'postgres', 'functions', 'double.sql'), sql)
    write(functionSql('p_number INTEGER', 'p_number * 2'))
    await migrate(database, folder)
    return { database, folder, write }
  }

  const functionSql = (parameters: string, result: string): string =>
    `-- Doubles.\nCREATE OR REPLACE FUNCTION double(${parameters}) RETURNS INTEGER LANGUAGE plpgsql AS $$\n` +
    `BEGIN\n  RETURN ${result};\nEND $$;\n`

  const call = async ({ database }: Place): Promise<unknown> =>
    (await database.query('SELECT double(3) AS result'))[0]?.['result']

  it('is replaced when its text changes, and only then', async (test) => {
    const place = await openPlace(test)
    const { database, folder, write } = place
    assert.equal(await call(place), 6n)
    write(functionSql('p_number INTEGER', 'p_number + p_number + 0'))
    assert.equal((await readSchemaState(database, folder)).isCurrent, false)
    assert.deepEqual(await migrate(database, folder), { applied: ['function double'], version: 1 })
    assert.deepEqual(await migrate(database, folder), { applied: [], version: 1 })
    write(`-- In other words.\n${functionSql('p_number INTEGER', 'p_number + p_number + 0')}`)
    assert.deepEqual(await migrate(database, folder), { applied: [], version: 1 })
    assert.equal(await call(place), 6n)
  })

  it('is replaced as a whole when its parameters or its result change', async (test) => {
    const place = await openPlace(test)
    const { database, folder, write } = place
    write(functionSql('p_other INTEGER', 'p_other * 20'))
    await migrate(database, folder)
    assert.equal(await call(place), 60n)
    write(functionSql('p_other BIGINT, p_more BIGINT DEFAULT 1', 'p_other * 200 + p_more'))
    await migrate(database, folder)
    assert.equal(await call(place), 601n, 'no second function of this name is left')
  })

  it('stays as it was when another one of the same step fails', async (test) => {
    const place = await openPlace(test)
    const { database, folder, write } = place
    write(functionSql('p_number INTEGER', 'p_number * 4'))
    const broken = join(folder, 'postgres', 'functions', 'zero.sql')
    writeFileSync(
      broken,
      'CREATE OR REPLACE FUNCTION zero() RETURNS nothing LANGUAGE sql AS $$ $$;',
    )
    await assert.rejects(migrate(database, folder), /nothing/)
    assert.equal(await call(place), 6n)
  })
})
