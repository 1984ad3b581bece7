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

describe('a store of another development version', () => {
  it('is refused by every command in a sentence, and stays as it is', async () => {
    const folder = newFolder({ 'catalog.yaml': 'channels: {}\n' })
    await json(folder, 'account create acme')
    const store = new DatabaseSync(join(folder, 'data', 'turnpike.db'))
    store.exec("UPDATE schemaversion SET md5 = 'of another schema'")
    const versions = (): unknown[] => store.prepare('SELECT * FROM schemaversion').all()
    const before = versions()
    try {
      for (const line of ['account list', 'apply -f catalog.yaml', 'migrate', 'doctor', 'serve']) {
        const { exit, code, message } = await failure(folder, line)
        assert.deepEqual([line, exit, code], [line, 1, 'operations.conflict'])
        assert.equal(
          message,
          'The store was made by a development version of Turnpike that has another schema: ' +
            'run that version, or set TURNPIKE_STORE to a new store.',
        )
      }
      assert.deepEqual(versions(), before)
    } finally {
      store.close()
    }
  })
})
