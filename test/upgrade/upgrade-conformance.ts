/**
 * The promise of docs/upgrading.md on the stores of released versions: this program brings each to its
 * schema, with every balance, entry and key as it was, serves on it, and its audit is clean. A next
 * migration, which only this test has, goes forwards: also after a kill in its middle, and beside a gateway
 * that runs; an earlier program refuses it. A change of the schema that is not a migration fails here first.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { auditLedger } from '../../src/operations/store/audit.ts'
import type { Database, Row } from '../../src/storage/database.ts'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { readSchemaFiles } from '../../src/storage/schema-files.ts'
import { makeFolder } from '../storage/embedded-harness.ts'
import { failure } from '../support/command-line.ts'
import { sharedMasterKey, withScenario } from '../support/scenario.ts'
import { keptVersions, openKept } from './kept-store.ts'

/** Makes a store as that version left it; resolves with its URL. */
type LoadStore = (version: string, folder: string) => Promise<string>

const source = join(import.meta.dirname, '../../src/storage')
/** What an upgrade keeps, whatever else it changes. */
const keptTables = ['account', 'entry', 'exchange', 'key', 'note', 'code', 'sealed_head']

export function describeUpgrades(title: string, load: LoadStore): void {
  void describe(title, () => {
    let shared: ReturnType<typeof makeFolder>
    before(() => {
      shared = makeFolder()
    })
    after(() => shared.remove())

    async function open(context: TestContext, version: string): Promise<OpenedStore> {
      const folder = makeFolder()
      const url = await load(version, folder.path)
      const database = await openStore(url)
      context.after(async () => {
        await database.close()
        folder.remove()
      })
      return { database, url, folder: folder.path, next: writeNext(shared.path, database) }
    }

    for (const version of keptVersions) {
      void it(`brings a store of ${version} to this schema, and keeps what is in it`, async (context) => {
        const { database } = await open(context, version)
        const kept = await readKept(database)
        await migrate(database).catch((error: unknown) => {
          throw new Error(
            `The schema of ${version} has changed. Undo that and add a migration; before the release of ` +
              `${version}, run: node scripts/run.mjs keep-stores (docs/upgrading.md)`,
            { cause: error },
          )
        })
        await assertKept(database, kept)
      })

      void it(`serves on a store of ${version}, and lets its open hold go`, async (context) => {
        const { url } = await open(context, version)
        const wanted = { storeUrl: url, masterKey: sharedMasterKey, fill: openKept }
        await withScenario(wanted, async (gateway) => {
          const answer = await gateway.ask({ format: 'messages', isStream: true })
          assert.equal(answer.status, 200)
        })
      })

      void it(`applies a next migration to a store of ${version}, also when it was killed in the middle`, async (context) => {
        const { database, url, next } = await open(context, version)
        await migrate(database)
        const kept = await readKept(database)
        assert.equal(await migrateAndDie(url, next.folder), 'SIGKILL')
        assert.equal(await schemaVersion(database, database.dialect), next.version - 1)
        await assertKept(database, kept)
        const { applied } = await migrate(database, next.folder)
        assert.deepEqual(applied, [`${next.version} next`])
        await assertKept(database, kept)
        const filled = await database.query('SELECT COUNT(*) AS rows FROM next_account')
        assert.ok(Number(filled[0]?.['rows']) > 1)
      })
    }

    void it('is refused by the program before the migration, which changes nothing', async (context) => {
      const { database, url, folder, next } = await open(context, keptVersions[0])
      await migrate(database, next.folder)
      const kept = await readKept(database)
      for (const line of ['audit', 'account create other', 'serve', 'migrate']) {
        const settings = {
          TURNPIKE_STORE: url,
          TURNPIKE_MASTER_KEY: sharedMasterKey,
          TURNPIKE_LISTEN: '127.0.0.1:0',
          TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
        }
        const { exit, code, message } = await failure(folder, line, settings)
        assert.deepEqual([line, exit, code], [line, 1, 'operations.conflict'])
        assert.equal(
          message,
          `The store has schema version ${next.version}, this program knows ${next.version - 1}: a newer Turnpike ` +
            'has used it. Run that version, or restore a backup made before the upgrade.',
        )
      }
      await assertKept(database, kept)
    })
  })
}

interface OpenedStore {
  readonly database: Database
  readonly url: string
  readonly folder: string
  readonly next: Next
}

interface Next {
  readonly folder: string
  readonly version: number
}

/** The schema of this program with one migration more: a table that is filled from another, and a column. */
function writeNext(parent: string, { dialect }: Database): Next {
  const folder = join(parent, 'next')
  const version = (readSchemaFiles(dialect).steps.at(-1)?.version ?? 0) + 1
  cpSync(join(source, 'schema'), folder, { recursive: true })
  const migrations = join(folder, dialect, 'migrations')
  mkdirSync(migrations, { recursive: true })
  writeFileSync(
    join(migrations, `${String(version).padStart(3, '0')}.do.next.sql`),
    `CREATE TABLE next_account (account_id TEXT PRIMARY KEY, name TEXT NOT NULL);
     INSERT INTO next_account SELECT id, name FROM account;
     ALTER TABLE note ADD COLUMN next_colour TEXT;`,
  )
  return { folder, version }
}

/** By table: the rows, with the columns that the table has now. */
type Kept = ReadonlyMap<string, { readonly columns: string; readonly rows: readonly string[] }>

async function readKept(database: Database): Promise<Kept> {
  const kept: [string, { columns: string; rows: readonly string[] }][] = []
  for (const table of keptTables) {
    const [first] = await database.query(`SELECT * FROM ${table} LIMIT 1`)
    assert.notEqual(first, undefined, `the kept store has no ${table}`)
    const columns = Object.keys(first ?? {}).join(', ')
    kept.push([table, { columns, rows: await rowsOf(database, table, columns) }])
  }
  return new Map(kept)
}

async function rowsOf(
  database: Database,
  table: string,
  columns: string,
): Promise<readonly string[]> {
  const rows = await database.query(`SELECT ${columns} FROM ${table}`)
  return rows.map(textOf).toSorted()
}

function textOf(row: Row): string {
  return JSON.stringify({ ...row }, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
}

async function assertKept(database: Database, kept: Kept): Promise<void> {
  for (const [table, { columns, rows }] of kept)
    assert.deepEqual(await rowsOf(database, table, columns), rows, table)
  assert.deepEqual((await auditLedger({ database })).differences, [])
}

/** Migrates in a process of its own, which is killed when all is written and nothing committed. */
async function migrateAndDie(url: string, folder: string): Promise<unknown> {
  const code = `import { openStore } from ${JSON.stringify(join(source, 'open.ts'))}
    import { migrate } from ${JSON.stringify(join(source, 'migrate.ts'))}
    const database = await openStore(${JSON.stringify(url)})
    const { transact } = database
    database.transact = (work) => transact.call(database, async (transaction) => {
      await work(transaction)
      process.kill(process.pid, 'SIGKILL')
      await new Promise(() => {})
    })
    await migrate(database, ${JSON.stringify(folder)})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null]
  return exitCode ?? signal
}
