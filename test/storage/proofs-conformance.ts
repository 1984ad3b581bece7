/**
 * The chains of sealed entries, over both stores. Goal: after any edit behind the ledger's back, however
 * coherent, the audit finds a difference; and no way of sealing, late or twice or cut off, makes one.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { dayMs, hourMs, minuteMs } from '../../src/base/clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { listHeads, type SealedHead } from '../../src/ledger/proof/seal-store.ts'
import { listSigningKeys, makeSigningKey } from '../../src/ledger/proof/signing-keys.ts'
import type { Database } from '../../src/storage/database.ts'
import { booksMasterKey } from '../support/sealed-books.ts'
import {
  charge,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const pause = (): Promise<void> => Promise.resolve()

/** Does damage that triggers would refuse; they are there again afterwards. */
async function damage(database: Database, sql: string): Promise<void> {
  const tables = ['entry', 'exchange', 'sealed_entry', 'sealed_head', 'account']
  const switched = (word: string): string =>
    tables.map((table) => `ALTER TABLE ${table} ${word} TRIGGER USER;`).join('\n')
  await database.transact(async (transaction) => {
    if (database.dialect === 'postgres')
      return transaction.script(`${switched('DISABLE')}\n${sql};\n${switched('ENABLE')}`)
    const guards = await transaction.query(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%is_never%'",
    )
    for (const { name } of guards) await transaction.script(`DROP TRIGGER ${String(name)}`)
    await transaction.script(sql)
    for (const guard of guards) await transaction.script(String(guard['sql']))
  })
}

export function describeProofs(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      accountId = await makeAccount(harness, { balancePicos: 1_000n })
    })
    afterEach(() => harness.close())

    const seal = ({ nowMs = harness.clock.now(), masterKey = booksMasterKey } = {}) =>
      sealHours(harness.database, { nowMs, masterKey, pause })
    const chargeSome = async (...amounts: readonly bigint[]): Promise<string[]> => {
      const ids: string[] = []
      for (const amount of amounts) ids.push((await charge(harness, accountId, amount)).exchangeId)
      return ids
    }
    const headsOf = (id: string): Promise<readonly SealedHead[]> =>
      listHeads(harness.database, { accountId: id, beforePlace: 1e9, countMax: 100 })
    const differences = (): Promise<string[]> => findDifferences(harness.database)
    const nextHour = (): void => harness.clock.advance(hourMs)

    it('seals the entries of an hour when it has ended, once, and signs a head for each account', async () => {
      const otherId = await makeAccount(harness, { balancePicos: 5n })
      await chargeSome(30n, 20n)
      assert.deepEqual(await seal(), { entries: 0, heads: 0 })
      nextHour()
      assert.deepEqual(await seal(), { entries: 4, heads: 2 })
      assert.deepEqual(await seal(), { entries: 0, heads: 0 })
      const [head, ...others] = await headsOf(accountId)
      assert.equal(others.length, 0)
      assert.deepEqual([head?.place, head?.sumPicos], [3, 950n])
      assert.deepEqual(
        (await headsOf(otherId)).map(({ place, sumPicos }) => [place, sumPicos]),
        [[1, 5n]],
      )
      nextHour()
      await chargeSome(10n)
      nextHour()
      assert.deepEqual(await seal(), { entries: 1, heads: 1 })
      assert.deepEqual(
        (await headsOf(accountId)).map(({ place, sumPicos }) => [place, sumPicos]),
        [
          [4, 940n],
          [3, 950n],
        ],
      )
      assert.deepEqual(await differences(), [])
    })

    it('takes a charge that was booked after its hour into the next one', async () => {
      await chargeSome(30n)
      const late = await mustPlace(harness.ledger, holdRequest(harness, accountId, 7n))
      const endedAtMs = harness.clock.now()
      nextHour()
      await seal()
      await harness.ledger.settle(late, recordOf(late, 7n, { endedAtMs }))
      nextHour()
      assert.deepEqual(await seal(), { entries: 1, heads: 1 })
      assert.deepEqual(await differences(), [])
    })

    it('leaves an entry of a clock that runs ahead to its own hour', async () => {
      await chargeSome(30n)
      const ahead = await mustPlace(harness.ledger, holdRequest(harness, accountId, 7n))
      const endedAtMs = harness.clock.now() + 2 * hourMs
      await harness.ledger.settle(ahead, recordOf(ahead, 7n, { endedAtMs }))
      await chargeSome(20n)
      nextHour()
      assert.equal((await seal()).entries, 3)
      nextHour()
      assert.equal((await seal()).entries, 0)
      nextHour()
      assert.equal((await seal()).entries, 1)
      assert.deepEqual(await differences(), [])
    })

    it('goes on where a clock that was ahead is set back', async () => {
      await chargeSome(30n)
      await seal({ nowMs: harness.clock.now() + 5 * hourMs })
      await chargeSome(20n)
      assert.equal((await seal()).entries, 0)
      nextHour()
      assert.deepEqual(await seal(), { entries: 1, heads: 1 })
      // Half an hour back, into the hour that was sealed.
      const endedAtMs = harness.clock.now() - 30 * minuteMs
      const early = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
      await harness.ledger.settle(early, recordOf(early, 10n, { endedAtMs }))
      assert.deepEqual(await seal({ nowMs: endedAtMs }), { entries: 0, heads: 0 })
      nextHour()
      assert.deepEqual(await seal(), { entries: 1, heads: 1 })
      assert.deepEqual(await differences(), [])
    })

    it('stays whole where two seal at the same time', async () => {
      await chargeSome(1n, 2n, 3n)
      nextHour()
      const rounds = await Promise.allSettled([seal(), seal(), seal()])
      assert.ok(rounds.some(({ status }) => status === 'fulfilled'))
      await seal()
      assert.deepEqual(
        (await headsOf(accountId)).map(({ place }) => place),
        [4],
      )
      assert.deepEqual(await differences(), [])
    })

    it('signs a chain that a round before was stopped in, and counts each entry once', async () => {
      await chargeSome(30n)
      nextHour()
      let pauses = 0
      const stopping = sealHours(harness.database, {
        nowMs: harness.clock.now(),
        masterKey: booksMasterKey,
        pause: () => (++pauses === 1 ? Promise.reject(new Error('stopped')) : Promise.resolve()),
      })
      await assert.rejects(stopping, { message: 'stopped' })
      nextHour()
      await chargeSome(10n)
      nextHour()
      await seal()
      assert.deepEqual((await headsOf(accountId))[0]?.sumPicos, 960n)
      assert.deepEqual(await differences(), [])
    })

    it('follows a new key that the former one signed, and reports a key that nothing signed', async () => {
      await chargeSome(30n)
      nextHour()
      await seal()
      const nowMs = harness.clock.now()
      await harness.database.transact((transaction) =>
        makeSigningKey(transaction, { masterKey: booksMasterKey, nowMs }),
      )
      await chargeSome(20n)
      nextHour()
      await seal()
      const keys = await listSigningKeys(harness.database)
      assert.deepEqual(
        (await headsOf(accountId)).map(({ keyId }) => keyId),
        [keys[1]?.id, keys[0]?.id],
      )
      assert.equal(keys[1]?.signedBy, keys[0]?.id)
      assert.deepEqual(await differences(), [])
      await harness.database.query("UPDATE signing_key SET signature = '00' WHERE signed_by <> ''")
      assert.match((await differences()).join('\n'), /^signing_key: /)
    })

    it('seals with another master key only after a new signing key was made', async () => {
      await chargeSome(30n)
      nextHour()
      await seal()
      await chargeSome(20n)
      nextHour()
      const masterKey = new Secret('6'.repeat(64))
      await assert.rejects(seal({ masterKey }), { code: 'operations.conflict' })
      const nowMs = harness.clock.now()
      await harness.database.transact((transaction) =>
        makeSigningKey(transaction, { masterKey, nowMs }),
      )
      await seal({ masterKey })
      assert.equal((await listSigningKeys(harness.database))[1]?.signedBy, undefined)
      assert.deepEqual(await differences(), [])
    })

    it('stays verifiable where exchanges are no longer kept', async () => {
      await chargeSome(30n, 20n)
      nextHour()
      await seal()
      harness.clock.advance(40 * dayMs)
      const nowMs = harness.clock.now()
      const { removed } = await removeOldExchanges(harness.database, {
        nowMs,
        keepMs: 30 * dayMs,
        pause,
      })
      assert.ok(removed > 0 || harness.database.dialect === 'postgres')
      assert.deepEqual(await differences(), [])
    })

    const damages: readonly [title: string, sql: (ids: readonly string[]) => string][] = [
      [
        'a coherent edit of a charge in each table',
        ([id]) => `
          UPDATE entry SET amount_picos = -29 WHERE reference = '${id}';
          UPDATE exchange SET amount_picos = 29, price_lines = '29' WHERE exchange_id = '${id}';
          UPDATE account SET balance_picos = balance_picos + 1 WHERE id = '${accountId}';
          UPDATE report_day SET revenue_picos = revenue_picos - 1 WHERE account_id = '${accountId}';
          UPDATE usage_month SET cost_picos = cost_picos - 1 WHERE account_id = '${accountId}';
          UPDATE usage_key_month SET cost_picos = cost_picos - 1 WHERE account_id = '${accountId}'`,
      ],
      [
        'a charge and its place that were removed',
        ([id]) => `
          DELETE FROM sealed_entry
           WHERE sequence = (SELECT sequence FROM entry WHERE reference = '${id}');
          DELETE FROM entry WHERE reference = '${id}'`,
      ],
      ['a charge that was removed', ([id]) => `DELETE FROM entry WHERE reference = '${id}'`],
      [
        'two entries that changed places',
        () => `
          UPDATE sealed_entry SET place = 9 WHERE account_id = '${accountId}' AND place = 2;
          UPDATE sealed_entry SET place = 2 WHERE account_id = '${accountId}' AND place = 3;
          UPDATE sealed_entry SET place = 3 WHERE account_id = '${accountId}' AND place = 9`,
      ],
      [
        'the time of a charge that was moved',
        ([id]) => `UPDATE entry SET created_at_ms = created_at_ms + 1 WHERE reference = '${id}'`,
      ],
      ['a head with another sum', () => `UPDATE sealed_head SET sum_picos = sum_picos + 1`],
      [
        'the last places of a chain that were removed',
        () => `DELETE FROM sealed_entry WHERE account_id = '${accountId}' AND place > 1`,
      ],
      [
        'places that were given away again',
        () => `
          DELETE FROM sealed_entry WHERE account_id = '${accountId}' AND place > 1;
          DELETE FROM sealed_head WHERE account_id = '${accountId}'`,
      ],
    ]
    for (const [title, sql] of damages)
      it(`shows in the audit ${title}`, async () => {
        const ids = await chargeSome(30n, 20n, 10n)
        nextHour()
        await seal()
        assert.deepEqual(await differences(), [])
        await damage(harness.database, sql(ids))
        const found = (await differences()).filter((text) => /^(chain|head): /.test(text))
        assert.notDeepEqual(found, [])
      })
  })
}
