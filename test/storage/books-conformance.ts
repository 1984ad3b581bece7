/**
 * What an operator reads from the books, statements and reconciliations, as one suite over both stores.
 * Exchanges are booked by the ledger itself; amounts are bare pico-dollars, so that each figure can be
 * checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatUsd, parseUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { ExchangeRecord, Hold } from '../../src/ledger/ledger.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { Reconciliation } from '../../src/operations/reconcile/reconcile.ts'
import { readStatement } from '../support/statement.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'
import {
  applyCatalogue,
  creditAccount,
  reconcileChannel,
  refundRequest,
  statementFigures,
} from '../support/operations.ts'

const secondMs = 1_000
const hourMs = 3_600 * secondMs
const dayMs = 24 * hourMs
const openingPicos = 1_000n

const usd = (amount: bigint): string => formatUsd(picos(amount))

type VendorRow = Readonly<Record<string, string | number>>

const catalogue = `
vendors:
  alpha: { format: messages, credential: x-api-key }
models:
  bare-1: { vendor: alpha, price: { input: 2, output: 8 } }
  one-1: { vendor: alpha, price: { input: 3, output: 10 } }
  other-1: { vendor: alpha, price: { input: 2, output: 12 } }
channels:
  alpha-main:
    vendor: alpha
    url: https://vendor.example
    credential: env:ALPHA_KEY
    models: [bare-1]
  alpha-renamed:
    vendor: alpha
    url: https://renamed.example
    credential: env:ALPHA_KEY
    models: { one-1: vendor-big, other-1: vendor-big }
  alpha-shared:
    vendor: alpha
    url: https://shared.example
    credential: env:ALPHA_KEY
    models: { one-1: one-1, other-1: one-1 }
`

export function describeBooks(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    beforeEach(async () => {
      harness = await open()
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
    afterEach(() => harness.close())

    const begin = (): Promise<Hold> =>
      mustPlace(harness.ledger, holdRequest(harness, accountId, 100n))
    /** Ends it now, by the clock. */
    const end = async (
      hold: Hold,
      amountPicos: bigint,
      changes: Partial<ExchangeRecord> = {},
    ): Promise<string> => {
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(
        hold,
        recordOf(hold, amountPicos, { endedAtMs, priceLines: '{"parts":[]}', ...changes }),
      )
      return hold.exchangeId
    }
    const chargeNow = async (
      amountPicos: bigint,
      changes?: Partial<ExchangeRecord>,
    ): Promise<string> => end(await begin(), amountPicos, changes)

    /** Of the first day, with what the vendor counted on it. */
    const reconcile = (channel: string, ...vendor: readonly VendorRow[]): Promise<Reconciliation> =>
      reconcileChannel(context, {
        channel,
        from: '2026-11-21',
        to: '2026-11-21',
        vendor_counts: JSON.stringify(vendor),
      })
    const countsOf = ({ models }: Reconciliation): readonly unknown[] =>
      models.map(({ model, counts }) => [
        model,
        ...counts.map(({ figure, vendor, expected }) => [figure, vendor, expected]),
      ])

    describe('what a vendor counted and bills', () => {
      beforeEach(async () => {
        await applyCatalogue(context, { text: catalogue })
        await chargeNow(1n, { model: 'bare-1' })
      })
      const served = { model: 'bare-1', requests: 1, input: 10, output: 20, cache_read: 5 }

      for (const [figure, ours] of [
        ['cache_read_input_tokens', 5],
        ['cache_creation_input_tokens', 0],
        ['cached_tokens', 5],
        ['prompt_tokens', 15],
        ['web_search', 0],
      ] as const)
        it(`is shown beside our own sum of the same classes: ${figure}`, async () => {
          const { models } = await reconcile('all', { model: 'bare-1', [figure]: 100 })
          const compared = models[0]?.counts.find((one) => one.figure === figure)
          assert.deepEqual([compared?.vendor, compared?.expected], [100, ours])
        })

      it('is expected to be the own cost, or the charge without one, and what was not charged', async () => {
        const known = { model: 'one-1', isOwnCostKnown: true, ownCostPicos: picos(7n) }
        await chargeNow(10n, known)
        await chargeNow(0n, { ...known, operatorCostPicos: picos(2n) })
        const bill = { model: 'one-1', cost_usd: '0.00000000002' }
        const result = await reconcile('all', { ...served, cost_usd: '0.000000000001' }, bill)
        assert.deepEqual(
          result.models.map((row) => [row.model, row.charged_usd, row.expected_usd]),
          [
            ['bare-1', usd(1n), usd(1n)],
            ['one-1', usd(10n), usd(16n)],
          ],
        )
        const { vendor_usd, expected_usd, difference_usd } = result
        assert.deepEqual([vendor_usd, expected_usd, difference_usd], [21n, 17n, 4n].map(usd))
      })

      it('has no difference in USD where no file names a cost', async () => {
        const { vendor_usd, expected_usd, difference_usd } = await reconcile('all', served)
        assert.deepEqual([vendor_usd, expected_usd, difference_usd], [null, usd(1n), null])
      })

      it('is shown under the model that served, also where that one has no price', async () => {
        const counts = { input: 10, output: 20 }
        await chargeNow(1n, {
          model: 'bare-1',
          usage: {
            parts: [{ model: 'stranger-1', counts, promptTokens: 10 }],
            reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 0 },
          },
        })
        const stranger = { model: 'stranger-1', input: 10, output: 21 }
        assert.deepEqual(countsOf(await reconcile('all', { ...served, requests: 2 }, stranger)), [
          [
            'bare-1',
            ['requests', 2, 2],
            ['input', 10, 10],
            ['output', 20, 20],
            ['cache_read', 5, 5],
          ],
          ['stranger-1', ['input', 10, 10], ['output', 21, 20]],
        ])
      })
    })

    for (const [channel, served] of [
      ['alpha-renamed', 'vendor-big-2026-01-01'],
      ['alpha-shared', 'one-1'],
    ] as const)
      it(`compare two models together for which a channel has one name: ${served}`, async () => {
        const counts = { input: 10, output: 5 }
        await applyCatalogue(context, { text: catalogue })
        for (const model of ['one-1', 'other-1'])
          await chargeNow(1n, {
            model,
            channel,
            usage: {
              parts: [{ model: served, counts, promptTokens: 10 }],
              reported: { inputTokens: 10, outputTokens: 5, cacheTokens: 0 },
            },
          })
        const both = { model: served, requests: 2, input: 20, output: 9 }
        const result = await reconcile(channel, both)
        assert.deepEqual(countsOf(result), [
          ['one-1 + other-1', ['requests', 2, 2], ['input', 20, 20], ['output', 9, 10]],
        ])
        assert.deepEqual(
          result.models.map((row) => [row.models, row.vendor_models]),
          [[['one-1', 'other-1'], [served]]],
        )
      })

    describe('days of which exchanges are no longer kept', () => {
      const of = (from: string, to: string, vendor?: VendorRow): Promise<Reconciliation> =>
        reconcileChannel(context, {
          channel: 'all',
          from,
          to,
          ...(vendor !== undefined && { vendor_counts: JSON.stringify([vendor]) }),
        })
      const served = { model: 'bare-1', requests: 1, input: 10, output: 20 }

      beforeEach(async () => {
        await applyCatalogue(context, { text: catalogue })
        for (let day = 0; day < 4; day++) {
          await chargeNow(1n, { model: 'bare-1' })
          harness.clock.advance(dayMs)
        }
        const { cutMs } = await removeOldExchanges(harness.database, {
          nowMs: harness.clock.now(),
          keepMs: 2 * dayMs,
          pause: () => Promise.resolve(),
        })
        assert.equal(new Date(cutMs).toISOString(), '2026-11-23T00:00:00.000Z')
      })

      it('are reported, and the days after them are shown', async () => {
        const { explained_from, models } = await of('2026-11-21', '2026-11-23')
        assert.equal(explained_from, '2026-11-23T00:00:00.000Z')
        assert.deepEqual(
          models.map(({ model, counts }) => [model, counts[0]?.expected]),
          [['bare-1', 1]],
        )
      })

      it('are no reason to blame a vendor', async () => {
        await assert.rejects(
          of('2026-11-22', '2026-11-23', { ...served, requests: 2, input: 20, output: 40 }),
          /from: exchanges before 2026-11-23T00:00:00.000Z are no longer kept/,
        )
        for (const vendor of [served, undefined])
          await assert.rejects(
            of('2026-11-21', '2026-11-22', vendor),
            /to: exchanges before 2026-11-23T00:00:00.000Z are no longer kept/,
          )
      })

      it('are nothing to those after them', async () => {
        const after = await of('2026-11-23', '2026-11-23', served)
        assert.equal(after.explained_from, null)
        assert.deepEqual(countsOf(after).flat()[1], ['requests', 1, 1])
      })
    })

    it('have the figures of a statement for its whole period, however few lines are read', async () => {
      for (const amountPicos of [1n, 2n]) await chargeNow(amountPicos)
      for (const amount_usd of ['32', '-8'])
        await creditAccount(context, { account: accountId, amount_usd, reference: amount_usd })
      harness.clock.advance(dayMs)
      await refundRequest(context, { request: await chargeNow(4n), amount_usd: usd(3n) })
      const day = new Date(harness.clock.now()).toISOString().slice(0, 10)
      const before = new Date(harness.clock.now() - dayMs).toISOString()
      for (const period of [{}, { from: day }, { to: before }, { from: before, to: day }])
        await agreesWithFigures(period)
      const figures = await statementFigures(context, { account: accountId, from: day })
      assert.deepEqual(
        [figures.requests, figures.charged_usd, figures.refunds_usd, figures.credits_usd],
        [1, usd(4n), usd(3n), '0'],
      )
    })

    it('have statements of their end only, with all that was booked since', async () => {
      const long = await begin()
      const charged: string[] = []
      for (const amountPicos of [1n, 2n, 4n]) {
        harness.clock.advance(secondMs)
        charged.push(await chargeNow(amountPicos))
      }
      // Of the last three it began first, and ended last.
      harness.clock.advance(secondMs)
      charged.push(await end(long, 8n))
      const of = (last?: number) => readStatement(context, { account: accountId, last })
      const { head, lines, end: closing } = await of(2)
      assert.deepEqual(
        lines.map(({ reference }) => reference),
        charged.slice(1),
      )
      assert.equal(head.from, new Date(harness.clock.now() - 2 * secondMs).toISOString())
      const amounts = [head.opening_balance, closing.sum, closing.closing_balance]
      const expected = [999n, -14n, 985n].map((amount) => formatUsd(picos(amount)))
      assert.deepEqual(amounts, expected)
      const { end: whole, ...others } = await of()
      assert.deepEqual(await of(5), { ...others, end: { ...whole, proof: null } })
    })

    /** The figures of a period are those of its whole statement. */
    const agreesWithFigures = async (period: { from?: string; to?: string }): Promise<void> => {
      const asked = { account: accountId, ...period }
      const { head, lines, end: closing } = await readStatement(context, asked)
      const figures = await statementFigures(context, asked)
      const sumOf = (wanted: string): string =>
        usd(
          lines
            .filter(({ kind }) => kind === wanted)
            .reduce((sum, { amount }) => sum + (parseUsd(amount) ?? 0n), 0n),
        )
      assert.deepEqual(figures, {
        account_id: accountId,
        from: head.from,
        to: head.to,
        opening_balance_usd: head.opening_balance,
        requests: closing.totals.requests,
        charged_usd: closing.totals.charged,
        refunds_usd: closing.totals.refunded,
        credits_usd: sumOf('credit'),
        adjustments_usd: sumOf('adjustment'),
        closing_balance_usd: closing.closing_balance,
      })
    }

    describe('a clock that is set while an exchange runs', () => {
      /** The balance before, what was charged, and the balance after. */
      const statementOf = async (from: string, to: string): Promise<readonly unknown[]> => {
        const {
          head,
          lines,
          end: last,
        } = await readStatement(context, { account: accountId, from, to })
        const charges = lines.filter(({ kind }) => kind === 'charge')
        await agreesWithFigures({ from, to })
        return [
          head.opening_balance,
          charges.map(({ reference }) => reference),
          last.closing_balance,
        ]
      }
      const chargedOn = async (day: string): Promise<number> => {
        const { models } = await reconcileChannel(context, { channel: 'all', from: day, to: day })
        return models.reduce((sum, { counts }) => sum + (counts[0]?.expected ?? 0), 0)
      }
      const left = (chargedPicos: bigint): string => formatUsd(picos(openingPicos - chargedPicos))
      const noon = Date.parse('2026-11-21T12:00:00Z')
      const set = (atMs: number): void => harness.clock.jumpWallTime(atMs - harness.clock.now())

      it('leaves its charge to the day on which it ended, before the one on which it began', async () => {
        const first = await chargeNow(1n)
        set(noon + 12 * hourMs + 2 * secondMs)
        const hold = await begin()
        set(noon + 12 * hourMs - 2 * secondMs)
        const turned = await end(hold, 2n)
        set(noon + dayMs)
        const second = await chargeNow(4n)

        assert.deepEqual(await statementOf('2026-11-21', '2026-11-21'), [
          '0',
          [first, turned],
          left(3n),
        ])
        assert.deepEqual(await statementOf('2026-11-22', '2026-11-22'), [
          left(3n),
          [second],
          left(7n),
        ])
        // Also where the statement begins within the day, between its end and its beginning.
        assert.deepEqual(await statementOf('2026-11-21T23:59:59Z', '2026-11-22T00:00:00Z'), [
          left(3n),
          [],
          left(3n),
        ])
        assert.deepEqual([await chargedOn('2026-11-21'), await chargedOn('2026-11-22')], [2, 1])
      })

      it('loses no charge where it is set forward by days', async () => {
        const first = await chargeNow(1n)
        const hold = await begin()
        set(noon + 3 * dayMs)
        const moved = await end(hold, 2n)
        set(noon + 3 * dayMs + hourMs)
        const later = await chargeNow(4n)

        assert.deepEqual(await statementOf('2026-11-21', '2026-11-23'), ['0', [first], left(1n)])
        assert.deepEqual(await statementOf('2026-11-24', '2026-11-24'), [
          left(1n),
          [moved, later],
          left(7n),
        ])
        assert.equal((await statementOf('2026-11-24T12:30:00Z', '2026-11-25'))[0], left(3n))
        assert.deepEqual([await chargedOn('2026-11-21'), await chargedOn('2026-11-24')], [1, 2])
      })

      it('loses no charge where it is set back by days, and shows it in its place', async () => {
        const hold = await begin()
        set(noon - 3 * dayMs)
        const moved = await end(hold, 2n)
        set(noon - 3 * dayMs + hourMs)
        const later = await chargeNow(4n)

        assert.deepEqual(await statementOf('2026-11-18', '2026-11-18'), [
          '0',
          [moved, later],
          formatUsd(picos(-6n)),
        ])
        assert.deepEqual(await statementOf('2026-11-21', '2026-11-21'), [
          formatUsd(picos(-6n)),
          [],
          left(6n),
        ])
        assert.deepEqual([await chargedOn('2026-11-18'), await chargedOn('2026-11-21')], [2, 0])
      })
    })
  })
}
