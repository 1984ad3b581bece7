/**
 * Another process holds the store's write lock, such as a `sqlite3` shell in a transaction. Goal: commands
 * that read work without waiting; the doctor names the problem and what to do; commands that write fail
 * with a reason and change nothing.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Diagnosis } from '../../src/operations/store/doctor.ts'
import { failure, json, newFolder, run } from '../support/command-line.ts'

const readers = [
  'migrate',
  'audit',
  'actions',
  'backup copy.db',
  'export',
  'usage acme',
  'account list',
  'account show acme',
  'account statement acme',
  'key list acme',
  'channel list',
  'price list',
  'apply -f catalog.yaml --dry-run',
]

async function withHeldStore(
  work: (folder: string, store: DatabaseSync) => Promise<void>,
): Promise<void> {
  const folder = newFolder({ 'catalog.yaml': 'vendors: { gamma: { format: chat } }\n' })
  await json(folder, 'account create acme')
  const store = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
  store.exec('BEGIN IMMEDIATE')
  try {
    await work(folder, store)
  } finally {
    store.close()
  }
}

describe('while another process holds the write lock', () => {
  it('commands that read work', () =>
    withHeldStore(async (folder) => {
      for (const line of readers) await json(folder, line)
    }))

  it('the doctor reports the lock and what to do', () =>
    withHeldStore(async (folder) => {
      const ran = await run(folder, ['doctor', '--json'])
      assert.equal(ran.code, 1, ran.error)
      const { ok, findings } = JSON.parse(ran.out) as Diagnosis
      assert.equal(ok, false)
      const store = findings.filter(({ area }) => area === 'store')
      assert.deepEqual(
        store.map(({ status }) => status),
        ['problem'],
      )
      assert.match(
        store[0]?.message ?? '',
        /^The store cannot be written, .* another process is writing to it\. End that process/,
      )
      assert.ok(
        findings.some(({ area }) => area === 'ledger'),
        'everything else is examined',
      )
    }))

  it('commands that write wait for a while, then fail with the reason', () =>
    withHeldStore(async (folder) => {
      const refused = await failure(folder, 'account credit acme 5 --reference r')
      assert.deepEqual([refused.exit, refused.code], [1, 'ledger.unavailable'])
      assert.match(refused.message, /another process is writing to it/)
    }))
})

describe('a store of an older schema', () => {
  it('is not changed by the doctor, which says how to migrate it', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const store = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
    store.exec('DELETE FROM schemaversion WHERE version = (SELECT MAX(version) FROM schemaversion)')
    const versions = (): unknown[] => store.prepare('SELECT version FROM schemaversion').all()
    const before = versions()
    try {
      const { out } = await run(folder, ['doctor', '--json'])
      const { ok, findings } = JSON.parse(out) as Diagnosis
      assert.equal(ok, false)
      assert.match(
        findings[0]?.message ?? out,
        /has schema version \d+, and this program needs \d+\. .*turnpike migrate/,
      )
      assert.deepEqual(versions(), before)
    } finally {
      store.close()
    }
  })
})
