/** What the ledger audit finds of refunds that were damaged, and that it finds nothing where none was. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { picos } from '../../src/base/money.ts'
import { audit, type AuditReport } from '../../src/ledger/audit/audit.ts'
import { findBilledExchanges, refund } from '../../src/ledger/refund-store.ts'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import { charge, makeAccount, readTestBill } from './ledger-harness.ts'

const dayMs = 86_400_000

describe('the audit of refunds', () => {
  let harness: EmbeddedHarness
  let accountId: string
  beforeEach(async () => {
    harness = await openEmbedded()
    accountId = await makeAccount(harness, { balancePicos: 1_000n })
  })
  afterEach(() => harness.close())

  const refundPart = async (exchangeId: string, amountPicos: bigint): Promise<void> => {
    await harness.database.transact(async (transaction) => {
      const [exchange] = await findBilledExchanges(transaction, exchangeId)
      assert.ok(exchange !== undefined)
      const atMs = harness.clock.now()
      const amount = picos(amountPicos)
      const { kind } = await refund(transaction, { exchange, amountPicos: amount, atMs })
      assert.equal(kind, 'booked')
    })
  }
  const runAudit = (sinceCheckpoints?: { readonly isRemembered: boolean }): Promise<AuditReport> =>
    audit(harness.database, {
      readBill: readTestBill,
      ...(sinceCheckpoints !== undefined && {
        sinceCheckpoints: { nowMs: harness.clock.now(), ...sinceCheckpoints },
      }),
    })
  /** Does damage that a trigger refuses. */
  const damage = (sql: string): Promise<void> =>
    harness.database.transact(async (transaction) => {
      const guards = await transaction.query(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'entry_is_never%'",
      )
      for (const { name } of guards) await transaction.script(`DROP TRIGGER ${String(name)}`)
      await transaction.script(sql)
      for (const guard of guards) await transaction.script(String(guard['sql']))
    })

  for (const [title, sql, found] of [
    [
      'a refund that is larger than its charge',
      "UPDATE entry SET amount_picos = 31 WHERE kind = 'refund'",
      ['I10', 'I13', 'I15', 'I1'],
    ],
    [
      'a refund of a charge that does not exist',
      "UPDATE entry SET reference = 'refund:ex_0' WHERE kind = 'refund'",
      ['I10', 'I13', 'I15'],
    ],
    ['a refund that was taken out', "DELETE FROM entry WHERE kind = 'refund'", ['I10', 'I9', 'I1']],
    ['a day that the refund does not lower', 'UPDATE report_day SET refunded_picos = 0', ['I10']],
    [
      'a month that the refund does not lower',
      "UPDATE usage_month SET cost_picos = 30 WHERE month <> 'total'",
      ['I10'],
    ],
    [
      'a key that the refund does not lower',
      "UPDATE usage_key_month SET cost_picos = 30 WHERE month = 'total'",
      ['I10'],
    ],
  ] as const)
    it(`finds ${title}`, async () => {
      await refundPart((await charge(harness, accountId, 30n)).exchangeId, 10n)
      assert.deepEqual((await runAudit()).differences, [])
      await damage(sql)
      const { differences } = await runAudit()
      const kinds = new Set(differences.map(({ invariant }) => invariant))
      assert.deepEqual([...kinds].sort(), [...found].sort())
    })

  it('accepts a refund of a charge from before its checkpoint', async () => {
    const old = await charge(harness, accountId, 30n)
    harness.clock.advance(20 * dayMs)
    const sameMonthAsNow = await charge(harness, accountId, 20n)
    harness.clock.advance(5 * dayMs)
    await charge(harness, accountId, 7n)
    const remembered = { isRemembered: true }
    assert.deepEqual((await runAudit(remembered)).differences, [])
    const before = (await runAudit(remembered)).counts.exchanges
    await refundPart(old.exchangeId, 30n)
    await refundPart(sameMonthAsNow.exchangeId, 1n)
    const { differences, counts } = await runAudit(remembered)
    assert.deepEqual(differences, [])
    // The checkpoint still holds: the old exchanges are not read again.
    assert.equal(counts.exchanges, before)
    assert.deepEqual((await runAudit()).differences, [])
  })
})
