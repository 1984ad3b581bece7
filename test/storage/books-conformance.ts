/**
 * What an operator reads from the books, statements and reconciliations, as one suite over both stores.
 * Exchanges are booked by the ledger itself; amounts are bare pico-dollars, so that each figure can be
 * checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { ExchangeRecord, Hold } from '../../src/ledger/ledger.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { Reconciliation } from '../../src/operations/reconcile/reconcile.ts'
import type { ModelVerdict } from '../../src/operations/reconcile/vendor-comparison.ts'
import { readStatement } from '../support/statement.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'
import { applyCatalogue, reconcileChannel } from '../support/operations.ts'

const secondMs = 1_000
const hourMs = 3_600 * secondMs
const dayMs = 24 * hourMs
const openingPicos = 1_000n

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
    const verdictsOf = ({ comparison }: Reconciliation): readonly ModelVerdict[] => {
      assert.ok(comparison !== null)
      return comparison.verdicts
    }

    describe('a vendor that counted more than was charged', () => {
      beforeEach(async () => {
        await applyCatalogue(context, { text: catalogue })
        await chargeNow(1n, { model: 'bare-1' })
      })
      const served = { model: 'bare-1', requests: 1, input: 10, output: 20, cache_read: 5 }

      for (const [figure, count, worthUsd] of [
        ['cache_read_input_tokens', 100_000_000, '200'],
        ['cache_creation_input_tokens', 100_000_000, '250'],
        ['cached_tokens', 100_000_000, '200'],
        ['output_audio', 1_000_000, '64'],
        ['web_search', 1_000, '10'],
      ] as const)
        it(`is not explained by a price that is left out: ${figure}`, async () => {
          const { cache_read, ...others } = served
          const ours =
            figure.startsWith('cache_read') || figure === 'cached_tokens' ? cache_read : 0
          const [verdict] = verdictsOf(
            await reconcile('all', { ...others, [figure]: ours + count }),
          )
          assert.deepEqual([verdict?.verdict, verdict?.difference_usd], ['unexplained', worthUsd])
        })

      it('is explained by nothing where the model has no price', async () => {
        const counts = { input: 10, output: 20 }
        await chargeNow(1n, {
          model: 'bare-1',
          usage: {
            parts: [{ model: 'stranger-1', counts, promptTokens: 10 }],
            reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 0 },
          },
        })
        const stranger = { model: 'stranger-1', ...counts }
        const agreed = verdictsOf(await reconcile('all', { ...served, requests: 2 }, stranger))
        assert.deepEqual(
          agreed.map(({ model, verdict }) => [model, verdict]),
          [
            ['bare-1', 'explained'],
            ['stranger-1', 'explained'],
          ],
        )
        const [verdict] = verdictsOf(await reconcile('all', { ...stranger, output: 21 }))
        assert.equal(verdict?.verdict, 'unexplained')
        assert.match(
          verdict.reasons.join(),
          /the vendor counted 1 output more, and the model has no price/,
        )
      })
    })

    describe('two models that a channel has one name for', () => {
      const counts = { input: 10, output: 5 }
      const chargeBoth = async (channel: string, served: string): Promise<void> => {
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
      }
      const both = { requests: 2, input: 20, output: 10 }

      for (const [channel, served] of [
        ['alpha-renamed', 'vendor-big-2026-01-01'],
        ['alpha-shared', 'one-1'],
      ] as const)
        it(`are compared together, each with its charges: ${served}`, async () => {
          await chargeBoth(channel, served)
          const result = await reconcile(channel, { model: served, ...both })
          assert.deepEqual(
            result.models.map((row) => [row.model, row.charged_requests, row.charged_tokens]),
            [
              ['one-1', 1, counts],
              ['other-1', 1, counts],
            ],
          )
          assert.deepEqual(result.comparison?.unknown_models, [])
          assert.deepEqual(
            result.comparison.figures.map(({ model, figure, ours }) => [model, figure, ours]),
            [
              ['one-1 + other-1', 'requests', 2],
              ['one-1 + other-1', 'input', 20],
              ['one-1 + other-1', 'output', 10],
            ],
          )
          assert.deepEqual(
            verdictsOf(result).map((one) => [one.verdict, one.models, one.vendor_models]),
            [['explained', ['one-1', 'other-1'], [served]]],
          )
        })

      it('are not explained where the vendor counted other than both together', async () => {
        await chargeBoth('alpha-renamed', 'vendor-big')
        for (const [change, reason] of [
          [{ requests: 3 }, /the vendor counted 1 requests that are not explained/],
          [{ output: 9 }, /the gateway charged 1 output more than the vendor counted/],
          // At the lower one of the two prices: whose tokens they are is not known.
          [{ input: 1_000_020 }, /the vendor counted tokens worth 2 USD that are not explained/],
        ] as const) {
          const changed = { model: 'vendor-big', ...both, ...change }
          const [verdict] = verdictsOf(await reconcile('alpha-renamed', changed))
          assert.equal(verdict?.verdict, 'unexplained')
          assert.match(verdict.reasons.join(), reason)
        }
      })
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
          models.map((row) => [row.model, row.charged_requests]),
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
        assert.deepEqual(
          verdictsOf(after).map(({ verdict }) => verdict),
          ['explained'],
        )
      })
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
      assert.deepEqual(await of(5), await of())
    })

    describe('a clock that is set while an exchange runs', () => {
      /** The balance before, what was charged, and the balance after. */
      const statementOf = async (from: string, to: string): Promise<readonly unknown[]> => {
        const {
          head,
          lines,
          end: last,
        } = await readStatement(context, { account: accountId, from, to })
        const charges = lines.filter(({ kind }) => kind === 'charge')
        return [
          head.opening_balance,
          charges.map(({ reference }) => reference),
          last.closing_balance,
        ]
      }
      const chargedOn = async (day: string): Promise<number> => {
        const { models } = await reconcileChannel(context, { channel: 'all', from: day, to: day })
        return models.reduce((sum, row) => sum + row.charged_requests, 0)
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
