/** Old exchanges go, and the books close all the same: balances, figures, statement, audit. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import {
  charge,
  findDifferences,
  freeExchange,
  holdRequest,
  makeAccount,
  mustPlace,
  readTestBill,
  recordOf,
} from './ledger-harness.ts'
import { audit } from '../../src/ledger/audit/audit.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import { removeOldExchanges, type RetentionReport } from '../../src/ledger/exchange-retention.ts'
import {
  eachStatementEntry,
  readOpeningBalance,
  readStatementStart,
} from '../../src/ledger/statement.ts'

const dayMs = 86_400_000

describe('old exchanges', () => {
  let harness: EmbeddedHarness
  let accountId: string
  let pauses: number
  beforeEach(async () => {
    harness = await openEmbedded()
    accountId = await makeAccount(harness, { balancePicos: 10_000n })
    pauses = 0
  })
  afterEach(() => harness.close())

  const removeOlderThan = (days: number): Promise<RetentionReport> =>
    removeOldExchanges(harness.database, {
      nowMs: harness.clock.now(),
      keepMs: days * dayMs,
      pause: () => {
        pauses++
        return Promise.resolve()
      },
    })
  const keptExchanges = async (): Promise<number> => {
    const rows = await harness.database.query('SELECT exchange_id FROM exchange')
    return rows.length
  }
  const chargeOnEachOf = async (days: number, perDay: number): Promise<void> => {
    for (let day = 0; day < days; day++) {
      await Promise.all(Array.from({ length: perDay }, () => charge(harness, accountId, 1n)))
      harness.clock.advance(dayMs)
    }
  }

  it('go with those that nothing was charged for', async () => {
    const beganMs = harness.clock.now()
    const rows = Array.from({ length: 500 }, (_, index) =>
      freeExchange(accountId, beganMs + index * 60 * 60_000),
    )
    await saveFreeExchanges(harness.database, rows)
    harness.clock.advance(500 * 60 * 60_000)
    const { cutMs, removed } = await removeOlderThan(10)
    const kept = rows.filter(({ startedAtMs }) => startedAtMs >= cutMs)
    assert.ok(kept.length > 200)
    assert.equal(removed, rows.length - kept.length)
    const left = await harness.database.query(
      'SELECT exchange_id FROM free_exchange ORDER BY exchange_id',
    )
    assert.deepEqual(
      left.map((row) => row['exchange_id']),
      kept.map(({ exchangeId }) => exchangeId),
    )
  })

  it('go by whole days, and entries and figures stay', async () => {
    await chargeOnEachOf(6, 3)
    const before = await harness.ledger.usage(accountId, 'total', harness.clock.now())
    assert.deepEqual(await removeOlderThan(2), {
      cutMs: Date.parse('2026-11-25T00:00:00Z'),
      removed: 4 * 3,
    })
    assert.equal(await keptExchanges(), 2 * 3)
    assert.deepEqual(await harness.ledger.usage(accountId, 'total', harness.clock.now()), before)
    assert.deepEqual(await findDifferences(harness.database), [])
    const report = await audit(harness.database, { readBill: readTestBill })
    assert.equal(report.exchangesFromMs, Date.parse('2026-11-25T00:00:00Z'))
    assert.deepEqual([report.counts.entries, report.counts.exchanges], [1 + 18, 6])
  })

  it('go in small transactions with a pause after each', async () => {
    await chargeOnEachOf(1, 450)
    harness.clock.advance(2 * dayMs)
    assert.equal((await removeOlderThan(2)).removed, 450)
    assert.equal(pauses, 3)
    assert.equal((await removeOlderThan(2)).removed, 0)
  })

  it('stay where they ended on a day that is kept, however early they began', async () => {
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
    harness.clock.advance(12 * 3_600_000)
    await harness.ledger.settle(hold, recordOf(hold, 5n, { endedAtMs: harness.clock.now() }))
    harness.clock.advance(2 * dayMs)
    assert.deepEqual(await removeOlderThan(2), {
      cutMs: Date.parse('2026-11-22T00:00:00Z'),
      removed: 0,
    })
    assert.equal(await keptExchanges(), 1)
    assert.deepEqual(await findDifferences(harness.database), [])
  })

  it('are not missed by an audit while they go, and the cut never moves back', async () => {
    await chargeOnEachOf(4, 2)
    await harness.database.query(
      'INSERT INTO exchange_cut (cut_ms, decided_at_ms) VALUES ($1, 0)',
      [Date.parse('2026-11-23T00:00:00Z')],
    )
    await harness.database.query(
      `DELETE FROM exchange WHERE ended_at_ms < ${Date.parse('2026-11-22T00:00:00Z')}`,
    )
    assert.deepEqual(await findDifferences(harness.database), [])
    assert.equal((await removeOlderThan(100)).cutMs, Date.parse('2026-11-23T00:00:00Z'))
    assert.equal(await keptExchanges(), 4)
    assert.deepEqual(await findDifferences(harness.database), [])
  })

  it('leave enough data for the audit to find differences on old days', async () => {
    await chargeOnEachOf(5, 2)
    await removeOlderThan(2)
    await harness.database.query("UPDATE report_day SET revenue_picos = 3 WHERE day = '2026-11-21'")
    const found = await findDifferences(harness.database)
    assert.match(found[0] ?? '', /^report_day: .* differ from the charges of that day/)
    await harness.database.query("UPDATE report_day SET revenue_picos = 2 WHERE day = '2026-11-21'")
    await harness.database.query('DELETE FROM exchange')
    assert.match((await findDifferences(harness.database))[0] ?? '', /^charge_without_exchange/)
  })

  it('leave a statement with its lines and balances', async () => {
    await chargeOnEachOf(5, 2)
    await removeOlderThan(2)
    const period = { accountId, fromMs: Date.parse('2026-11-22'), toMs: harness.clock.now() }
    const entries = await Array.fromAsync(
      eachStatementEntry(harness.database, await readStatementStart(harness.database, period)),
    )
    assert.deepEqual(
      entries.map(({ exchange }) => exchange !== undefined),
      [false, false, false, false, true, true, true, true],
    )
    assert.equal(await readOpeningBalance(harness.database, period), 10_000n - 2n)
  })
})
