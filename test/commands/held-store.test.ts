/**
 * Somebody keeps the store's write lock, such as a shell of `sqlite3` in a transaction. Goal: what only
 * reads answers all the same and waits for nobody; the doctor names what is the matter and what to do;
 * what has to write says so, and changes nothing.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Diagnosis } from '../../src/operations/doctor.ts'
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

describe('while somebody holds the write lock', () => {
  it('what only reads answers', () =>
    withHeldStore(async (folder) => {
      for (const line of readers) await json(folder, line)
    }))

  it('the doctor says that it is held, and what to do', () =>
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
        /^It cannot be written, .* another process is writing to it\. End what holds it/,
      )
      assert.ok(
        findings.some(({ area }) => area === 'ledger'),
        'everything else is examined',
      )
    }))

  it('what writes waits for a while, and says why it could not', () =>
    withHeldStore(async (folder) => {
      const refused = await failure(folder, 'account credit acme 5 --reference r')
      assert.deepEqual([refused.exit, refused.code], [1, 'ledger.unavailable'])
      assert.match(refused.message, /another process is writing to it/)
    }))
})

describe('a store of an older schema', () => {
  it('is left as it is by the doctor, who says how to bring it up', async () => {
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
