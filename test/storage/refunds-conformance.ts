/**
 * What refunds do to balance, figures, statements and limits, as one suite over both stores. Exchanges are
 * booked by the ledger itself; amounts are bare pico-dollars, so that each figure can be checked in the
 * head. After each test the audit derives all figures again.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GatewayError } from '../../src/base/errors.ts'
import { noKeyLimits, type KeyLimits } from '../../src/base/key-limits.ts'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { balanceMax } from '../../src/ledger/entry-store.ts'
import { removeOldExchanges, saveExchangeCut } from '../../src/ledger/exchange-retention.ts'
import type { ExchangeRecord, Hold } from '../../src/ledger/ledger.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import type { Refunded } from '../../src/operations/requests/refunds.ts'
import { changeAccount, recentActions, refundRequest } from '../support/operations.ts'
import { readStatement } from '../support/statement.ts'
import {
  addCredit,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  readBalance,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const openingPicos = 1_000n

type Figures = Readonly<Record<string, readonly string[]>>

export function describeRefunds(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    let hasOddPrices: boolean
    beforeEach(async () => {
      harness = await open()
      hasOddPrices = false
      context = {
        database: harness.database,
        clock: harness.clock,
        actor: 'test',
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => undefined,
        runCheck: noCheck,
      }
      accountId = await makeAccount(harness, { balancePicos: openingPicos })
    })
    afterEach(async () => {
      try {
        if (!hasOddPrices) assert.deepEqual(await findDifferences(harness.database), [])
      } finally {
        await harness.close()
      }
    })

    const begin = (): Promise<Hold> =>
      mustPlace(harness.ledger, holdRequest(harness, accountId, 50n))
    /** Ends it now, by the clock. */
    const end = async (
      hold: Hold,
      amountPicos: bigint,
      changes: Partial<ExchangeRecord> = {},
    ): Promise<string> => {
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs, ...changes }))
      return hold.exchangeId
    }
    const chargeNow = async (
      amountPicos: bigint,
      changes?: Partial<ExchangeRecord>,
    ): Promise<string> => end(await begin(), amountPicos, changes)

    const refund = (request: string, amountPicos?: bigint, reason?: string): Promise<Refunded> =>
      refundRequest(context, {
        request,
        ...(amountPicos !== undefined && { amount_usd: formatUsd(picos(amountPicos)) }),
        ...(reason !== undefined && { reason }),
      })
    const refuses = (work: () => Promise<unknown>, code: string, message: RegExp): Promise<void> =>
      assert.rejects(work, (error) => {
        assert.ok(error instanceof GatewayError, String(error))
        assert.equal(error.code, code, error.message)
        assert.match(error.message, message)
        return true
      })
    const balance = (): Promise<bigint | undefined> => readBalance(harness, accountId)

    /** Requests, input tokens and cost by key of each table of figures. */
    const figures = async (): Promise<Figures> => {
      const read = async (sql: string): Promise<readonly string[]> =>
        (await harness.database.query(sql, [accountId])).map((row) => Object.values(row).join(' '))
      return {
        day: await read(
          `SELECT day, key_id, SUM(charged_requests) AS requests, SUM(input_tokens) AS input_tokens,
                  SUM(revenue_picos - refunded_picos) AS cost_picos
             FROM report_day WHERE account_id = $1
            GROUP BY day, key_id, model ORDER BY day, key_id, model`,
        ),
        month: await read(
          `SELECT month, requests, input_tokens, cost_picos FROM usage_month
            WHERE account_id = $1 ORDER BY month, model`,
        ),
        key: await read(
          `SELECT key_id, month, cost_picos FROM usage_key_month
            WHERE account_id = $1 ORDER BY key_id, month`,
        ),
        report: await read(
          `SELECT day, key_id, channel, charged_requests, revenue_picos, refunded_picos
             FROM report_day WHERE account_id = $1 ORDER BY day, key_id, model, channel`,
        ),
      }
    }

    it('give a charge back to the balance and to the figures of its day, month and key', async () => {
      await chargeNow(7n)
      const exchangeId = await chargeNow(30n)
      const refunded = await refund(exchangeId, undefined, 'wrong language')
      assert.deepEqual(refunded, {
        request_id: exchangeId,
        account_id: accountId,
        account: refunded.account,
        charge_usd: '0.00000000003',
        amount_usd: '0.00000000003',
        reason: 'wrong language',
        refunded_at: new Date(harness.clock.now()).toISOString(),
        balance_usd: '0.000000000993',
        repeated: false,
      })
      assert.equal(await balance(), 993n)
      assert.deepEqual(await figures(), {
        day: ['2026-11-21 key_one 2 20 7'],
        month: ['2026-11 2 20 7', 'total 2 20 7'],
        key: ['key_one 2026-11 7', 'key_one total 7'],
        report: ['2026-11-21 key_one alpha-main 2 37 30'],
      })
      const usage = await harness.ledger.usage(accountId, 'day', harness.clock.now())
      assert.equal(usage?.dailyUsedPicos, 7n)
      const [action] = await recentActions(context, { limit: 1 })
      assert.deepEqual(
        [action?.action, action?.subject, action?.detail],
        [
          'account.refund',
          accountId,
          {
            request_id: exchangeId,
            charge_usd: '0.00000000003',
            amount_usd: '0.00000000003',
            reason: 'wrong language',
          },
        ],
      )
    })

    it('give back a part, and then nothing more', async () => {
      const exchangeId = await chargeNow(30n)
      assert.equal((await refund(exchangeId, 1n)).amount_usd, '0.000000000001')
      assert.equal(await balance(), 971n)
      const again = await refund(exchangeId, 1n)
      assert.deepEqual([again.repeated, again.balance_usd], [true, '0.000000000971'])
      const said =
        /gave back 0\.000000000001 USD on 2026-11-21T.*, without a reason, of the request ex_/
      for (const amount of [undefined, 2n, 29n, 30n])
        await refuses(() => refund(exchangeId, amount), 'operations.conflict', said)
      await refuses(() => refund(exchangeId, 1n, 'late'), 'operations.conflict', said)
      assert.equal(await balance(), 971n)
      assert.deepEqual((await figures())['report'], ['2026-11-21 key_one alpha-main 1 30 1'])
      const actions = await recentActions(context, {})
      assert.equal(actions.filter(({ action }) => action === 'account.refund').length, 1)
    })

    it('answer the same request the same again, also much later', async () => {
      const exchangeId = await chargeNow(30n)
      const first = await refund(exchangeId, undefined, 'broken')
      harness.clock.advance(3 * dayMs)
      assert.deepEqual(await refund(exchangeId, undefined, 'broken'), { ...first, repeated: true })
      assert.equal(await balance(), 1_000n)
    })

    it('never give back more than the charge', async () => {
      const exchangeId = await chargeNow(30n)
      await refuses(
        () => refund(exchangeId, 31n),
        'operations.invalid',
        /^amount_usd: must be at most the charge of the request, 0\.00000000003 USD$/,
      )
      for (const amount of ['0', '-0.1', '1e-3', '', null])
        await refuses(
          () => refundRequest(context, { request: exchangeId, amount_usd: amount }),
          'operations.invalid',
          /^amount_usd: must be an amount in USD above 0/,
        )
      assert.equal(await balance(), 970n)
      assert.equal((await refund(exchangeId, 30n)).repeated, false)
    })

    it('are for charged requests only', async () => {
      const free = await chargeNow(0n, { ending: 'failed', usage: undefined, channel: undefined })
      await refuses(() => refund(free), 'operations.conflict', /was not charged/)
      const running = await begin()
      await refuses(() => refund(running.exchangeId), 'operations.not_found', /no record of/)
      await refuses(() => refund('ex_nothing'), 'operations.not_found', /account credit NAME USD/)
      await refuses(() => refund(''), 'operations.invalid', /must be the id of a request/)
      await end(running, 5n)
      assert.equal((await refund(running.exchangeId)).amount_usd, '0.000000000005')
    })

    it('find a request by the id of its vendor, if that is unique', async () => {
      const exchangeId = await chargeNow(30n, { vendorRequestId: 'req_1' })
      assert.equal((await refund('req_1')).request_id, exchangeId)
      const twice = { vendorRequestId: 'req_2' }
      const ids = [await chargeNow(1n, twice), await chargeNow(2n, twice)].sort()
      await refuses(() => refund('req_2'), 'operations.conflict', new RegExp(ids.join(', ')))
    })

    it('lower the figures of the day of the charge, not those of the day of the refund', async () => {
      harness.clock.advance(Date.parse('2026-11-30T23:59:59Z') - harness.clock.now())
      const exchangeId = await chargeNow(30n)
      await chargeNow(1n, { keyId: 'key_two' })
      harness.clock.advance(2_000)
      await chargeNow(4n)
      const before = await harness.ledger.usage(accountId, 'day', harness.clock.now())
      await refund(exchangeId)
      assert.deepEqual(await figures(), {
        day: [
          '2026-11-30 key_one 1 10 0',
          '2026-11-30 key_two 1 10 1',
          '2026-12-01 key_one 1 10 4',
        ],
        month: ['2026-11 2 20 1', '2026-12 1 10 4', 'total 3 30 5'],
        key: [
          'key_one 2026-11 0',
          'key_one 2026-12 4',
          'key_one total 4',
          'key_two 2026-11 1',
          'key_two total 1',
        ],
        report: [
          '2026-11-30 key_one alpha-main 1 30 30',
          '2026-11-30 key_two alpha-main 1 1 0',
          '2026-12-01 key_one alpha-main 1 4 0',
        ],
      })
      const after = await harness.ledger.usage(accountId, 'day', harness.clock.now())
      assert.equal(after?.dailyUsedPicos, before?.dailyUsedPicos)
      assert.equal(after?.balancePicos, 995n)
    })

    it('book one of fifty at once', async () => {
      const exchangeId = await chargeNow(30n)
      const refunds = await Promise.all(Array.from({ length: 50 }, () => refund(exchangeId)))
      assert.equal(refunds.filter(({ repeated }) => !repeated).length, 1)
      assert.deepEqual(new Set(refunds.map((one) => one.balance_usd)), new Set(['0.000000001']))
      assert.equal(await balance(), 1_000n)
    })

    it('book one of fifty different ones at once, and refuse the others', async () => {
      const exchangeId = await chargeNow(50n)
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) => refund(exchangeId, BigInt(index + 1))),
      )
      const booked = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      assert.equal(booked.length, 1)
      const [report] = (await figures())['report'] ?? []
      const refunded = BigInt(report?.split(' ').at(-1) ?? 0)
      assert.equal(await balance(), 950n + refunded)
      assert.equal(booked[0]?.amount_usd, formatUsd(picos(refunded)))
    })

    it('are exact while requests of the same account are charged', async () => {
      const charged = await Promise.all(Array.from({ length: 20 }, () => chargeNow(3n)))
      const charging = Array.from({ length: 60 }, async (_, index) => {
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 4n))
        return end(hold, 2n, { keyId: `key_${index % 3}` })
      })
      const [later, refunded] = await Promise.all([
        Promise.all(charging),
        Promise.all(charged.map((exchangeId) => refund(exchangeId, 1n))),
      ])
      await Promise.all(later.map((exchangeId) => refund(exchangeId)))
      assert.ok(refunded.every(({ repeated }) => !repeated))
      assert.equal(await balance(), 1_000n - 20n * 3n + 20n)
      const usage = await harness.ledger.usage(accountId, 'total', harness.clock.now())
      assert.deepEqual(
        usage?.byModel.map(({ requests, costPicos }) => [requests, costPicos]),
        [[80, 40n]],
      )
    })

    it('never make a balance larger than a balance can be', async () => {
      const exchangeId = await chargeNow(30n)
      await addCredit(harness, accountId, balanceMax - 990n)
      await refuses(() => refund(exchangeId), 'operations.conflict', /be above 9000000 USD/)
      assert.equal((await refund(exchangeId, 20n)).balance_usd, '9000000')
    })

    it('pass to suspended and closed accounts', async () => {
      const exchangeIds = [await chargeNow(30n), await chargeNow(20n)]
      for (const [index, status] of (['suspended', 'closed'] as const).entries()) {
        await changeAccount(context, { account: accountId, status })
        assert.equal((await refund(String(exchangeIds[index]))).repeated, false)
      }
      assert.equal(await balance(), 1_000n)
    })

    it('end with the record of the request', async () => {
      const exchangeId = await chargeNow(30n)
      const later = await chargeNow(5n)
      await refund(later)
      harness.clock.advance(40 * dayMs)
      const cutMs = Math.floor(harness.clock.now() / dayMs) * dayMs - 30 * dayMs
      // Nothing is removed yet, but the day may be incomplete at any moment.
      await harness.database.transact((transaction) =>
        saveExchangeCut(transaction, { cutMs, decidedAtMs: harness.clock.now() }),
      )
      await refuses(() => refund(exchangeId), 'operations.not_found', /kept for request_retention/)
      assert.deepEqual(await findDifferences(harness.database), [])
      const keepMs = 30 * dayMs
      const pause = (): Promise<void> => Promise.resolve()
      await removeOldExchanges(harness.database, { nowMs: harness.clock.now(), keepMs, pause })
      await refuses(() => refund(exchangeId), 'operations.not_found', /kept for request_retention/)
    })

    describe('give limits back at once', () => {
      const place = (amountPicos: bigint, keyLimits: Partial<KeyLimits> = {}) => {
        const changes = { keyLimits: { ...noKeyLimits, ...keyLimits } }
        return harness.ledger.place(holdRequest(harness, accountId, amountPicos, changes))
      }
      const chargeOf = async (amountPicos: bigint): Promise<string> => {
        const hold = await place(amountPicos)
        assert.ok(hold.kind === 'hold', hold.kind)
        return end(hold, amountPicos)
      }
      const used = async (
        placing: ReturnType<typeof place>,
      ): Promise<readonly [string, string, bigint] | string> => {
        const refused = await placing
        return refused.kind === 'spending_limit'
          ? [refused.scope, refused.period, refused.usedPicos]
          : refused.kind
      }

      it('the daily limit of the account', async () => {
        accountId = await makeAccount(harness, { balancePicos: 1_000n, dailyLimitPicos: 100n })
        const exchangeId = await chargeOf(60n)
        await chargeOf(40n)
        assert.deepEqual(await used(place(1n)), ['account', 'day', 100n])
        await refund(exchangeId, 20n)
        await harness.becomeCurrent()
        assert.deepEqual(await used(place(21n)), ['account', 'day', 80n])
        assert.equal(await used(place(20n)), 'hold')
      })

      it('while a charge of the account is under way', async () => {
        accountId = await makeAccount(harness, { balancePicos: 1_000n, dailyLimitPicos: 100n })
        const exchangeId = await chargeOf(60n)
        const running = chargeOf(30n)
        const [refunded] = await Promise.all([
          refund(exchangeId).then(() => harness.becomeCurrent()),
          running,
        ])
        assert.equal(refunded, undefined)
        assert.deepEqual(await used(place(71n)), ['account', 'day', 30n])
        assert.equal(await used(place(70n)), 'hold')
      })

      for (const [period, limit] of [
        ['day', 'dailyPicos'],
        ['month', 'monthlyPicos'],
        ['total', 'totalPicos'],
      ] as const)
        it(`the limit of a key per ${period}`, async () => {
          const limits = { [limit]: picos(100n) }
          const exchangeId = await chargeOf(60n)
          await chargeOf(40n)
          assert.deepEqual(await used(place(1n, limits)), ['key', period, 100n])
          await refund(exchangeId, 20n)
          await harness.becomeCurrent()
          assert.deepEqual(await used(place(21n, limits)), ['key', period, 80n])
          assert.equal(await used(place(20n, limits)), 'hold')
        })

      it('of the day and month of the charge only', async () => {
        harness.clock.advance(Date.parse('2026-11-30T23:59:59Z') - harness.clock.now())
        const exchangeId = await chargeOf(60n)
        harness.clock.advance(2_000)
        await chargeOf(40n)
        await refund(exchangeId)
        await harness.becomeCurrent()
        const limit = picos(50n)
        assert.deepEqual(await used(place(11n, { dailyPicos: limit })), ['key', 'day', 40n])
        assert.deepEqual(await used(place(11n, { monthlyPicos: limit })), ['key', 'month', 40n])
        assert.deepEqual(await used(place(11n, { totalPicos: limit })), ['key', 'total', 40n])
      })
    })

    it('stand in the statement, which still adds up', async () => {
      hasOddPrices = true
      const priced = { priceLines: '{"parts":[]}' }
      const exchangeId = await chargeNow(30n, priced)
      harness.clock.advance(dayMs)
      await chargeNow(5n, priced)
      harness.clock.advance(dayMs)
      await refund(exchangeId, 10n, 'late answer')
      const whole = await readStatement(context, { account: accountId })
      assert.deepEqual(
        whole.lines.map((line) => [line.kind, line.amount, line.balance, line.request, line.note]),
        [
          ['adjustment', '0.000000001', '0.000000001', null, null],
          ['charge', '-0.00000000003', '0.00000000097', exchangeId, null],
          ['charge', '-0.000000000005', '0.000000000965', whole.lines[2]?.reference, null],
          ['refund', '0.00000000001', '0.000000000975', exchangeId, 'late answer'],
        ],
      )
      const { totals, sum } = whole.end
      assert.deepEqual(
        [totals.charged, totals.refunded, totals.booked_by_operators, sum, whole.end.balance_usd],
        ['0.000000000035', '0.00000000001', '0.00000000101', '0.000000000975', 9.75e-10],
      )
      for (const [period, opening, closing] of [
        [{ to: '2026-11-21' }, '0', '0.00000000097'],
        [{ from: '2026-11-22' }, '0.00000000097', '0.000000000975'],
        [{ from: '2026-11-22', to: '2026-11-22' }, '0.00000000097', '0.000000000965'],
        [{ from: '2026-11-23' }, '0.000000000965', '0.000000000975'],
        [{ from: '2026-11-24' }, '0.000000000975', '0.000000000975'],
      ] as const) {
        const part = await readStatement(context, { account: accountId, ...period })
        assert.deepEqual([part.head.opening_balance, part.end.closing_balance], [opening, closing])
      }
    })
  })
}
