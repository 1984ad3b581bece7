import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'

const source = join(import.meta.dirname, '../../src/storage')
/** Import specifiers for the small programs. */
const sqliteModule = JSON.stringify(join(source, 'sqlite/sqlite.ts'))
const migrateModule = JSON.stringify(join(source, 'migrate.ts'))

describe('migrations', () => {
  let folder: string
  let migrations: string
  let path: string
  let database: Database
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-migrate-'))
    migrations = join(folder, 'migrations')
    mkdirSync(join(migrations, 'sqlite'), { recursive: true })
    path = join(folder, 'store.db')
    database = openSqlite(path)
  })
  afterEach(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const write = (name: string, sql: string): void =>
    writeFileSync(join(migrations, 'sqlite', name), sql)
  const tables = async (): Promise<unknown[]> =>
    (
      await database.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schemaversion' ORDER BY name",
      )
    ).map((row) => row['name'])

  it('bring an empty store to the newest schema, and then have nothing to do', async () => {
    assert.equal(await schemaVersion(database, 'sqlite'), 0)
    const first = await migrate(database)
    assert.equal(first.applied[0], '1 initial')
    assert.match(first.applied.at(-1) ?? '', new RegExp(`^${first.version} `))
    assert.deepEqual(await migrate(database), { applied: [], version: first.version })
    assert.equal(await schemaVersion(database, 'sqlite'), first.version)
    assert.ok((await tables()).includes('account'))
  })

  it('apply new migrations in order, once', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER); INSERT INTO one VALUES (1)')
    await migrate(database, migrations)
    write('010.do.ten.sql', 'INSERT INTO two VALUES (10)')
    write('002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
    assert.deepEqual(await migrate(database, migrations), {
      applied: ['2 two', '10 ten'],
      version: 10,
    })
    assert.equal((await database.query('SELECT * FROM two')).length, 1)
  })

  it('leave the old schema whole when one of them fails', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER)')
    await migrate(database, migrations)
    write('002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
    write('003.do.three.sql', 'CREATE TABLE three (id INTEGER); CREATE TABLE one (id INTEGER)')
    await assert.rejects(migrate(database, migrations), /table one already exists/)
    assert.deepEqual(await tables(), ['one'])
    assert.equal(await schemaVersion(database, 'sqlite'), 1)
    write('003.do.three.sql', 'CREATE TABLE three (id INTEGER)')
    assert.equal((await migrate(database, migrations)).version, 3)
  })

  it('leave the old schema whole when the process is killed in the middle', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER)')
    await migrate(database, migrations)
    const code = `import { openSqlite } from ${sqliteModule}
      const database = openSqlite(${JSON.stringify(path)})
      await database.transact(async (transaction) => {
        await transaction.script('CREATE TABLE two (id INTEGER); DROP TABLE one')
        process.kill(process.pid, 'SIGKILL')
        await new Promise(() => {})
      })`
    assert.equal(await runCode(code), 'SIGKILL')
    assert.deepEqual(await tables(), ['one'])
    write('002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
    assert.equal((await migrate(database, migrations)).version, 2)
  })

  it('refuse a store that a newer program has used', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER)')
    write('002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
    await migrate(database, migrations)
    rmSync(join(migrations, 'sqlite', '002.do.two.sql'))
    await assert.rejects(migrate(database, migrations), {
      code: 'operations.conflict',
      message: /schema version 2, this program knows 1/,
    })
    assert.equal(await schemaVersion(database, 'sqlite'), 2)
  })

  it('refuse to go on from a migration that has been edited since', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER)')
    await migrate(database, migrations)
    write('001.do.one.sql', 'CREATE TABLE one (id INTEGER, name TEXT)')
    write('002.do.two.sql', 'CREATE TABLE two (id INTEGER)')
    await assert.rejects(migrate(database, migrations), {
      code: 'operations.conflict',
      message: /differs from the one shipped here/,
    })
    assert.deepEqual(await tables(), ['one'])
  })

  it('do not care how lines end', async () => {
    write('001.do.one.sql', 'CREATE TABLE one (\nid INTEGER\n)\n')
    await migrate(database, migrations)
    write('001.do.one.sql', 'CREATE TABLE one (\r\nid INTEGER\r\n)\r\n')
    assert.deepEqual(await migrate(database, migrations), { applied: [], version: 1 })
  })

  it('are applied once when several processes start on a new store together', async () => {
    cpSync(join(source, 'migrations'), migrations, { recursive: true })
    const fresh = join(folder, 'fresh', 'store.db')
    const code = `import { openSqlite } from ${sqliteModule}
      import { migrate } from ${migrateModule}
      const database = openSqlite(${JSON.stringify(fresh)})
      const { applied } = await migrate(database, ${JSON.stringify(migrations)})
      await database.close()
      process.exitCode = applied.length === 0 ? 10 : 20`
    const ends = await Promise.all([runCode(code), runCode(code), runCode(code)])
    assert.deepEqual(ends.map(String).toSorted(), ['10', '10', '20'])
  })
})

/** Runs a small program and returns its exit code or the signal that ended it. */
async function runCode(code: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null]
  return exitCode ?? signal
}
