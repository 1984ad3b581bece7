/**
 * The limits of keys, and tokens per minute, as every implementation of the Ledger has to keep them. One
 * suite over a factory; amounts are bare pico-dollars.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { insertKey } from '../../src/access/key-store.ts'
import { newId } from '../../src/base/id.ts'
import { noKeyLimits, type KeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import type { Hold, HoldRefusal, HoldRequest } from '../../src/ledger/ledger.ts'
import { findBilledExchanges, refund } from '../../src/ledger/refund-store.ts'
import {
  addCredit,
  charge,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

const periods = [
  { period: 'day', field: 'dailyPicos' },
  { period: 'month', field: 'monthlyPicos' },
  { period: 'total', field: 'totalPicos' },
] as const

export function describeLimits(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      accountId = await makeAccount(harness, { balancePicos: 10_000n })
    })
    afterEach(async () => {
      try {
        assert.deepEqual(await findDifferences(harness.database), [])
      } finally {
        await harness.close()
      }
    })

    const requestOf = (
      amountPicos: bigint,
      limits: Partial<KeyLimits>,
      changes: Partial<HoldRequest> = {},
    ): HoldRequest =>
      holdRequest(harness, accountId, amountPicos, {
        keyLimits: { ...noKeyLimits, ...limits },
        ...changes,
      })
    const place = async (
      amountPicos: bigint,
      limits: Partial<KeyLimits>,
      changes: Partial<HoldRequest> = {},
    ): Promise<Hold | HoldRefusal> => harness.ledger.place(requestOf(amountPicos, limits, changes))
    const kindOf = async (...given: Parameters<typeof place>): Promise<string> =>
      (await place(...given)).kind
    const settle = (hold: Hold, amountPicos: bigint): Promise<void> =>
      harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs: harness.clock.now() }))
    const advanceTo = (moment: string): void =>
      harness.clock.advance(Date.parse(moment) - harness.clock.now())
    const giveBack = async ({ exchangeId }: Hold, amountPicos: bigint): Promise<void> => {
      await harness.database.transact(async (transaction) => {
        const [exchange] = await findBilledExchanges(transaction, exchangeId)
        assert.ok(exchange !== undefined)
        const atMs = harness.clock.now()
        const given = { exchange, amountPicos: picos(amountPicos), atMs }
        assert.equal((await refund(transaction, given)).kind, 'booked')
      })
      await harness.becomeCurrent()
    }
    const makeKey = async (limits: Partial<KeyLimits>): Promise<string> => {
      const createdAtMs = harness.clock.now()
      const id = newId('key', createdAtMs)
      await harness.database.transact((transaction) =>
        insertKey(transaction, {
          id,
          kind: 'client',
          accountId,
          name: '',
          head: 'cr_test…',
          secretHash: id,
          allowedModels: undefined,
          ipRanges: undefined,
          limits: { ...noKeyLimits, ...limits },
          createdAtMs,
          expiresAtMs: undefined,
        }),
      )
      return id
    }

    for (const { period, field } of periods)
      describe(`the limit of a key for its ${period}`, () => {
        const limits = { [field]: picos(100n) }

        it('counts charges and open holds, up to exactly the limit', async () => {
          await settle(await mustPlace(harness.ledger, requestOf(30n, limits)), 30n)
          await mustPlace(harness.ledger, requestOf(50n, limits))
          const refused = {
            kind: 'spending_limit',
            scope: 'key',
            period,
            limitPicos: 100n,
            usedPicos: 30n,
            heldPicos: 50n,
          }
          assert.deepEqual(await place(21n, limits), refused)
          assert.deepEqual(await harness.ledger.check(requestOf(21n, limits)), refused)
          assert.equal(await harness.ledger.check(requestOf(20n, limits)), undefined)
          assert.equal(await kindOf(20n, limits), 'hold')
          assert.equal(await kindOf(1n, limits), 'spending_limit')
        })

        it('counts a hold placed before the key had a limit, and charges from then', async () => {
          await charge(harness, accountId, 30n)
          await mustPlace(harness.ledger, requestOf(50n, {}))
          assert.equal(await kindOf(21n, limits), 'spending_limit')
          assert.equal(await kindOf(20n, limits), 'hold')
        })

        it('leaves other keys alone', async () => {
          await settle(await mustPlace(harness.ledger, requestOf(100n, limits)), 100n)
          assert.equal(await kindOf(1n, limits), 'spending_limit')
          assert.equal(await kindOf(100n, limits, { keyId: 'key_two' }), 'hold')
          assert.equal(await kindOf(500n, {}, { keyId: 'key_three' }), 'hold')
        })

        it('admits exactly what fits of 100 at once', async () => {
          const placed = await Promise.all(Array.from({ length: 100 }, () => place(15n, limits)))
          assert.equal(placed.filter(({ kind }) => kind === 'hold').length, 6)
        })

        it('is kept while charges run at the same time', async () => {
          const spend = async (): Promise<bigint> => {
            const placed = await place(15n, limits)
            if (placed.kind !== 'hold') return 0n
            await settle(placed, 7n)
            return 7n
          }
          const spent = await Promise.all(Array.from({ length: 100 }, () => spend()))
          const sum = spent.reduce((total, one) => total + one, 0n)
          assert.ok(sum > 0n && sum <= 100n, `${sum} of 100`)
          assert.equal(await kindOf(101n - sum, limits), 'spending_limit')
          assert.equal(await kindOf(100n - sum, limits), 'hold')
        })

        it('is found again after a restart', async () => {
          await settle(await mustPlace(harness.ledger, requestOf(60n, limits)), 60n)
          harness = await harness.restart()
          assert.equal(await kindOf(41n, limits), 'spending_limit')
          assert.equal(await kindOf(40n, limits), 'hold')
        })

        it('gives back what is refunded', async () => {
          const hold = await mustPlace(harness.ledger, requestOf(80n, limits))
          await settle(hold, 80n)
          await mustPlace(harness.ledger, requestOf(15n, limits))
          assert.equal(await kindOf(6n, limits), 'spending_limit')
          await giveBack(hold, 50n)
          assert.equal(await kindOf(56n, limits), 'spending_limit')
          assert.equal(await kindOf(55n, limits), 'hold')
        })

        it('gives back exactly what is refunded while requests run', async () => {
          const wide = { [field]: picos(5_000n) }
          const holds = await Promise.all(
            Array.from({ length: 20 }, () => mustPlace(harness.ledger, requestOf(40n, wide))),
          )
          await Promise.all(holds.map((hold) => settle(hold, 40n)))
          const running = Array.from({ length: 60 }, async () => {
            await settle(await mustPlace(harness.ledger, requestOf(20n, wide)), 10n)
          })
          for (const hold of holds) {
            const given = giveBack(hold, 40n)
            running.push(
              (async () => settle(await mustPlace(harness.ledger, requestOf(9n, wide)), 9n))(),
            )
            await given
          }
          await Promise.all(running)
          await harness.becomeCurrent()
          const left = 5_000n - 60n * 10n - 20n * 9n
          assert.equal(await kindOf(left + 1n, wide), 'spending_limit')
          assert.equal(await kindOf(left, wide), 'hold')
        })
      })

    describe('limits of keys', () => {
      it('are decided in their order: day, month, total; after the day of the account', async () => {
        await harness.database.query('UPDATE account SET daily_limit_picos = 100 WHERE id = $1', [
          accountId,
        ])
        await harness.becomeCurrent()
        const limits = { dailyPicos: picos(90n), monthlyPicos: picos(80n), totalPicos: picos(70n) }
        const refusedBy = async (amount: bigint): Promise<string> => {
          const placed = await place(amount, limits)
          return placed.kind === 'spending_limit' ? `${placed.scope} ${placed.period}` : placed.kind
        }
        assert.equal(await refusedBy(10_001n), 'insufficient_balance')
        assert.equal(await refusedBy(101n), 'account day')
        assert.equal(await refusedBy(100n), 'key day')
        assert.equal(await refusedBy(90n), 'key month')
        assert.equal(await refusedBy(80n), 'key total')
        assert.equal(await refusedBy(70n), 'hold')
      })

      it('begin anew with the day and the month, but a hold over midnight still counts', async () => {
        advanceTo('2026-11-29T12:00:00Z')
        const limits = {
          dailyPicos: picos(100n),
          monthlyPicos: picos(200n),
          totalPicos: picos(400n),
        }
        await settle(await mustPlace(harness.ledger, requestOf(60n, limits)), 60n)
        advanceTo('2026-11-30T12:00:00Z')
        assert.equal(await kindOf(101n, limits), 'spending_limit')
        await settle(await mustPlace(harness.ledger, requestOf(100n, limits)), 90n)
        const overnight = await mustPlace(harness.ledger, requestOf(10n, limits))
        advanceTo('2026-11-30T23:59:59.999Z')
        assert.equal(await kindOf(1n, limits), 'spending_limit')
        harness.clock.advance(1)
        assert.equal(await kindOf(91n, limits), 'spending_limit')
        await settle(overnight, 10n)
        assert.equal(await kindOf(91n, limits), 'spending_limit')
        await settle(await mustPlace(harness.ledger, requestOf(90n, limits)), 90n)
        advanceTo('2026-12-02T00:00:00Z')
        await settle(await mustPlace(harness.ledger, requestOf(100n, limits)), 100n)
        advanceTo('2026-12-03T00:00:00Z')
        assert.deepEqual(await place(1n, limits), {
          kind: 'spending_limit',
          scope: 'key',
          period: 'month',
          limitPicos: 200n,
          usedPicos: 200n,
          heldPicos: 0n,
        })
        advanceTo('2027-01-01T00:00:00Z')
        assert.deepEqual(await place(51n, limits), {
          kind: 'spending_limit',
          scope: 'key',
          period: 'total',
          limitPicos: 400n,
          usedPicos: 350n,
          heldPicos: 0n,
        })
        assert.equal(await kindOf(50n, limits), 'hold')
      })

      it('stay right when the wall clock goes back over the end of a month', async () => {
        const limits = { monthlyPicos: picos(100n) }
        advanceTo('2026-11-30T23:00:00Z')
        await settle(await mustPlace(harness.ledger, requestOf(60n, limits)), 60n)
        harness.clock.jumpWallTime(2 * 3_600_000)
        await settle(await mustPlace(harness.ledger, requestOf(10n, limits)), 10n)
        const running = await mustPlace(harness.ledger, requestOf(5n, limits))
        harness.clock.jumpWallTime(-2 * 3_600_000)
        assert.equal(await kindOf(36n, limits), 'spending_limit')
        const otherKey = requestOf(35n, limits, { keyId: 'key_two' })
        await settle(await mustPlace(harness.ledger, otherKey), 35n)
        const endedAtMs = harness.clock.now() + 2 * 3_600_000
        await harness.ledger.settle(running, recordOf(running, 5n, { endedAtMs }))
        assert.equal(await kindOf(41n, limits), 'spending_limit')
        harness.clock.jumpWallTime(dayMs + 2 * 3_600_000)
        assert.equal(await kindOf(86n, limits), 'spending_limit')
        assert.equal(await kindOf(85n, limits), 'hold')
      })

      it('give back the month in which the charge was booked, not the current one', async () => {
        advanceTo('2026-11-30T12:00:00Z')
        const limits = { monthlyPicos: picos(100n), totalPicos: picos(150n) }
        const early = await mustPlace(harness.ledger, requestOf(90n, limits))
        await settle(early, 90n)
        advanceTo('2026-12-01T12:00:00Z')
        await settle(await mustPlace(harness.ledger, requestOf(60n, limits)), 60n)
        assert.equal(await kindOf(1n, limits), 'spending_limit')
        await giveBack(early, 90n)
        assert.equal(await kindOf(41n, limits), 'spending_limit')
        assert.equal(await kindOf(40n, limits), 'hold')
      })

      it('change for the requests that follow, not for those that run', async () => {
        const hold = await mustPlace(harness.ledger, requestOf(90n, { totalPicos: picos(100n) }))
        const lowered = { totalPicos: picos(50n) }
        assert.equal(await kindOf(0n, lowered), 'spending_limit')
        await settle(hold, 45n)
        assert.equal(await kindOf(5n, lowered), 'hold')
        assert.equal(await kindOf(1n, lowered), 'spending_limit')
        assert.equal(await kindOf(5_000n, {}), 'hold')
      })

      it('of the account give back the day, too', async () => {
        await harness.database.query('UPDATE account SET daily_limit_picos = 100 WHERE id = $1', [
          accountId,
        ])
        await harness.becomeCurrent()
        const hold = await charge(harness, accountId, 80n)
        assert.equal(await kindOf(21n, {}), 'spending_limit')
        await giveBack(hold, 30n)
        assert.equal(await kindOf(51n, {}), 'spending_limit')
        assert.equal(await kindOf(50n, {}), 'hold')
      })

      it('hold over a credit that is booked meanwhile', async () => {
        const limits = { totalPicos: picos(100n) }
        await settle(await mustPlace(harness.ledger, requestOf(30n, limits)), 30n)
        const running = await mustPlace(harness.ledger, requestOf(40n, limits))
        await addCredit(harness, accountId, 500n)
        await harness.becomeCurrent()
        assert.equal(await kindOf(31n, limits), 'spending_limit')
        await settle(running, 35n)
        assert.equal(await kindOf(36n, limits), 'spending_limit')
        assert.equal(await kindOf(35n, limits), 'hold')
      })
    })

    describe('requests per minute of a key', () => {
      const limits = { rpm: 2 }

      it('admit the limit in any minute and say when to come again', async () => {
        await mustPlace(harness.ledger, requestOf(1n, limits))
        harness.clock.advance(1_000)
        await mustPlace(harness.ledger, requestOf(1n, limits))
        const refused = { kind: 'rate_limited', scope: 'key', rpm: 2, windowMinutes: 1 }
        assert.deepEqual(await place(1n, limits), { ...refused, retryAfterMs: 59_000 })
        assert.deepEqual(await harness.ledger.check(requestOf(1n, limits)), {
          ...refused,
          retryAfterMs: 59_000,
        })
        assert.equal(await kindOf(1n, limits, { keyId: 'key_two' }), 'hold')
        assert.equal(await kindOf(1n, {}), 'hold')
        harness.clock.advance(58_999)
        assert.deepEqual(await place(1n, limits), { ...refused, retryAfterMs: 1 })
        harness.clock.advance(1)
        assert.equal(await kindOf(1n, limits), 'hold')
        assert.deepEqual(await place(1n, limits), { ...refused, retryAfterMs: 1_000 })
      })

      it('admit exactly the limit of 100 at once', async () => {
        const placed = await Promise.all(Array.from({ length: 100 }, () => place(1n, { rpm: 30 })))
        assert.equal(placed.filter(({ kind }) => kind === 'hold').length, 30)
      })

      it('keep the requests of the minute over a restart', async () => {
        for (let index = 0; index < 2; index++)
          await settle(await mustPlace(harness.ledger, requestOf(1n, limits)), 1n)
        await settle(await mustPlace(harness.ledger, requestOf(1n, {}, { keyId: 'key_two' })), 1n)
        harness.clock.advance(20_000)
        harness = await harness.restart()
        const placed = await place(1n, limits)
        assert.deepEqual(placed, {
          kind: 'rate_limited',
          scope: 'key',
          rpm: 2,
          windowMinutes: 1,
          retryAfterMs: 40_000,
        })
        harness.clock.advance(40_000)
        assert.equal(await kindOf(1n, limits), 'hold')
      })

      it('are kept over midnight', async () => {
        advanceTo('2026-11-30T23:59:50Z')
        const { ledger } = harness
        const count = { ...requestOf(0n, limits), allowance: 'requests' } as const
        assert.equal(await ledger.count(count), undefined)
        await settle(await mustPlace(ledger, requestOf(1n, limits)), 1n)
        harness.clock.advance(20_000)
        assert.equal(await kindOf(1n, limits), 'rate_limited')
      })

      it('count requests that need no hold, and leave ten times as many free ones', async () => {
        const count = (allowance: 'requests' | 'free_requests', keyId = 'key_one') =>
          harness.ledger.count({ ...requestOf(0n, limits, { keyId }), allowance })
        assert.equal(await count('requests'), undefined)
        assert.equal(await kindOf(1n, limits), 'hold')
        assert.equal((await count('requests'))?.kind, 'rate_limited')
        const free = await Promise.all(Array.from({ length: 30 }, () => count('free_requests')))
        assert.equal(free.filter((refusal) => refusal === undefined).length, 20)
        assert.deepEqual(await count('free_requests'), {
          kind: 'rate_limited',
          scope: 'key',
          rpm: 20,
          windowMinutes: 1,
          retryAfterMs: 60_000,
        })
        assert.equal(await count('free_requests', 'key_two'), undefined)
        harness.clock.advance(minuteMs)
        assert.equal(await count('free_requests'), undefined)
      })

      it('show in the headers where fewer are left than to the account', async () => {
        await harness.database.query('UPDATE account SET rpm = 10 WHERE id = $1', [accountId])
        const headroom = (rpm: number): unknown => harness.ledger.headroom(requestOf(0n, { rpm }))
        await mustPlace(harness.ledger, requestOf(1n, { rpm: 5 }))
        assert.deepEqual(headroom(5), { rpmLimit: 5, rpmRemaining: 4, rpmResetMs: 60_000 })
        await mustPlace(harness.ledger, requestOf(1n, { rpm: 20 }))
        assert.deepEqual(headroom(20), { rpmLimit: 10, rpmRemaining: 8, rpmResetMs: 60_000 })
        assert.deepEqual(headroom(0), { rpmLimit: 10, rpmRemaining: 8, rpmResetMs: 60_000 })
      })
    })

    describe('tokens per minute', () => {
      /** Each answer of the harness has 10 input and 20 output tokens. */
      const tokensOfOne = 30

      for (const scope of ['account', 'key'] as const)
        describe(`of the ${scope}`, () => {
          let keyId: string
          let limits: Partial<KeyLimits>
          const use = async (): Promise<void> => {
            const hold = await mustPlace(harness.ledger, requestOf(1n, limits, { keyId }))
            await settle(hold, 1n)
          }
          const refusalAfter = (retryAfterMs: number): object => ({
            kind: 'token_limited',
            scope,
            tpm: 2 * tokensOfOne,
            retryAfterMs,
          })
          beforeEach(async () => {
            limits = scope === 'key' ? { tpm: 2 * tokensOfOne } : {}
            keyId = await makeKey(limits)
            if (scope === 'account')
              await harness.database.query(
                'UPDATE account SET tokens_per_minute = $2 WHERE id = $1',
                [accountId, 2 * tokensOfOne],
              )
          })

          it('refuse while the requests that ended in the last minute have used them', async () => {
            await use()
            harness.clock.advance(10_000)
            await use()
            harness.clock.advance(5_000)
            assert.deepEqual(await place(1n, limits, { keyId }), refusalAfter(45_000))
            const check = requestOf(1n, limits, { keyId })
            assert.deepEqual(await harness.ledger.check(check), refusalAfter(45_000))
            harness.clock.advance(44_999)
            assert.deepEqual(await place(1n, limits, { keyId }), refusalAfter(1))
            harness.clock.advance(1)
            await use()
            assert.deepEqual(await place(1n, limits, { keyId }), refusalAfter(10_000))
          })

          it('do not count requests that run', async () => {
            const holds = await Promise.all(
              Array.from({ length: 5 }, () =>
                mustPlace(harness.ledger, requestOf(1n, limits, { keyId })),
              ),
            )
            await Promise.all(holds.map((hold) => settle(hold, 1n)))
            assert.deepEqual(await place(1n, limits, { keyId }), refusalAfter(60_000))
          })

          it('are kept over a restart', async () => {
            await use()
            await use()
            harness.clock.advance(20_000)
            harness = await harness.restart()
            assert.deepEqual(await place(1n, limits, { keyId }), refusalAfter(40_000))
            harness.clock.advance(40_000)
            assert.equal(await kindOf(1n, limits, { keyId }), 'hold')
          })

          it(`are those of one ${scope} alone`, async () => {
            const other = await makeKey(limits)
            await use()
            await use()
            const isShared = scope === 'account'
            const kind = isShared ? 'token_limited' : 'hold'
            assert.equal(await kindOf(1n, limits, { keyId: other }), kind)
            accountId = await makeAccount(harness, { balancePicos: 100n })
            assert.equal(await kindOf(1n, {}), 'hold')
          })
        })
    })
  })
}
