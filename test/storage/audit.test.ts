/** Each kind of damage is done by hand, behind the ledger's back, and has to be found. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import {
  addCredit,
  charge,
  holdRequest,
  makeAccount,
  mustPlace,
  readTestBill,
  recordOf,
} from './ledger-harness.ts'
import { picos } from '../../src/base/money.ts'
import { audit, type AuditDifference, type AuditReport } from '../../src/ledger/audit/audit.ts'
import { credit } from '../../src/ledger/entry-store.ts'
import {
  reportAmountColumns,
  reportCountColumns,
  reportKeyColumns,
} from '../../src/ledger/report-day.ts'

describe('the audit', () => {
  let harness: EmbeddedHarness
  let accountId: string
  let exchangeId: string
  beforeEach(async () => {
    harness = await openEmbedded()
    accountId = await makeAccount(harness, { balancePicos: 1_000n })
    await makeAccount(harness)
    exchangeId = (await charge(harness, accountId, 30n)).exchangeId
    const uncharged = await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
    await harness.ledger.settle(uncharged, {
      ...recordOf(uncharged, 0n, { endedAtMs: harness.clock.now(), attemptCount: 0 }),
      channel: undefined,
    })
  })
  afterEach(() => harness.close())
  const runAudit = (): Promise<AuditReport> => audit(harness.database, { readBill: readTestBill })
  const runFromCheckpoints = ({ isRemembered } = { isRemembered: true }): Promise<AuditReport> =>
    audit(harness.database, {
      readBill: readTestBill,
      sinceCheckpoints: { nowMs: harness.clock.now(), isRemembered },
    })
  /** Does damage that triggers and references would refuse; they are there again afterwards. */
  const damage = async (sql: string): Promise<void> => {
    await harness.database.query('PRAGMA foreign_keys = OFF')
    await harness.database.transact(async (transaction) => {
      const guards = await transaction.query(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%is_never%'",
      )
      for (const { name } of guards) await transaction.script(`DROP TRIGGER ${String(name)}`)
      await transaction.script(sql)
      for (const guard of guards) await transaction.script(String(guard['sql']))
    })
    await harness.database.query('PRAGMA foreign_keys = ON')
  }

  it('is clean on an undamaged store and counts the audited rows', async () => {
    assert.deepEqual(await runAudit(), {
      isClean: true,
      differences: [],
      exchangesFromMs: 0,
      counts: { accounts: 2, entries: 2, exchanges: 2, charges: 1, differences: 0 },
    })
  })

  const damages: readonly [title: string, sql: () => string, found: readonly string[]][] = [
    [
      'a balance that was changed',
      () => 'UPDATE account SET balance_picos = 971 WHERE balance_picos = 970',
      ['I1 balance'],
    ],
    [
      'a charge that was taken out',
      () => "DELETE FROM entry WHERE kind = 'charge'",
      ['I5 exchange_without_charge', 'I10 report_day', 'I1 balance', 'I9 sequence'],
    ],
    [
      'a credit that was taken out',
      () => "DELETE FROM entry WHERE kind <> 'charge'",
      ['I1 balance', 'I3 overspent', 'I9 sequence'],
    ],
    [
      'a credit that was changed',
      () => "UPDATE entry SET amount_picos = 1001 WHERE kind <> 'charge'",
      ['I13 entry_hash', 'I1 balance'],
    ],
    [
      'a credit under another reference',
      () => "UPDATE entry SET reference = 'another' WHERE kind <> 'charge'",
      ['I13 entry_hash'],
    ],
    [
      'a credit that takes away',
      () => "UPDATE entry SET kind = 'refund', amount_picos = -1000 WHERE kind <> 'charge'",
      ['I9 entry_sign', 'I13 entry_hash', 'I1 balance'],
    ],
    [
      'a charge that was changed',
      () => "UPDATE entry SET amount_picos = -31 WHERE kind = 'charge'",
      ['I5 amount', 'I10 report_day', 'I1 balance'],
    ],
    [
      'an exchange that was taken out',
      () => 'DELETE FROM exchange WHERE amount_picos > 0',
      ['I5 charge_without_exchange', 'I10 report_day'],
    ],
    [
      'an exchange whose amount was changed',
      () => 'UPDATE exchange SET amount_picos = 29 WHERE amount_picos = 30',
      ['I5 amount', 'I8 price_lines', 'I10 report_day'],
    ],
    [
      'price lines that do not add up',
      () => `UPDATE exchange SET price_lines = '29' WHERE exchange_id = '${exchangeId}'`,
      ['I8 price_lines'],
    ],
    [
      'counts that are not those of the price lines',
      () => `UPDATE exchange SET usage = replace(usage, '"input":10', '"input":11')`,
      ['I8 counts'],
    ],
    [
      'a class of tokens that is in no price line',
      () =>
        `UPDATE exchange SET usage = replace(usage, '"input":10', '"input":10,"input_audio":1')`,
      ['I8 counts'],
    ],
    [
      'a part of an answer that is in no price line',
      () => `UPDATE exchange SET usage = replace(usage, '}]]', '}],[null,{}]]')`,
      ['I8 counts'],
    ],
    [
      'price lines that cannot be read',
      () => `UPDATE exchange SET price_lines = 'a lot' WHERE exchange_id = '${exchangeId}'`,
      ['I8 price_lines'],
    ],
    [
      'a charge without an attempt',
      () => `UPDATE exchange SET attempt_count = 0 WHERE exchange_id = '${exchangeId}'`,
      ['I7 attempts'],
    ],
    [
      'a charge for a failure',
      () => `UPDATE exchange SET ending = 'failed' WHERE exchange_id = '${exchangeId}'`,
      ['I7 attempts', 'I10 report_day'],
    ],
    [
      'figures of a day that are wrong',
      () => 'UPDATE report_day SET charged_requests = 2 WHERE charged_requests = 1',
      ['I10 report_day', 'I10 report_day', 'I10 usage_month'],
    ],
    [
      'tokens of a day that are wrong',
      () => 'UPDATE report_day SET input_tokens = 11 WHERE charged_requests = 1',
      ['I10 report_day', 'I10 usage_month'],
    ],
    [
      'figures of a month that are missing',
      () => "DELETE FROM usage_month WHERE month <> 'total'",
      ['I10 usage_month', 'I10 usage_month'],
    ],
    [
      'totals that are wrong',
      () => "UPDATE usage_month SET cost_picos = 31 WHERE month = 'total'",
      ['I10 usage_month'],
    ],
    [
      'figures of nothing',
      () => insertReport(accountId),
      ['I10 report_day', 'I10 report_day', 'I10 usage_month', 'I10 usage_key_month'],
    ],
    [
      'exchanges without an account',
      () => "UPDATE exchange SET account_id = 'acc_nobody' WHERE amount_picos = 0",
      ['I10 report_day', 'I1 unknown_account'],
    ],
    [
      'a report that counts a request twice',
      () => 'UPDATE report_day SET requests = requests + 1',
      ['I10 report_day', 'I10 report_day'],
    ],
    [
      'a report that is missing',
      () => 'DELETE FROM report_day',
      [
        'I10 report_day',
        'I10 report_day',
        'I10 report_day',
        'I10 usage_month',
        'I10 usage_key_month',
      ],
    ],
    [
      'revenue of a report that is wrong',
      () => 'UPDATE report_day SET revenue_picos = revenue_picos + 1 WHERE revenue_picos > 0',
      ['I10 report_day', 'I10 report_day', 'I10 usage_month', 'I10 usage_key_month'],
    ],
    [
      'what a key has used in a month that is wrong',
      () => "UPDATE usage_key_month SET cost_picos = 31 WHERE month <> 'total'",
      ['I10 usage_key_month', 'I10 usage_key_month'],
    ],
    [
      'entries without an account',
      () =>
        `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
         VALUES ('acc_nobody', 'credit', 'a gift', 1, 1)`,
      ['I1 unknown_account'],
    ],
    [
      'figures without an account',
      () =>
        `${insertReport('acc_nobody')};
         INSERT INTO usage_month VALUES ('acc_nobody', '2026-01', 'm', 1, 0, 0, 0, 1)`,
      ['I1 unknown_account', 'I1 unknown_account'],
    ],
  ]
  for (const [title, sql, found] of damages)
    it(`finds ${title}`, async () => {
      await damage(sql())
      const report = await runAudit()
      assert.equal(report.isClean, false)
      assert.deepEqual(report.differences.map(nameOf), found)
      assert.equal(report.counts.differences, found.length)
    })

  it('finds that the last entries were removed together with their money', async () => {
    for (let index = 0; index < 2; index++) await addCredit(harness, accountId, 50n)
    await damage(
      `DELETE FROM entry WHERE amount_picos = 50;
       UPDATE account SET balance_picos = balance_picos - 100 WHERE id = '${accountId}'`,
    )
    const [difference, ...others] = (await runAudit()).differences
    assert.deepEqual(others, [])
    assert.equal(difference?.kind, 'sequence')
    assert.match(difference.message, /stored 2 entries, derived 4 were booked/)
  })

  it('finds a credit that was moved to another account, with its money', async () => {
    const other = await makeAccount(harness)
    await addCredit(harness, accountId, 50n)
    await damage(
      `UPDATE entry SET account_id = '${other}' WHERE amount_picos = 50;
       UPDATE account SET balance_picos = balance_picos - 50 WHERE id = '${accountId}';
       UPDATE account SET balance_picos = balance_picos + 50 WHERE id = '${other}'`,
    )
    const report = await runAudit()
    assert.deepEqual(report.differences.map(nameOf), ['I13 entry_hash'])
    assert.equal(report.differences[0]?.accountId, other)
  })

  it('does not report a credit that was never booked', async () => {
    await assert.rejects(
      harness.database.transact(async (transaction) => {
        const atMs = harness.clock.now()
        const request = { accountId, amountPicos: picos(50n), reference: 'undone', atMs }
        const { kind } = await credit(transaction, { ...request, kind: 'credit' })
        assert.equal(kind, 'booked')
        throw new Error('undone')
      }),
      /undone/,
    )
    assert.deepEqual((await runAudit()).differences, [])
  })

  it('finds a trigger that was dropped', async () => {
    await harness.database.transact((transaction) =>
      transaction.script('DROP TRIGGER entry_is_never_deleted'),
    )
    const [difference, ...others] = (await runAudit()).differences
    assert.deepEqual(others, [])
    assert.equal(difference?.invariant, 'I9')
    assert.equal(difference.row, 'trigger entry_is_never_deleted')
  })

  it('names the row', async () => {
    await damage(`UPDATE exchange SET price_lines = '29' WHERE exchange_id = '${exchangeId}'`)
    const [difference] = (await runAudit()).differences
    assert.equal(difference?.row, `exchange ${exchangeId}`)
    assert.equal(difference.accountId, accountId)
  })

  it('reports a difference with both figures', async () => {
    await damage('UPDATE account SET balance_picos = 971 WHERE balance_picos = 970')
    const [difference] = (await runAudit()).differences
    assert.equal(difference?.accountId, accountId)
    assert.match(
      difference?.message ?? '',
      /stored 0\.000000000971 USD, derived 0\.00000000097 USD/,
    )
  })

  it('describes so many differences and counts the rest', async () => {
    for (let index = 0; index < 5; index++) await charge(harness, accountId, 1n)
    await damage("UPDATE exchange SET price_lines = '7'")
    const options = { readBill: readTestBill, differencesMax: 2 }
    const report = await audit(harness.database, options)
    assert.equal(report.differences.length, 2)
    assert.equal(report.counts.differences, 6)
  })

  it('sums amounts that exceed 64 bits on the way', async () => {
    const rich = await makeAccount(harness)
    const half = 9_000_000n * 10n ** 12n
    for (let index = 0; index < 3; index++) {
      await addCredit(harness, rich, half)
      await addCredit(harness, rich, -half)
    }
    assert.deepEqual((await runAudit()).differences, [])
  })

  it('audits more exchanges than one page while charges go on', async () => {
    const settling: Promise<void>[] = []
    for (let index = 0; index < 900; index++) {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
      settling.push(
        harness.ledger.settle(hold, recordOf(hold, 1n, { endedAtMs: harness.clock.now() })),
      )
    }
    const during = await runAudit()
    await Promise.all(settling)
    for (let round = 0; round < 2; round++) await chargeMany(600)
    assert.deepEqual(during.differences, [])
    const after = await runAudit()
    assert.deepEqual(after.differences, [])
    assert.equal(after.counts.charges, 1 + 900 + 1_200)
  })

  describe('from checkpoints', () => {
    const days = (count: number): void => harness.clock.advance(count * 86_400_000)

    it('audits only the rows since the day before yesterday', async () => {
      assert.equal((await runFromCheckpoints()).counts.exchanges, 2)
      days(3)
      assert.equal((await runFromCheckpoints()).counts.exchanges, 2)
      const later = await runFromCheckpoints()
      assert.deepEqual(later.counts, { ...none, accounts: 2 })
      await charge(harness, accountId, 7n)
      const afterwards = await runFromCheckpoints()
      assert.deepEqual(afterwards.counts, {
        ...none,
        accounts: 2,
        entries: 1,
        exchanges: 1,
        charges: 1,
      })
      assert.equal(afterwards.isClean, true)
    })

    it('stores no checkpoint when it is not asked to remember', async () => {
      for (let round = 0; round < 2; round++)
        assert.equal((await runFromCheckpoints({ isRemembered: false })).counts.exchanges, 2)
      await runFromCheckpoints()
      days(3)
      const before = await harness.database.query('SELECT * FROM audit_checkpoint')
      await runFromCheckpoints({ isRemembered: false })
      assert.deepEqual(await harness.database.query('SELECT * FROM audit_checkpoint'), before)
    })

    it('finds damage behind the checkpoint as soon as it shows in the balance', async () => {
      days(3)
      await runFromCheckpoints()
      await damage("UPDATE entry SET amount_picos = 1001 WHERE kind <> 'charge'")
      await damage('UPDATE account SET balance_picos = 971 WHERE balance_picos = 970')
      const report = await runFromCheckpoints()
      assert.deepEqual(report.differences.map(nameOf), ['I13 entry_hash'])
    })

    it('reports no difference for a charge that was booked late', async () => {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 4n))
      const endedAtMs = harness.clock.now()
      days(4)
      await runFromCheckpoints()
      await harness.ledger.settle(hold, recordOf(hold, 4n, { endedAtMs }))
      assert.deepEqual((await runFromCheckpoints()).differences, [])
      assert.deepEqual((await runFromCheckpoints()).counts, { ...none, accounts: 2 })
    })

    it('reports a difference again until it is repaired', async () => {
      await damage('UPDATE account SET balance_picos = 971 WHERE balance_picos = 970')
      for (let round = 0; round < 3; round++) {
        days(1)
        assert.deepEqual((await runFromCheckpoints()).differences.map(nameOf), ['I1 balance'])
      }
      await damage('UPDATE account SET balance_picos = 970 WHERE balance_picos = 971')
      assert.equal((await runFromCheckpoints()).isClean, true)
    })
  })

  async function chargeMany(count: number): Promise<void> {
    await addCredit(harness, accountId, 1_000n)
    await harness.ledger.refresh()
    await Promise.all(Array.from({ length: count }, () => charge(harness, accountId, 1n)))
  }
})

/** A row of one charged request that nobody has made. */
function insertReport(accountId: string): string {
  const columns = [...reportCountColumns, ...reportAmountColumns]
  const ones = ['requests', 'charged_requests', 'revenue_picos']
  const figures = columns.map((column) => (ones.includes(column) ? 1 : 0))
  return `INSERT INTO report_day (${[...reportKeyColumns, ...columns].join(', ')})
    VALUES ('2026-01-01', '${accountId}', 'k', 'm', '', '', ${figures.join(', ')})`
}

const none = { accounts: 0, entries: 0, exchanges: 0, charges: 0, differences: 0 }

function nameOf({ invariant, kind }: AuditDifference): string {
  return `${invariant} ${kind}`
}
