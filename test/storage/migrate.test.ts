/** The schema of embedded stores: what both engines promise, and processes beside each other. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, test, type TestContext } from 'node:test'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { bringUpToDate, openStore } from '../../src/storage/open.ts'
import { readSchemaFiles } from '../../src/storage/schema-files.ts'
import { lockStore } from '../../src/storage/sqlite/lock.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { makeFolder } from './embedded-harness.ts'
import { describeMigrations } from './migrate-conformance.ts'

const source = join(import.meta.dirname, '../../src/storage')
/** Import specifiers for the small programs. */
const sqliteModule = JSON.stringify(join(source, 'sqlite/sqlite.ts'))
const migrateModule = JSON.stringify(join(source, 'migrate.ts'))

describeMigrations('the schema of an embedded store', async () => {
  const folder = makeFolder()
  const database = openSqlite(join(folder.path, 'store.db'))
  return {
    database,
    async close() {
      await database.close()
      folder.remove()
    },
  }
})

function newFolder(context: TestContext): string {
  const folder = makeFolder()
  context.after(() => folder.remove())
  return folder.path
}

describe('processes on one embedded store', () => {
  it('leave no half schema when they are killed in the middle', async (context) => {
    const path = join(newFolder(context), 'store.db')
    const code = `import { openSqlite } from ${sqliteModule}
      import { migrate } from ${migrateModule}
      const database = openSqlite(${JSON.stringify(path)})
      const { transact } = database
      database.transact = (work) => transact.call(database, async (transaction) => {
        await work(transaction)
        process.kill(process.pid, 'SIGKILL')
        await new Promise(() => {})
      })
      await migrate(database)`
    assert.equal(await runCode(code), 'SIGKILL')
    const database = openSqlite(path)
    context.after(() => database.close())
    assert.equal(await schemaVersion(database, 'sqlite'), 0)
    assert.deepEqual((await migrate(database)).applied, ['1 schema'])
  })

  it('create the schema once when several start on a new store together', async (context) => {
    const fresh = join(newFolder(context), 'fresh', 'store.db')
    const code = `import { openSqlite } from ${sqliteModule}
      import { migrate } from ${migrateModule}
      const database = openSqlite(${JSON.stringify(fresh)})
      const { applied } = await migrate(database)
      await database.close()
      process.exitCode = applied.length === 0 ? 10 : 20`
    const ends = await Promise.all([runCode(code), runCode(code), runCode(code)])
    assert.deepEqual(ends.map(String).toSorted(), ['10', '10', '20'])
  })
})

test('a command leaves the schema to a gateway of another version that runs', async (context) => {
  const folder = newFolder(context)
  const path = join(folder, 'store.db')
  const database = await openStore(`sqlite:${path}`)
  context.after(() => database.close())
  await migrate(database)
  mkdirSync(join(folder, 'sqlite', 'migrations'), { recursive: true })
  writeFileSync(join(folder, 'tables.sql'), '')
  writeFileSync(join(folder, 'sqlite', 'schema.sql'), readSchemaFiles('sqlite').baseSql)
  const due = join(folder, 'sqlite', 'migrations', '002.do.more.sql')
  writeFileSync(due, 'CREATE TABLE more (id INTEGER)')
  const bringNewer = () => bringUpToDate(`sqlite:${path}`, database, folder)

  const gateway = lockStore(path)
  await assert.rejects(bringNewer(), {
    code: 'operations.conflict',
    message: /gateway of another version serves the store .*Nothing was changed/,
  })
  assert.equal(await schemaVersion(database, 'sqlite'), 1)
  gateway.close()

  assert.deepEqual(await bringNewer(), { applied: ['2 more'], version: 2 })
  // From now on a gateway may run beside commands, as it has this schema.
  const newGateway = lockStore(path)
  assert.deepEqual((await bringNewer()).applied, [])
  newGateway.close()
})

/** Runs a small program and returns its exit code or the signal that ended it. */
async function runCode(code: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null]
  return exitCode ?? signal
}
