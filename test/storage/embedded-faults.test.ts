/** The embedded ledger when things break: kills, a full disk, a ruined file, other processes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, it, mock } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import { systemClock } from '../../src/base/clock.ts'
import { outageReasonOf } from '../../src/base/errors.ts'
import type { Hold } from '../../src/ledger/ledger.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import {
  addCredit,
  charge,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  readBalance,
  recordOf,
} from './ledger-harness.ts'

const unavailable = { code: 'ledger.unavailable' }

describe('the embedded ledger under faults', () => {
  let harness: EmbeddedHarness | undefined
  afterEach(async () => {
    await harness?.close()
    harness = undefined
  })

  it('has every acknowledged charge in the store after kill -9, and none twice', async () => {
    harness = await openEmbedded()
    const accountId = await makeAccount(harness, { balancePicos: 10n ** 18n })
    const acknowledged = new Set<string>()
    for (let round = 0; round < 4; round++) {
      for (const id of await chargeUntilKilled(harness.path, accountId, 150 + round * 400))
        acknowledged.add(id)
      assert.deepEqual(await findDifferences(harness.database), [])
    }
    const rows = await harness.database.query(
      "SELECT reference FROM entry WHERE account_id = $1 AND kind = 'charge'",
      [accountId],
    )
    const booked = new Set(rows.map((row) => String(row['reference'])))
    assert.equal(booked.size, rows.length)
    assert.deepEqual(
      [...acknowledged].filter((id) => !booked.has(id)),
      [],
    )
    assert.equal(await readBalance(harness, accountId), 10n ** 18n - 7n * BigInt(booked.size))
  })

  it('acknowledges nothing on a full disk, charges nothing for it later, and goes on when there is space', async () => {
    harness = await openEmbedded({ pagesMax: 40 })
    const { ledger, database, clock } = harness
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    await charge(harness, accountId, 1n)
    await database.query('CREATE TABLE filler (bytes BLOB)')
    await database.query('INSERT INTO filler VALUES (zeroblob(400000))')
    const before = await holdAndSettleUntilFull(harness, accountId)
    assert.equal(ledger.isAvailable(), false)
    assert.deepEqual(await ledger.place(holdRequest(harness, accountId, 1n)), {
      kind: 'unavailable',
    })
    assert.deepEqual(ledger.openHolds(), { count: 1, heldPicos: 1n })
    await assert.rejects(ledger.settle(before.hold, before.record), unavailable)
    await database.query('DELETE FROM filler')
    clock.advance(10_000)
    // Questions are answered in their turn: this one after the batch that is tried again.
    await ledger.usage(accountId, 'day', clock.now())
    assert.equal(ledger.isAvailable(), true)
    assert.equal(ledger.openHolds().count, 0)
    await charge(harness, accountId, 1n)
    assert.deepEqual(await findDifferences(database), [])
    const figures = await ledger.usage(accountId, 'total', clock.now())
    assert.equal(figures?.balancePicos, 1_000n - BigInt(before.settledCount) - 2n)
    assert.deepEqual(harness.fatalErrors, [])
  })

  it('does not count withheld charges against limits', async () => {
    harness = await openEmbedded({ pagesMax: 40 })
    const { ledger, database, clock } = harness
    const filling = await makeAccount(harness, { balancePicos: 1_000n })
    const accountId = await makeAccount(harness, { balancePicos: 5_000n, dailyLimitPicos: 1_000n })
    const hold = await mustPlace(ledger, holdRequest(harness, accountId, 900n))
    await database.query('CREATE TABLE filler (bytes BLOB)')
    await database.query('INSERT INTO filler VALUES (zeroblob(400000))')
    await holdAndSettleUntilFull(harness, filling)
    const record = recordOf(hold, 900n, { endedAtMs: clock.now() })
    await assert.rejects(ledger.settle(hold, record), unavailable)
    await database.query('DELETE FROM filler')
    clock.advance(10_000)
    await ledger.usage(accountId, 'day', clock.now())
    assert.deepEqual(ledger.openHolds(), { count: 0, heldPicos: 0n })
    await mustPlace(ledger, holdRequest(harness, accountId, 1_000n))
  })

  it('reports on close the exchanges that a full disk prevented from being stored', async () => {
    const full = await openEmbedded({ pagesMax: 40 })
    const accountId = await makeAccount(full, { balancePicos: 1_000n })
    await full.database.query('CREATE TABLE filler (bytes BLOB)')
    await full.database.query('INSERT INTO filler VALUES (zeroblob(400000))')
    await holdAndSettleUntilFull(full, accountId)
    await assert.rejects(full.ledger.close(), { ...unavailable, message: /^1 ended exchanges/ })
    await full.close()
  })

  it('fails when the file is damaged: acknowledges nothing and reports it once', async () => {
    harness = await openEmbedded()
    const { ledger } = harness
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const holds = [
      await mustPlace(ledger, holdRequest(harness, accountId, 1n)),
      await mustPlace(ledger, holdRequest(harness, accountId, 1n)),
    ]
    await harness.database.query('PRAGMA wal_checkpoint(TRUNCATE)')
    ruin(harness.path)
    const endedAtMs = harness.clock.now()
    for (const hold of holds)
      await assert.rejects(ledger.settle(hold, recordOf(hold, 1n, { endedAtMs })), unavailable)
    assert.equal(ledger.isAvailable(), false)
    assert.deepEqual(harness.fatalErrors.map(outageReasonOf), ['unreadable'])
    assert.deepEqual(await ledger.place(holdRequest(harness, accountId, 1n)), {
      kind: 'unavailable',
    })
    await assert.rejects(ledger.usage(accountId, 'day', endedAtMs), unavailable)
  })

  it('does not open a store that is not there or has no schema', async () => {
    harness = await openEmbedded()
    const empty = join(harness.path, '..', 'empty.db')
    await openSqlite(empty).close()
    const options = { clock: systemClock, onFatal: assert.fail, onFault: assert.fail }
    await assert.rejects(createEmbeddedLedger({ path: empty, ...options }), /no such table/)
    const path = join(harness.path, 'not a folder', 'store.db')
    await assert.rejects(createEmbeddedLedger({ path, ...options }), { code: 'operations.invalid' })
  })

  it('refuses one impossible record without harm to the others of its batch', async () => {
    harness = await openEmbedded()
    const { ledger, clock, faults } = harness
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const settling: Promise<void>[] = []
    for (let index = 0; index < 10; index++) {
      const hold = await mustPlace(ledger, holdRequest(harness, accountId, 2n))
      const status = index === 5 ? 200.5 : 200
      const record = recordOf(hold, 1n, { status, endedAtMs: clock.now() })
      settling.push(ledger.settle(hold, record))
    }
    const results = await Promise.allSettled(settling)
    assert.deepEqual(
      results.map((result) => result.status),
      Array.from({ length: 10 }, (_, index) => (index === 5 ? 'rejected' : 'fulfilled')),
    )
    assert.equal(faults.length, 1)
    assert.equal(ledger.openHolds().count, 1)
    assert.equal(await readBalance(harness, accountId), 991n)
    assert.deepEqual(await findDifferences(harness.database), [])
    await charge(harness, accountId, 1n)
  })

  it('waits for a command that writes, and sees its credit', async () => {
    harness = await openEmbedded()
    const { ledger, database } = harness
    const accountId = await makeAccount(harness, { balancePicos: 10n })
    const hold = await mustPlace(ledger, holdRequest(harness, accountId, 10n))
    const endedAtMs = harness.clock.now()
    const settled = database.transact(async (transaction) => {
      await transaction.query(
        `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
         VALUES ($1, 'credit', 'slow', 90, 0)`,
        [accountId],
      )
      await transaction.query(
        'UPDATE account SET balance_picos = balance_picos + 90 WHERE id = $1',
        [accountId],
      )
      // The writer will wait for this transaction, which therefore must not wait for the writer.
      return { settling: ledger.settle(hold, recordOf(hold, 10n, { endedAtMs })) }
    })
    await (
      await settled
    ).settling
    assert.equal(
      (await ledger.place(holdRequest(harness, accountId, 91n))).kind,
      'insufficient_balance',
    )
    assert.equal((await ledger.place(holdRequest(harness, accountId, 90n))).kind, 'hold')
  })

  it('fails when its thread dies: rejects everything in flight and reports it once', async () => {
    const posting = mock.method(Worker.prototype, 'postMessage')
    try {
      harness = await openEmbedded()
      const { ledger, clock } = harness
      const accountId = await makeAccount(harness, { balancePicos: 10n })
      const hold = await mustPlace(ledger, holdRequest(harness, accountId, 10n))
      const worker = posting.mock.calls.at(-1)?.this
      assert.ok(worker instanceof Worker)
      // Another process holds the lock: the batch waits for it on the thread, the question behind it.
      const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>()
      const { promise: isHeld, resolve: hasLock } = Promise.withResolvers<void>()
      const holding = harness.database.transact(async () => {
        hasLock()
        await isOver
      })
      await isHeld
      const settling = ledger.settle(hold, recordOf(hold, 10n, { endedAtMs: clock.now() }))
      // Batches go out at the end of a turn.
      await new Promise((resolve) => setImmediate(resolve))
      const asking = ledger.usage(accountId, 'day', clock.now())
      const ended = worker.terminate()
      await assert.rejects(settling, unavailable)
      await assert.rejects(asking, unavailable)
      await ended
      letGo()
      await holding
      assert.equal(harness.fatalErrors.length, 1)
      assert.equal(ledger.openHolds().count, 1)
      assert.equal((await ledger.place(holdRequest(harness, accountId, 0n))).kind, 'unavailable')
    } finally {
      posting.mock.restore()
    }
  })

  it("applies the store's answers in their order, however late they arrive", async () => {
    harness = await openEmbedded()
    const { ledger, clock } = harness
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const holds = await Promise.all(
      Array.from({ length: 101 }, () =>
        mustPlace(ledger, holdRequest(harness as EmbeddedHarness, accountId, 1n)),
      ),
    )
    const settle = (hold: Hold): Promise<void> =>
      ledger.settle(hold, recordOf(hold, 1n, { endedAtMs: clock.now() }))
    const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    // One batch, a refresh, another batch; then this thread is too busy to hear of any of them.
    const settling = holds.slice(0, 1).map(settle)
    await nextTurn()
    const refreshing = ledger.refresh()
    settling.push(...holds.slice(1).map(settle))
    await nextTurn()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    await Promise.all([...settling, refreshing])
    const refused = await ledger.place(holdRequest(harness, accountId, 900n))
    assert.equal(refused.kind, 'insufficient_balance')
    assert.equal((await ledger.place(holdRequest(harness, accountId, 899n))).kind, 'hold')
  })

  it('neither loses nor doubles credits that another process books while charges run', async () => {
    harness = await openEmbedded()
    const { path, ledger } = harness
    const accountId = await makeAccount(harness, { balancePicos: 10n ** 12n })
    const charging = spawnCharging(path, accountId)
    await charging.firstLines(20)
    for (let index = 0; index < 30; index++) await addCredit(harness, accountId, 1_000n)
    await ledger.refresh()
    await charging.kill()
    assert.deepEqual(await findDifferences(harness.database), [])
    const [sum] = await harness.database.query(
      "SELECT COUNT(*) AS count FROM entry WHERE account_id = $1 AND kind = 'charge'",
      [accountId],
    )
    const chargeCount = BigInt(String(sum?.['count']))
    assert.equal(await readBalance(harness, accountId), 10n ** 12n + 30_000n - 7n * chargeCount)
  })
})

/** Charges one by one until the store refuses, and hands over what was refused. */
async function holdAndSettleUntilFull(harness: EmbeddedHarness, accountId: string) {
  for (let settledCount = 0; ; settledCount++) {
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
    const record = recordOf(hold, 1n, {
      endedAtMs: harness.clock.now(),
      vendorRequestId: 'x'.repeat(4_000),
    })
    try {
      await harness.ledger.settle(hold, record)
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, unavailable.code)
      return { hold, record, settledCount }
    }
    assert.ok(settledCount < 1_000, 'the disk has to be full at some time')
  }
}

/** Overwrites all but the first page of the file. */
function ruin(path: string): void {
  const pageBytes = 4_096
  const file = openSync(path, 'r+')
  const garbage = Buffer.alloc(statSync(path).size - pageBytes, 0x5a)
  writeSync(file, garbage, 0, garbage.length, pageBytes)
  closeSync(file)
}

async function chargeUntilKilled(
  path: string,
  accountId: string,
  lineCount: number,
): Promise<string[]> {
  const charging = spawnCharging(path, accountId)
  await charging.firstLines(lineCount)
  return charging.kill()
}

function spawnCharging(path: string, accountId: string) {
  const script = join(import.meta.dirname, 'settling-process.ts')
  const child = spawn(process.execPath, [script, path, accountId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let text = ''
  let wanted = 0
  let enough = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (text.split('\n').length > wanted) enough.resolve()
  })
  child.on('close', () => enough.reject(new Error('the charging process has ended by itself')))
  return {
    async firstLines(count: number): Promise<void> {
      wanted = count
      enough = Promise.withResolvers<void>()
      await enough.promise
    },
    async kill(): Promise<string[]> {
      child.kill('SIGKILL')
      await ended
      return text.split('\n').slice(0, -1)
    },
  }
}
