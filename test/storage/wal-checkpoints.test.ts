/**
 * Who moves committed pages into a store's file, with real stores, a real thread and a clock
 * moved by hand.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openConnection, type SqliteConnection } from '../../src/storage/sqlite/connection.ts'
import { openSqliteThread, type ThreadDatabase } from '../../src/storage/sqlite/thread.ts'
import { WalCheckpoints } from '../../src/storage/sqlite/wal-checkpoints.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { makeFolder, openEmbedded } from './embedded-harness.ts'
import { holdRequest, makeAccount, mustPlace, recordOf } from './ledger-harness.ts'

const megabyte = 'x'.repeat(1024 * 1024)
const pagesPerMegabyte = 257
const somePauseMs = 1_000

describe('the log of a SQLite store', () => {
  let folder: ReturnType<typeof makeFolder>
  let path: string
  let clock: ManualClock
  let writer: SqliteConnection
  let checkpoints: WalCheckpoints
  /** One for each time that the thread was asked; resolves with its answer. */
  let asked: Promise<unknown>[]
  let openedCount: number
  /** The thread answers once this is resolved. */
  let gate: Promise<void>

  beforeEach(() => {
    folder = makeFolder()
    path = join(folder.path, 'store.db')
    clock = new ManualClock()
    writer = openConnection(path, { autoCheckpoint: false })
    writer.script('CREATE TABLE note (text TEXT) STRICT')
    asked = []
    openedCount = 0
    gate = Promise.resolve()
    checkpoints = new WalCheckpoints({
      connection: writer,
      openThread: watchedThread,
      monotonic: () => clock.monotonic(),
    })
  })
  afterEach(async () => {
    await checkpoints.close()
    writer.close()
    folder.remove()
  })

  async function watchedThread(): Promise<ThreadDatabase> {
    openedCount++
    const thread = await openSqliteThread(path)
    const query = thread.query.bind(thread)
    thread.query = (...question) => {
      const answer = gate.then(() => query(...question))
      asked.push(answer)
      return answer
    }
    return thread
  }

  function commit(megabytes: number): void {
    for (let count = 0; count < megabytes; count++) {
      writer.transact(() => writer.all('INSERT INTO note VALUES ($1)', [megabyte]))
      checkpoints.afterCommit(1)
    }
  }

  /** Somebody who reads the state of this moment until told to stop. */
  function startReading(): { stop(): void } {
    const reader = openConnection(path)
    reader.script('BEGIN')
    reader.first('SELECT COUNT(*) FROM note')
    return { stop: () => reader.close() }
  }

  /** Until the thread has been asked so often, and what it said has been taken note of. */
  async function answeredTimes(count: number): Promise<void> {
    while (asked.length < count) await new Promise((resolve) => setImmediate(resolve))
    await asked[count - 1]
    await new Promise((resolve) => setImmediate(resolve))
  }

  it('is kept short by commits, without a thread', () => {
    for (let count = 0; count < 20; count++) {
      commit(1)
      assert.ok(writer.countWalPages() < 5 * pagesPerMegabyte)
    }
    assert.equal(openedCount, 0)
  })

  it('is moved by a thread when it has grown behind a reader, while commits go on', async () => {
    const reading = startReading()
    commit(24)
    assert.equal(openedCount, 1)
    await answeredTimes(1)
    assert.ok(writer.countWalPages() > 20 * pagesPerMegabyte, 'the reader keeps it')
    reading.stop()
    clock.advance(somePauseMs)
    const opening = Promise.withResolvers<void>()
    gate = opening.promise
    commit(1)
    assert.equal(asked.length, 2)
    commit(2)
    assert.ok(writer.countWalPages() > 26 * pagesPerMegabyte, 'who commits has moved nothing')
    opening.resolve()
    await answeredTimes(2)
    assert.equal(writer.countWalPages(), 0)
    assert.equal(openedCount, 1)
  })

  it('pauses checkpoints while a reader keeps all of the log', async () => {
    const reading = startReading()
    commit(20)
    assert.equal(openedCount, 1)
    await answeredTimes(1)
    commit(10)
    assert.equal(asked.length, 1)
    clock.advance(somePauseMs)
    commit(1)
    assert.equal(asked.length, 2)
    await answeredTimes(2)
    reading.stop()
  })

  it('is moved by another thread when the first one has died', async () => {
    const reading = startReading()
    const dead = Promise.withResolvers<void>()
    let isDead = false
    checkpoints = new WalCheckpoints({
      connection: writer,
      openThread: async () => {
        const thread = await watchedThread()
        if (openedCount > 1) return thread
        return Object.assign(thread, {
          isAvailable: () => !isDead,
          query: async () => {
            isDead = true
            await thread.close()
            dead.resolve()
            throw new Error('the thread has died')
          },
        })
      },
      monotonic: () => clock.monotonic(),
    })
    commit(20)
    assert.equal(openedCount, 1)
    await dead.promise
    reading.stop()
    await checkpoints.close()
    clock.advance(somePauseMs)
    commit(1)
    assert.equal(openedCount, 2)
    await answeredTimes(1)
    assert.equal(writer.countWalPages(), 0)
  })

  it('causes no failure when it cannot be moved', () => {
    commit(1)
    writer.close()
    assert.doesNotThrow(() => checkpoints.afterCommit(1))
  })
})

it("the ledger's thread keeps the log short as it books", async () => {
  const harness = await openEmbedded()
  const onlooker = openConnection(harness.path)
  try {
    const accountId = await makeAccount(harness, { balancePicos: 10n ** 18n })
    for (let count = 0; count < 8; count++) {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
      const endedAtMs = harness.clock.now()
      // Some 250 pages each.
      await harness.ledger.settle(hold, recordOf(hold, 1n, { endedAtMs, priceLines: megabyte }))
    }
    // Answered behind what was done after the last charge.
    await harness.ledger.usage(accountId, 'day', harness.clock.now())
    assert.ok(onlooker.countWalPages() < 6 * pagesPerMegabyte)
  } finally {
    onlooker.close()
    await harness.close()
  }
})
