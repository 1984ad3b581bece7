/** Each kind of damage is done by hand, behind the ledger's back, and has to be found. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from '../../test/storage/embedded-harness.ts'
import {
  addCredit,
  charge,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
} from '../../test/storage/ledger-harness.ts'
import { picos } from '../base/money.ts'
import { audit, type AuditReport } from './audit.ts'

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
  const runAudit = (): Promise<AuditReport> =>
    audit(harness.database, { recompute: (lines) => picos(BigInt(lines)) })
  /** Does damage that triggers would refuse. */
  const damage = (sql: string): Promise<void> =>
    harness.database.transact(async (transaction) => {
      await transaction.script(`DROP TRIGGER IF EXISTS entry_is_never_changed;
        DROP TRIGGER IF EXISTS entry_is_never_deleted;
        DROP TRIGGER IF EXISTS exchange_is_never_changed; ${sql}`)
    })

  it('is clean on a sound store and counts what it has looked at', async () => {
    assert.deepEqual(await runAudit(), {
      isClean: true,
      differences: [],
      counts: { accounts: 2, entries: 2, exchanges: 2, charges: 1, differences: 0 },
    })
  })

  const damages: readonly [title: string, sql: () => string, kinds: readonly string[]][] = [
    [
      'a balance that was changed',
      () => 'UPDATE account SET balance_picos = 971 WHERE balance_picos = 970',
      ['balance'],
    ],
    [
      'a charge that was taken out',
      () => "DELETE FROM entry WHERE kind = 'charge'",
      ['balance', 'exchange_without_charge'],
    ],
    [
      'a credit that was taken out',
      () => "DELETE FROM entry WHERE kind <> 'charge'",
      ['balance', 'sequence'],
    ],
    [
      'a charge that was changed',
      () => "UPDATE entry SET amount_picos = -31 WHERE kind = 'charge'",
      ['balance', 'amount'],
    ],
    [
      'an exchange that was taken out',
      () => 'DELETE FROM exchange WHERE amount_picos > 0',
      ['charge_without_exchange', 'usage_day', 'usage_month', 'usage_month'],
    ],
    [
      'an exchange whose amount was changed',
      () => 'UPDATE exchange SET amount_picos = 29 WHERE amount_picos = 30',
      ['amount', 'price_lines', 'usage_day', 'usage_month', 'usage_month'],
    ],
    [
      'price lines that do not add up',
      () => `UPDATE exchange SET price_lines = '29' WHERE exchange_id = '${exchangeId}'`,
      ['price_lines'],
    ],
    [
      'price lines that nobody can read',
      () => `UPDATE exchange SET price_lines = 'a lot' WHERE exchange_id = '${exchangeId}'`,
      ['price_lines'],
    ],
    [
      'a charge without an attempt',
      () => `UPDATE exchange SET attempt_count = 0 WHERE exchange_id = '${exchangeId}'`,
      ['attempts'],
    ],
    ['figures of a day that are wrong', () => 'UPDATE usage_day SET requests = 2', ['usage_day']],
    [
      'figures of a month that are missing',
      () => "DELETE FROM usage_month WHERE month <> 'total'",
      ['usage_month'],
    ],
    [
      'totals that are wrong',
      () => "UPDATE usage_month SET cost_picos = 31 WHERE month = 'total'",
      ['usage_month'],
    ],
    [
      'figures of nothing',
      () => `INSERT INTO usage_day VALUES ('${accountId}', '2026-01-01', 'k', 'm', 1, 0, 0, 0, 1)`,
      ['usage_day'],
    ],
    [
      'exchanges of nobody',
      () => "UPDATE exchange SET account_id = 'acc_nobody' WHERE amount_picos = 0",
      ['unknown_account'],
    ],
  ]
  for (const [title, sql, kinds] of damages)
    it(`finds ${title}`, async () => {
      await damage(sql())
      const report = await runAudit()
      assert.equal(report.isClean, false)
      assert.deepEqual(
        report.differences.map((difference) => difference.kind),
        kinds,
      )
      assert.equal(report.counts.differences, kinds.length)
    })

  it('says what differs with both figures', async () => {
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
    const options = { recompute: (lines: string) => picos(BigInt(lines)), differencesMax: 2 }
    const report = await audit(harness.database, options)
    assert.equal(report.differences.length, 2)
    assert.equal(report.counts.differences, 6)
  })

  it('adds up what passes 64 bits on the way', async () => {
    const rich = await makeAccount(harness)
    const half = 9_000_000n * 10n ** 12n
    for (let index = 0; index < 3; index++) {
      await addCredit(harness, rich, half)
      await addCredit(harness, rich, -half)
    }
    assert.deepEqual((await runAudit()).differences, [])
  })

  it('looks at more exchanges than fit on a page, while others go on being charged', async () => {
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

  async function chargeMany(count: number): Promise<void> {
    await addCredit(harness, accountId, 1_000n)
    await harness.ledger.refresh()
    await Promise.all(Array.from({ length: count }, () => charge(harness, accountId, 1n)))
  }
})
