/**
 * What an operator does with the books, on PostgreSQL: audit with its holds, checkpoints, statement,
 * months that go as a whole, sums by channel. The same is shown for the embedded store beside the
 * code; here it is the other dialect that is tried.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { listCosts } from '../../src/channels/cluster/operator-cost-store.ts'
import { audit, type AuditReport } from '../../src/ledger/audit/audit.ts'
import { sumChannels } from '../../src/ledger/channel-sums.ts'
import { removeOldExchanges, type RetentionReport } from '../../src/ledger/exchange-retention.ts'
import {
  eachStatementEntry,
  readOpeningBalance,
  readStatementStart,
} from '../../src/ledger/statement.ts'
import { copyStore } from '../../src/storage/backup.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import {
  charge,
  holdRequest,
  makeAccount,
  mustPlace,
  readTestBill,
  recordOf,
} from './ledger-harness.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'

const dayMs = 86_400_000
let server: PostgresServer
let harness: PostgresHarness
let accountId: string

before(async () => {
  server = await startPostgres()
})
after(() => server.close())
beforeEach(async () => {
  harness = await openPostgresHarness(await server.createDatabase())
  accountId = await makeAccount(harness, { balancePicos: 1_000n })
})
afterEach(() => harness.close())

function runAudit(sinceCheckpoints = false): Promise<AuditReport> {
  return audit(harness.database, {
    readBill: readTestBill,
    ...(sinceCheckpoints && {
      sinceCheckpoints: { nowMs: harness.clock.now(), isRemembered: true },
    }),
  })
}

async function found(): Promise<readonly string[]> {
  return (await runAudit()).differences.map(({ invariant, kind }) => `${invariant} ${kind}`)
}

test('an audit is clean beside an open hold, also from a checkpoint', async () => {
  await charge(harness, accountId, 30n)
  const report = await runAudit()
  assert.deepEqual(report.differences, [])
  assert.deepEqual([report.counts.entries, report.counts.charges], [2, 1])
  harness.clock.advance(3 * dayMs)
  await runAudit(true)
  await charge(harness, accountId, 1n)
  await mustPlace(harness.ledger, holdRequest(harness, accountId, 7n))
  const next = await runAudit(true)
  assert.deepEqual(next.differences, [])
  assert.equal(next.counts.exchanges, 1)
})

test('an audit finds a held amount without a hold, and a hold of an ended exchange', async () => {
  const { exchangeId } = await charge(harness, accountId, 30n)
  await harness.database.query('UPDATE account SET held_picos = 5')
  assert.deepEqual(await found(), ['I2 held'])
  await harness.database.query(
    `INSERT INTO hold (account_id, exchange_id, key_id, amount_picos, is_uncovered, boot, placed_at_ms)
     SELECT $1, $2, 'key_one', 5, FALSE, boot, lease_until_ms - ${2 * dayMs} FROM node`,
    [accountId, exchangeId],
  )
  assert.deepEqual(await found(), ['I4 hold_ended', 'I4 hold_overdue'])
})

test('an audit finds a changed balance and a dropped trigger', async () => {
  await harness.database.query('UPDATE account SET balance_picos = 1001')
  await harness.database.query('DROP TRIGGER entry_is_never_deleted ON entry')
  assert.deepEqual(await found(), ['I9 guard', 'I1 balance'])
})

test('an audit finds entries and figures of accounts that do not exist', async () => {
  await charge(harness, accountId, 30n)
  await harness.database.transact((transaction) => transaction.script('DELETE FROM account'))
  const report = await runAudit()
  assert.deepEqual(
    report.differences.map(({ kind, row }) => `${kind}: ${row}`),
    ['entry', 'exchange', 'usage_month', 'usage_key_month', 'report_day'].map(
      (table) => `unknown_account: ${table} of ${accountId}`,
    ),
  )
})

test('a statement closes from any moment on', async () => {
  for (let hour = 0; hour < 5; hour++) {
    await charge(harness, accountId, BigInt(hour + 1))
    harness.clock.advance(6 * 3_600_000)
  }
  const toMs = harness.clock.now() + 1
  for (let fromMs = toMs - 2 * dayMs; fromMs <= toMs; fromMs += 6 * 3_600_000) {
    const period = { accountId, fromMs, toMs }
    const opening = await readOpeningBalance(harness.database, period)
    const entries = await Array.fromAsync(
      eachStatementEntry(harness.database, await readStatementStart(harness.database, period)),
    )
    const closing = entries.reduce((sum, entry) => sum + entry.amountPicos, 0n + opening)
    assert.equal(closing, 985n, new Date(fromMs).toISOString())
  }
})

async function months(): Promise<readonly string[]> {
  const rows = await harness.database.query(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
      WHERE inhparent = 'exchange'::regclass AND relname <> 'exchange_default' ORDER BY 1`,
  )
  return rows.map((row) => String(row['name']))
}

/** The first of them in November. */
async function chargeForNineWeeks(): Promise<void> {
  const startMs = harness.clock.now()
  await harness.database.query('SELECT ensure_exchange_partitions($1, $2)', [
    startMs,
    startMs + 70 * dayMs,
  ])
  for (let week = 0; week < 9; week++) {
    await charge(harness, accountId, 1n)
    harness.clock.advance(7 * dayMs)
  }
}

function keepFortyDays(): Promise<RetentionReport> {
  return removeOldExchanges(harness.database, {
    nowMs: harness.clock.now(),
    keepMs: 40 * dayMs,
    pause: () => Promise.resolve(),
  })
}

test('drops old months as whole tables, deletes the rest row by row, and the audit is clean', async () => {
  await chargeForNineWeeks()
  assert.ok((await months()).includes('exchange_2026_11'))
  const report = await keepFortyDays()
  assert.equal(new Date(report.cutMs).toISOString(), '2026-12-14T00:00:00.000Z')
  assert.equal(report.removed, 2, 'the two of December before the cut; November went whole')
  assert.ok(!(await months()).includes('exchange_2026_11'))
  assert.ok((await months()).includes('exchange_2026_12'))
  const after = await runAudit()
  assert.deepEqual(after.differences, [])
  assert.deepEqual([after.counts.entries, after.counts.exchanges], [10, 5])
})

test('a month that somebody still reads stays until later, and charges do not wait', async () => {
  await chargeForNineWeeks()
  await harness.database.snapshot(async (snapshot) => {
    const before = await snapshot.query('SELECT * FROM exchange')
    assert.equal(before.length, 9)
    const removal = keepFortyDays()
    await charge(harness, accountId, 1n)
    assert.equal((await removal).removed, 2, 'of December; no row of November')
    assert.ok((await months()).includes('exchange_2026_11'))
  })
  assert.deepEqual((await runAudit()).differences, [])
  assert.equal((await keepFortyDays()).removed, 0)
  assert.ok(!(await months()).includes('exchange_2026_11'))
})

test('texts are stored as they are, whatever is in them', async () => {
  const stored = new Map<string, readonly string[]>()
  const texts = ['a"b', 'c\\d', '\\"', 'e, (f) {g}', 'NULL', ' ', 'h\ni', "j'k", 'ü€😀']
  for (const text of texts) {
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
    const changes = { endedAtMs: harness.clock.now(), vendorRequestId: text, client: text }
    await harness.ledger.settle(hold, recordOf(hold, 1n, changes))
    stored.set(hold.exchangeId, [text, text])
  }
  const rows = await harness.database.query(
    'SELECT exchange_id, vendor_request_id, client FROM exchange',
  )
  assert.deepEqual(
    new Map(
      rows.map((row) => [row['exchange_id'], [row['vendor_request_id'], row['client']]] as const),
    ),
    stored,
  )
})

test("holds and charges wait for the disk, also after the server's settings were reloaded", async () => {
  const calls = [
    "SELECT settle_alone('', '', 0, '{}', '{}', '{}', '{}', '{}', NULL)",
    "SELECT place_requests(NULL, 1, '{}', '{}', '{}', '{}', 0, NULL, NULL, NULL, NULL, NULL, NULL)",
  ]
  for (const call of calls)
    for (const [told, kept] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_apply', 'remote_apply'],
    ])
      await harness.database.transact(async (transaction) => {
        await transaction.query(`SET LOCAL synchronous_commit = ${told}`)
        await transaction.query(call)
        const [row] = await transaction.query('SHOW synchronous_commit')
        assert.equal(row?.['synchronous_commit'], kept)
      })
})

test('a month gets no table while somebody reads for long, and charges do not wait', async () => {
  await charge(harness, accountId, 1n)
  const before = await months()
  await harness.database.snapshot(async (snapshot) => {
    await snapshot.query('SELECT * FROM exchange')
    harness.clock.advance(70 * dayMs)
    await Promise.all([harness.ledger.tick(), charge(harness, accountId, 1n)])
    await charge(harness, accountId, 1n)
    assert.deepEqual(await months(), before)
  })
  await harness.ledger.tick()
  const month = new Date(harness.clock.now()).toISOString().slice(0, 7).replace('-', '_')
  assert.ok((await months()).includes(`exchange_${month}`))
  const [row] = await harness.database.query('SELECT count(*) AS count FROM exchange_default')
  assert.equal(Number(row?.['count']), 0, 'what the default one took in has moved')
  assert.deepEqual((await runAudit()).differences, [])
})

test('sums by channel and the cost of checks are read', async () => {
  await charge(harness, accountId, 30n)
  const endedAtMs = harness.clock.now()
  const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 20n))
  await harness.ledger.settle(hold, recordOf(hold, 20n, { endedAtMs, marks: ['implausible'] }))
  const period = { fromMs: 0, toMs: harness.clock.now() + dayMs }
  const [sum] = await sumChannels(harness.database, {
    ...period,
    isOwnName: () => true,
  })
  assert.deepEqual(
    [sum?.channel, sum?.requests, sum?.chargedPicos, sum?.counts],
    ['alpha-main', 2, 50n, { input: 20, output: 40, cache_read: 10 }],
  )
  assert.deepEqual(await listCosts(harness.database, { fromMs: 0, untilMs: period.toMs }), [])
})

test('a backup says which tools to use', async () => {
  await assert.rejects(copyStore(harness.database, '/tmp/never.db'), /pg_dump --format=custom/)
})
