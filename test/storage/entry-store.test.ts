import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import { findDifferences, makeAccount } from './ledger-harness.ts'
import { picos } from '../../src/base/money.ts'
import { findAccount } from '../../src/ledger/account-store.ts'
import { balanceMax, credit, type CreditRequest } from '../../src/ledger/entry-store.ts'

describe('entries', () => {
  let harness: EmbeddedHarness
  let accountId: string
  beforeEach(async () => {
    harness = await openEmbedded()
    accountId = await makeAccount(harness)
  })
  afterEach(async () => {
    try {
      assert.deepEqual(await findDifferences(harness.database), [])
    } finally {
      await harness.close()
    }
  })
  const book = (changes: Partial<CreditRequest> = {}) =>
    harness.database.transact((transaction) =>
      credit(transaction, {
        accountId,
        kind: 'credit',
        amountPicos: picos(100n),
        reference: 'invoice 1',
        atMs: harness.clock.now(),
        ...changes,
      }),
    )
  const balance = async (): Promise<bigint | undefined> =>
    (await findAccount(harness.database, accountId))?.balancePicos

  it('book a credit once per reference, and report a repetition', async () => {
    const first = await book({ note: 'first top-up' })
    assert.equal(first.kind, 'booked')
    harness.clock.advance(1_000)
    const again = await book({ note: 'first top-up' })
    assert.deepEqual(again, { ...first, kind: 'repeated' })
    assert.equal(await balance(), 100n)
    assert.equal((await book({ reference: 'invoice 2' })).kind, 'booked')
    assert.equal(await balance(), 200n)
  })

  it('refuse another request under the same reference', async () => {
    await book()
    for (const change of [
      { amountPicos: picos(101n) },
      { kind: 'adjustment' },
      { note: 'another note' },
    ] as const) {
      const result = await book(change)
      assert.equal(result.kind, 'conflict')
      assert.equal(result.kind === 'conflict' && result.entry.amountPicos, 100n)
    }
    assert.equal(await balance(), 100n)
  })

  it('keep references apart by account', async () => {
    await book()
    const other = await makeAccount(harness)
    assert.equal((await book({ accountId: other })).kind, 'booked')
    assert.deepEqual(await book({ accountId: 'acc_nobody' }), { kind: 'unknown_account' })
  })

  it('take money away by an adjustment only', async () => {
    await book()
    assert.equal(
      (await book({ kind: 'adjustment', reference: 'a', amountPicos: picos(-30n) })).kind,
      'booked',
    )
    assert.equal(await balance(), 70n)
    for (const kind of ['credit', 'refund'] as const)
      assert.deepEqual(await book({ kind, reference: 'b', amountPicos: picos(-1n) }), {
        kind: 'invalid',
        reason: 'amount_sign',
      })
    assert.equal(
      (await book({ kind: 'adjustment', reference: 'c', amountPicos: picos(0n) })).kind,
      'invalid',
    )
  })

  it('refuse references that are empty, too long, or could be a charge’s', async () => {
    const refused = { kind: 'invalid', reason: 'reference' }
    for (const reference of ['', 'x'.repeat(256), 'ex_01jd8m3v9k', 'refund:ex_01jd8m3v9k'])
      assert.deepEqual(await book({ reference }), refused)
    assert.deepEqual(await book({ kind: 'refund', reference: 'r 1' }), refused)
  })

  it('keep every balance within 64 bits', async () => {
    const outOfRange = { kind: 'invalid', reason: 'balance_out_of_range' }
    assert.equal((await book({ amountPicos: balanceMax })).kind, 'booked')
    assert.deepEqual(await book({ reference: 'b', amountPicos: picos(1n) }), outOfRange)
    assert.deepEqual(await book({ reference: 'c', amountPicos: picos(2n ** 80n) }), outOfRange)
    const down = { kind: 'adjustment', amountPicos: picos(0n - balanceMax) } as const
    assert.equal((await book({ ...down, reference: 'd' })).kind, 'booked')
    assert.equal((await book({ ...down, reference: 'e' })).kind, 'booked')
    assert.equal(await balance(), 0n - balanceMax)
    const below = { ...down, reference: 'f', amountPicos: picos(-1n) }
    assert.deepEqual(await book(below), outOfRange)
  })

  it('can be neither changed nor deleted', async () => {
    await book()
    for (const sql of ['UPDATE entry SET amount_picos = 1', 'DELETE FROM entry'])
      await assert.rejects(harness.database.query(sql), /entries are append-only/)
  })
})
