/**
 * What every implementation of the Ledger writes beside a charge: the sums of reports, what each key
 * has used, the tokens of the last minute, and the facts of the exchange. One suite over a factory.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { utcDay } from '../../src/base/clock.ts'
import { picos } from '../../src/base/money.ts'
import { credit } from '../../src/ledger/entry-store.ts'
import type { ExchangeRecord } from '../../src/ledger/ledger.ts'
import { readDays } from '../../src/ledger/usage.ts'
import type { Row, Transaction } from '../../src/storage/database.ts'
import {
  charge,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

export function describeSums(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      accountId = await makeAccount(harness, { balancePicos: 10_000n })
    })
    afterEach(() => harness.close())
    const settle = async (
      amountPicos: bigint,
      changes: Partial<ExchangeRecord> = {},
    ): Promise<string> => {
      const request = holdRequest(harness, accountId, amountPicos, {
        keyId: changes.keyId ?? 'key_one',
      })
      const hold = await mustPlace(harness.ledger, request)
      const record = recordOf(hold, amountPicos, { endedAtMs: harness.clock.now(), ...changes })
      await harness.ledger.settle(hold, record)
      return hold.exchangeId
    }
    const settleAway = (changes: Partial<ExchangeRecord>): Promise<string> =>
      settle(0n, {
        ending: 'failed',
        usage: undefined,
        priceLines: '',
        firstEventMs: undefined,
        ...changes,
      })
    const read = (sql: string): Promise<Row[]> => harness.database.query(sql, [accountId])
    const differences = (): Promise<string[]> => findDifferences(harness.database)

    it('records the facts of an exchange', async () => {
      const attempts = [
        {
          channel: 'a',
          status: 500,
          class: 'hard',
          startedMs: 1,
          firstEventMs: null,
          durationMs: 12,
        },
        {
          channel: 'b',
          status: 200,
          class: 'streaming',
          startedMs: 13,
          firstEventMs: 30,
          durationMs: 90,
        },
      ]
      await settle(5n, {
        attempts,
        firstEventMs: 42,
        client: 'curl',
        address: 'ipv6',
        ownCostPicos: picos(3n),
        isOwnCostKnown: true,
        finishReason: 'end_turn',
      })
      const [row] = await read(
        `SELECT first_event_ms, attempts, code, client, address, own_cost_picos, is_own_cost_known,
             finish_reason
           FROM exchange WHERE account_id = $1`,
      )
      assert.deepEqual(
        { ...row },
        {
          first_event_ms: 42n,
          attempts: '[["a",500,"hard",1,null,12],["b",200,"streaming",13,30,90]]',
          code: null,
          client: 'curl',
          address: 'ipv6',
          own_cost_picos: 3n,
          is_own_cost_known: 1n,
          finish_reason: 'end_turn',
        },
      )
    })

    it('adds every exchange to the report of its day, key, model and channel', async () => {
      await settle(30n, { firstEventMs: 100, ownCostPicos: picos(9n), isOwnCostKnown: true })
      await settle(20n, { firstEventMs: 101, attemptCount: 3, usage: withCacheWrites })
      await settleAway({ channel: undefined, operatorCostPicos: picos(7n), attemptCount: 2 })
      await settleAway({ channel: undefined, ending: 'client_left' })
      await settle(1n, { keyId: 'key_two', firstEventMs: 60_001 })
      const rows = await read('SELECT * FROM report_day WHERE account_id = $1')
      assert.deepEqual(rows.map(named).sort(), [
        'key_one  2 requests 1 errors 1 failovers 7 lost_cost_picos',
        'key_one alpha-main 2 requests 2 charged_requests 2 failovers 1 known_cost_requests ' +
          '20 input_tokens 40 output_tokens 8 cache_read_tokens 12 cache_write_tokens ' +
          '40 prompt_tokens 1 first_event_le_100 1 first_event_le_200 50 revenue_picos 9 own_cost_picos ' +
          '20 unknown_cost_revenue_picos',
        'key_two alpha-main 1 requests 1 charged_requests 10 input_tokens 20 output_tokens ' +
          '5 cache_read_tokens 15 prompt_tokens 1 first_event_above 1 revenue_picos 1 unknown_cost_revenue_picos',
      ])
      // The test's own price lines know no cache writes.
      const others = (await differences()).filter((difference) => !difference.startsWith('counts:'))
      assert.deepEqual(others, [])
    })

    it('adds up what each key has used in each month and in all', async () => {
      await settle(30n)
      await settle(12n, { keyId: 'key_two' })
      harness.clock.advance(20 * 86_400_000)
      await Promise.all([settle(5n), settle(6n)])
      const rows = await read(
        `SELECT key_id, month, cost_picos FROM usage_key_month WHERE account_id = $1
          ORDER BY key_id, month`,
      )
      assert.deepEqual(
        rows.map((row) => Object.values(row).map(String).join(' ')),
        [
          'key_one 2026-11 30',
          'key_one 2026-12 11',
          'key_one total 41',
          'key_two 2026-11 12',
          'key_two total 12',
        ],
      )
      assert.deepEqual(await differences(), [])
    })

    it('counts the tokens of the last two minutes where a limit needs them', async () => {
      const tokens = async (): Promise<unknown[]> =>
        (
          await read(
            `SELECT second, key_id, tokens FROM token_minute WHERE account_id = $1
              ORDER BY second, key_id`,
          )
        ).map(
          ({ second, key_id, tokens: count }) =>
            `${Number(second) - startS} ${String(key_id)} ${String(count)}`,
        )
      const startS = Math.floor(harness.clock.now() / 1_000)
      await settle(1n)
      assert.deepEqual(await tokens(), [])
      await harness.database.query('UPDATE account SET tokens_per_minute = 100 WHERE id = $1', [
        accountId,
      ])
      await Promise.all([settle(1n), settle(1n), settle(1n, { keyId: 'key_two' })])
      await settleAway({})
      harness.clock.advance(1_000)
      await settle(1n)
      assert.deepEqual(await tokens(), ['0 key_one 60', '0 key_two 30', '1 key_one 30'])
      harness.clock.advance(120_000)
      await settle(1n)
      assert.deepEqual(await tokens(), ['1 key_one 30', '121 key_one 30'])
    })

    it('keeps the sums of a charge that is withheld free of its usage', async () => {
      await settle(3n)
      await settleAway({ marks: ['hold_expired'], operatorCostPicos: picos(4n) })
      const [row] = await read('SELECT * FROM report_day WHERE account_id = $1')
      assert.match(named(row ?? {}), /2 requests 1 charged_requests 1 errors 10 input_tokens/)
      assert.deepEqual(await differences(), [])
    })

    it('show the tokens of an answer at a price of zero alike for each period, and nothing of failures', async () => {
      await settleAway({})
      await settleAway({ channel: undefined, keyId: 'key_two' })
      const nowMs = harness.clock.now()
      const today = utcDay(nowMs)
      const readBy = (by: 'key' | 'model' | undefined) =>
        readDays(harness.database, { accountIds: [accountId], from: today, to: today, by })
      assert.deepEqual(await readBy('key'), [])
      const used = {
        requests: 0,
        inputTokens: 10,
        outputTokens: 20,
        cacheTokens: 15,
        costPicos: 0n,
      }
      await settle(0n, { usage: withCacheWrites, priceLines: '' })
      for (const [by, of] of [
        ['key', 'key_one'],
        ['model', 'large-1'],
        [undefined, ''],
      ] as const)
        assert.deepEqual(await readBy(by), [{ accountId, day: today, of, ...used }])
      for (const period of ['day', 'month', 'total'] as const) {
        const usage = await harness.ledger.usage(accountId, period, nowMs)
        assert.deepEqual(usage?.byModel, [{ model: 'large-1', ...used }], period)
      }
      const keys = await read('SELECT key_id FROM usage_key_month WHERE account_id = $1')
      assert.deepEqual(keys, [])
      assert.deepEqual(await differences(), [])
    })

    it('are audited with refunds, which lower the day, the months and the key', async () => {
      const { exchangeId } = await charge(harness, accountId, 30n)
      await charge(harness, accountId, 12n)
      harness.clock.advance(86_400_000)
      await charge(harness, accountId, 5n)
      assert.deepEqual(await differences(), [])
      await harness.database.transact((transaction) => refund(transaction, exchangeId, 10n))
      assert.deepEqual(await differences(), [])
      await harness.database.query(
        'UPDATE report_day SET refunded_picos = 9 WHERE account_id = $1 AND refunded_picos > 0',
        [accountId],
      )
      const found = (await differences()).map((difference) => difference.split(': stored')[0])
      assert.deepEqual(found, [
        'report_day: figures of report_day for 2026-11-21, key_one, large-1, alpha-main',
        'report_day: figures of report_day for 2026-11-21 differ from the charges of that day',
        'usage_month: figures of usage_month for 2026-11, large-1',
        'usage_key_month: figures of usage_key_month for 2026-11, key_one',
      ])
    })

    it('are audited for a refund beyond its charge', async () => {
      const { exchangeId } = await charge(harness, accountId, 30n)
      await harness.database.transact((transaction) => refund(transaction, exchangeId, 31n))
      const found = await differences()
      assert.deepEqual(
        found.map((difference) => difference.replace(/:.*/, '')),
        ['refund'],
      )
    })

    /** As an operation books one: the entry and the sums of the day of its charge in one transaction. */
    async function refund(
      transaction: Transaction,
      exchangeId: string,
      amountPicos: bigint,
    ): Promise<void> {
      await credit(transaction, {
        accountId,
        kind: 'refund',
        amountPicos: picos(amountPicos),
        reference: `refund:${exchangeId}`,
        atMs: harness.clock.now(),
      })
      const charged = "day = '2026-11-21' AND account_id = $1"
      for (const update of [
        `usage_month SET cost_picos = cost_picos - $2 WHERE account_id = $1`,
        `usage_key_month SET cost_picos = cost_picos - $2 WHERE account_id = $1`,
        `report_day SET refunded_picos = refunded_picos + $2,
           unknown_cost_revenue_picos = unknown_cost_revenue_picos - $2 WHERE ${charged}`,
      ])
        await transaction.query(`UPDATE ${update}`, [accountId, picos(amountPicos)])
    }
  })
}

const withCacheWrites = {
  parts: [
    {
      counts: { input: 10, output: 20, cache_read: 3, cache_write_5m: 4, cache_write_1h: 8 },
      promptTokens: 25,
    },
  ],
  reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 15 },
}

/** The key, and all sums that are not zero. */
function named(row: Row): string {
  const { day, account_id, key_id, model, channel, label, ...sums } = row
  void [day, account_id, model, label]
  const texts = Object.entries(sums)
    .filter(([, value]) => value !== 0n)
    .map(([column, value]) => `${String(value)} ${column}`)
  return `${String(key_id)} ${String(channel)} ${texts.join(' ')}`
}
