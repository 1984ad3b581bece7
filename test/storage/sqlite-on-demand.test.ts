/** The store whose thread runs only while it is used, with real threads and a clock that the test moves. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { OnDemandDatabase } from '../../src/storage/sqlite/on-demand.ts'
import { openSqliteThread, type ThreadDatabase } from '../../src/storage/sqlite/thread.ts'
import { ManualClock } from '../support/manual-clock.ts'

const idleMs = 30_000

describe('a SQLite store on a thread that runs while it is used', () => {
  let folder: string
  let clock: ManualClock
  let threads: ThreadDatabase[]
  let database: OnDemandDatabase
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-sqlite-'))
    clock = new ManualClock()
    threads = []
    database = new OnDemandDatabase({
      clock,
      async open() {
        const thread = await openSqliteThread(join(folder, 'store.db'))
        threads.push(thread)
        return thread
      },
    })
  })
  afterEach(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const running = (): number => threads.filter((thread) => thread.isAvailable()).length

  it('starts one thread for the first uses, and another one after an idle time', async () => {
    assert.equal(threads.length, 0)
    await Promise.all([database.query('SELECT 1'), database.query('SELECT 2')])
    assert.equal(threads.length, 1)
    clock.advance(idleMs - 1)
    await database.query('CREATE TABLE note (text TEXT)')
    clock.advance(idleMs - 1)
    assert.equal(running(), 1)
    clock.advance(1)
    await database.query("INSERT INTO note VALUES ('kept')")
    assert.deepEqual(await database.query('SELECT text FROM note'), [{ text: 'kept' }])
    assert.deepEqual([threads.length, running()], [2, 1])
  })

  it('keeps its thread while a transaction is open, however long that takes', async () => {
    await database.query('CREATE TABLE note (text TEXT)')
    await database.transact(async (transaction) => {
      await transaction.query("INSERT INTO note VALUES ('first')")
      clock.advance(10 * idleMs)
      await transaction.query("INSERT INTO note VALUES ('second')")
    })
    const read = await database.snapshot(async (snapshot) => {
      clock.advance(10 * idleMs)
      return snapshot.query('SELECT COUNT(*) AS count FROM note')
    })
    assert.deepEqual(read, [{ count: 2n }])
    assert.equal(threads.length, 1)
  })

  it('ends its thread when it is closed, and refuses further uses', async () => {
    await database.query('SELECT 1')
    await database.close()
    assert.equal(running(), 0)
    await assert.rejects(database.query('SELECT 1'), { code: 'ledger.unavailable' })
    clock.advance(idleMs)
    assert.equal(threads.length, 1)
  })

  it('tries again after a thread could not open the store', async () => {
    let isBroken = true
    await using fragile = Object.assign(
      new OnDemandDatabase({
        clock,
        open: () => openSqliteThread(isBroken ? folder : join(folder, 'store.db')),
      }),
      { [Symbol.asyncDispose]: () => fragile.close() },
    )
    await assert.rejects(fragile.query('SELECT 1'), { code: 'ledger.unavailable' })
    isBroken = false
    assert.equal((await fragile.query('SELECT 1')).length, 1)
  })
})
