/**
 * Tests of the past that the benchmark makes up, on both stores: the books agree, and it can be
 * gone on with.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { idTimeMs } from '../../src/base/id.ts'
import type { Row } from '../../src/storage/database.ts'
import { auditLedger, auditSinceCheckpoints } from '../../src/operations/store/audit.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { Charging, measureRetention } from '../../bench/growth/charges.ts'
import {
  beginHistory,
  checkpointScript,
  dayMs,
  type History,
  type HistoryShape,
} from '../../bench/growth/history.ts'
import { embeddedStore, serverStore, type GrowthStore } from '../../bench/growth/store.ts'

const shape: HistoryShape = { accounts: 5, keysPerAccount: 2, models: 3, requestsPerDay: 40 }
const startMs = Date.parse('2025-12-24')

const stores: Readonly<Record<string, (folder: string) => Promise<GrowthStore>>> = {
  SQLite: (folder) => Promise.resolve(embeddedStore(folder)),
  PostgreSQL: serverStore,
}

for (const [name, open] of Object.entries(stores)) {
  test(`on ${name} the audit of a generated history is clean, also after charges in its middle`, async (t) => {
    const store = await openStore(t, open)
    let past = await begin(store)
    past = await store.writeInBulk((writer) => past.extendTo(writer, 10 * shape.requestsPerDay - 7))
    assert.deepEqual([past.days, past.requests, past.untilMs], [10, 400, startMs + 10 * dayMs])
    const charging = await openCharging(store, past)
    assert.equal((await charging.oneByOne((count) => count === 15)).total, 15)
    await charging.together(15, 4)
    await charging.close()
    past = await store.writeInBulk(async (writer) => {
      const extended = await past.extendTo(writer, 20 * shape.requestsPerDay)
      await writer.run(checkpointScript(extended.untilMs - 2 * dayMs))
      return extended
    })

    const database = await store.openDatabase()
    t.after(() => database.close())
    const since = await auditSinceCheckpoints(database, past.untilMs - 1)
    assert.deepEqual([since.clean, since.counts.exchanges], [true, 2 * shape.requestsPerDay])
    const full = await auditLedger({ database })
    assert.deepEqual(full.differences, [])
    assert.deepEqual([full.counts.exchanges, full.counts.charges], [830, 830])
  })

  test(`on ${name} a made-up past is spread over days, accounts, keys and models`, async (t) => {
    const store = await openStore(t, open)
    const begun = await begin(store)
    const past = await store.writeInBulk((writer) => begun.extendTo(writer, 800))
    const database = await store.openDatabase()
    t.after(() => database.close())
    const rows = await database.query(
      'SELECT account_id, exchange_id, key_id, model, started_at_ms FROM exchange',
    )
    const count = (column: string): number => new Set(rows.map((row) => row[column])).size
    assert.deepEqual(['account_id', 'exchange_id', 'key_id', 'model'].map(count), [
      shape.accounts,
      800,
      shape.accounts * shape.keysPerAccount,
      shape.models,
    ])
    for (const row of rows) assert.equal(idTimeMs(String(row['exchange_id'])), timeOf(row))
    const times = rows.map(timeOf)
    assert.equal(Math.min(...times), startMs)
    assert.ok(Math.max(...times) < past.untilMs && Math.max(...times) > past.untilMs - dayMs / 20)
    const perAccount = past.accountIds.map(
      (id) => rows.filter((row) => row['account_id'] === id).length,
    )
    assert.ok(Math.max(...perAccount) > 2 * Math.min(...perAccount), perAccount.join())
    assert.equal(await store.countTables(), name === 'SQLite' ? 1 : 3)
  })

  test(`on ${name} letting old exchanges go is measured by months and by rows`, async (t) => {
    const store = await openStore(t, open)
    const begun = await begin(store)
    const past = await store.writeInBulk((writer) => begun.extendTo(writer, 800))
    const charging = await openCharging(store, past)
    const cutMs = Date.parse('2026-01-02')
    const figures = await measureRetention({ store, history: past, cutMs, charging })
    await charging.close()
    const [months, days] = name === 'SQLite' ? [0, 9] : [1, 1]
    assert.deepEqual([figures.months, figures.rows], [months, days * shape.requestsPerDay])
    assert.equal(Number.isNaN(figures.monthsMs), months === 0)
    assert.ok(figures.chargeHighestMs >= figures.chargeP50Ms)
    const database = await store.openDatabase()
    t.after(() => database.close())
    assert.deepEqual((await auditLedger({ database })).differences, [])
  })
}

function timeOf(row: Row): number {
  return Number(row['started_at_ms'])
}

async function openStore(
  t: TestContext,
  open: (folder: string) => Promise<GrowthStore>,
): Promise<GrowthStore> {
  const parent = await mkdtemp(join(tmpdir(), 'turnpike-growth-'))
  t.after(() => rm(parent, { recursive: true }))
  const store = await open(parent)
  t.after(() => store.close())
  return store
}

async function begin(store: GrowthStore): Promise<History> {
  const database = await store.openDatabase()
  await migrate(database)
  const past = await beginHistory(database, shape, startMs)
  await database.close()
  return past
}

async function openCharging(
  store: GrowthStore,
  past: History,
): Promise<Charging & { close(): Promise<void> }> {
  const clock = { ...systemClock, now: () => past.untilMs - 1 }
  const ledger = await store.openLedger(clock)
  return Object.assign(new Charging(ledger, clock, past.accountIds), {
    close: () => ledger.close(),
  })
}
