/**
 * What an operator reads from the books, statements and reconciliations, as one suite over both stores.
 * Exchanges are booked by the ledger itself; amounts are bare pico-dollars, so that each figure can be
 * checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import type { Hold } from '../../src/ledger/ledger.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { reconcileChannel } from '../../src/operations/reconcile.ts'
import { readStatement } from '../support/statement.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const secondMs = 1_000
const hourMs = 3_600 * secondMs
const dayMs = 24 * hourMs
const openingPicos = 1_000n

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
      }
      accountId = await makeAccount(harness, { balancePicos: openingPicos })
    })
    afterEach(() => harness.close())

    const begin = (): Promise<Hold> =>
      mustPlace(harness.ledger, holdRequest(harness, accountId, 100n))
    /** Ends it now, by the clock. */
    const end = async (hold: Hold, amountPicos: bigint): Promise<string> => {
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(
        hold,
        recordOf(hold, amountPicos, { endedAtMs, priceLines: '{"parts":[]}' }),
      )
      return hold.exchangeId
    }
    const chargeNow = async (amountPicos: bigint): Promise<string> =>
      end(await begin(), amountPicos)

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
