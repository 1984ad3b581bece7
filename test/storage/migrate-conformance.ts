/**
 * What both engines promise about the schema: created once and whole, changed by migrations in one step, and
 * refused where store and program do not belong together. Each test brings a small schema of its own.
 */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { migrate, readSchemaState, schemaVersion } from '../../src/storage/migrate.ts'
import { readSchemaFiles } from '../../src/storage/schema-files.ts'
import { makeFolder } from './embedded-harness.ts'

/** A database without a schema. */
interface EmptyStore {
  readonly database: Database
  close(): Promise<void>
}

/** Names of the store's own tables, whatever the schema. */
const tablesSql = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
  postgres:
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
}
const ownTables = new Set(['schemaversion', 'stored_function'])

/** The tables in which a store records its schema, as this program creates them. */
function recordTables(dialect: 'sqlite' | 'postgres'): string {
  const { baseSql } = readSchemaFiles(dialect)
  return [...baseSql.matchAll(/^CREATE TABLE (?:schemaversion|stored_function) .*?;$/gms)].join(
    '\n',
  )
}

export function describeMigrations(title: string, make: () => Promise<EmptyStore>): void {
  void describe(title, () => {
    let folder: ReturnType<typeof makeFolder>
    let store: EmptyStore
    let database: Database
    beforeEach(async () => {
      folder = makeFolder()
      store = await make()
      database = store.database
      writeFileSync(join(folder.path, 'tables.sql'), '')
      write('schema.sql', 'CREATE TABLE one (id INTEGER); INSERT INTO one VALUES (1);')
    })
    afterEach(async () => {
      await store.close()
      folder.remove()
    })
    const pathOf = (name: string): string => join(folder.path, database.dialect, name)
    function write(name: string, sql: string): void {
      const text = name === 'schema.sql' ? `${recordTables(database.dialect)}\n${sql}` : sql
      mkdirSync(dirname(pathOf(name)), { recursive: true })
      writeFileSync(pathOf(name), text)
    }
    const run = () => migrate(database, folder.path)
    const version = () => schemaVersion(database, database.dialect)
    const tables = async (): Promise<unknown[]> => {
      const rows = await database.query(tablesSql[database.dialect])
      return rows.map((row) => row['name']).filter((name) => !ownTables.has(String(name)))
    }

    void it('creates the schema of this program, and then has nothing to do', async () => {
      assert.equal(await version(), 0)
      const first = await migrate(database)
      assert.equal(first.applied[0], '1 schema')
      assert.deepEqual(await migrate(database), { applied: [], version: first.version })
      assert.equal(await version(), first.version)
      assert.deepEqual(await readSchemaState(database), {
        version: first.version,
        isCurrent: true,
      })
      assert.ok((await tables()).includes('account'))
    })

    void it('applies migrations in order and once, to a new store and to an older one', async () => {
      assert.deepEqual(await run(), { applied: ['1 schema'], version: 1 })
      write('migrations/010.do.ten.sql', 'INSERT INTO two VALUES (10)')
      write('migrations/002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
      const due = { version: 1, isCurrent: false }
      assert.deepEqual(await readSchemaState(database, folder.path), due)
      assert.deepEqual(await run(), { applied: ['2 two', '10 ten'], version: 10 })
      assert.deepEqual(await run(), { applied: [], version: 10 })
      assert.equal((await database.query('SELECT * FROM two')).length, 1)
      const fresh = await make()
      const { applied } = await migrate(fresh.database, folder.path)
      await fresh.close()
      assert.deepEqual(applied, ['1 schema', '2 two', '10 ten'])
    })

    void it('leaves the old schema whole when a migration fails', async () => {
      await run()
      write('migrations/002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
      write(
        'migrations/003.do.three.sql',
        'CREATE TABLE three (id INTEGER); CREATE TABLE one (id INTEGER)',
      )
      await assert.rejects(run(), /one"? already exists/)
      assert.deepEqual(await tables(), ['one'])
      assert.equal(await version(), 1)
      write('migrations/003.do.three.sql', 'CREATE TABLE three (id INTEGER)')
      assert.equal((await run()).version, 3)
    })

    void it('leaves nothing of a new schema that fails', async () => {
      write('schema.sql', 'CREATE TABLE one (id INTEGER); CREATE TABLE one (id INTEGER);')
      await assert.rejects(run(), /one"? already exists/)
      assert.deepEqual(await tables(), [])
      assert.equal(await version(), 0)
    })

    void it('refuses a store that a newer program has used', async () => {
      write('migrations/002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
      await run()
      rmSync(pathOf('migrations/002.do.two.sql'))
      await assert.rejects(run(), {
        code: 'operations.conflict',
        message: /schema version 2, this program knows 1: a newer Turnpike has used it/,
      })
      assert.equal(await version(), 2)
    })

    void it('refuses a store whose schema file was another one, in a sentence', async () => {
      const refusal = {
        code: 'operations.conflict',
        message:
          'The store was made by a development version of Turnpike that has another schema: ' +
          'run that version, or set TURNPIKE_STORE to a new store.',
      }
      await run()
      write('schema.sql', 'CREATE TABLE one (id INTEGER, name TEXT);')
      await assert.rejects(run(), refusal)
      await assert.rejects(readSchemaState(database, folder.path), refusal)
      await assert.rejects(migrate(database), refusal)
      // The development versions that had numbered files only.
      await database.query("UPDATE schemaversion SET name = 'initial', md5 = 'another'")
      for (const number of [2, 32])
        await database.query(
          `INSERT INTO schemaversion (version, name, md5, run_at) VALUES (${number}, '', '', '')`,
        )
      await assert.rejects(migrate(database), refusal)
      assert.deepEqual(await tables(), ['one'])
    })

    void it('refuses to go on from a migration that has been edited since', async () => {
      write('migrations/002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
      await run()
      write('migrations/002.do.two.sql', 'CREATE TABLE two (id INTEGER, name TEXT)')
      write('migrations/003.do.three.sql', 'CREATE TABLE three (id INTEGER)')
      await assert.rejects(run(), {
        code: 'operations.conflict',
        message: /Migration 2 .* differs from the one shipped here/,
      })
      assert.deepEqual(await tables(), ['one', 'two'])
    })

    void it('does not care about comments, and how lines end', async () => {
      write('schema.sql', 'CREATE TABLE one (\nid INTEGER\n);\n')
      write('migrations/002.do.two.sql', 'CREATE TABLE two (\nid INTEGER\n);\n')
      await run()
      write('schema.sql', '-- A table.\r\nCREATE TABLE one (\r\n  id INTEGER -- of it\r\n);\r\n')
      write('migrations/002.do.two.sql', 'CREATE TABLE two (\r\nid INTEGER\r\n);\r\n')
      assert.deepEqual(await run(), { applied: [], version: 2 })
    })
  })
}
