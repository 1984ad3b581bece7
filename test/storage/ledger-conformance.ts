/**
 * What every implementation of the Ledger has to do, as one suite over a factory. Amounts are bare
 * pico-dollars and small, so that each figure can be checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import type { Hold, HoldRefusal, HoldRequest } from '../../src/ledger/ledger.ts'
import {
  addCredit,
  charge,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  readBalance,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const minuteMs = 60_000

export function describeLedger(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    beforeEach(async () => {
      harness = await open()
    })
    afterEach(async () => {
      try {
        assert.deepEqual(await findDifferences(harness.database), [])
      } finally {
        await harness.close()
      }
    })
    const place = async (accountId: string, amountPicos: bigint): Promise<Hold | HoldRefusal> =>
      harness.ledger.place(holdRequest(harness, accountId, amountPicos))
    const settle = (hold: Hold, amountPicos: bigint): Promise<void> =>
      harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs: harness.clock.now() }))

    describe('holds', () => {
      for (const [parallel, fundsFor] of [
        [50, 1],
        [500, 7],
      ] as const)
        it(`admits exactly ${fundsFor} of ${parallel} at once on a balance for ${fundsFor}`, async () => {
          const accountId = await makeAccount(harness, { balancePicos: BigInt(fundsFor) * 100n })
          const placed = await Promise.all(
            Array.from({ length: parallel }, () => place(accountId, 100n)),
          )
          assert.equal(placed.filter((one) => one.kind === 'hold').length, fundsFor)
          assert.deepEqual(harness.ledger.openHolds(), {
            count: fundsFor,
            heldPicos: BigInt(fundsFor) * 100n,
          })
          assert.deepEqual(
            await harness.ledger.readHeld([accountId, 'acc_none']),
            new Map([[accountId, BigInt(fundsFor) * 100n]]),
          )
        })

      it('tells apart a balance that is too small and one that is only held', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 60n))
        const figures = {
          kind: 'insufficient_balance',
          balancePicos: 100n,
          creditLinePicos: 0n,
          heldPicos: 60n,
        }
        assert.deepEqual(await place(accountId, 100n), { ...figures, isHeldOnly: true })
        assert.deepEqual(await place(accountId, 101n), { ...figures, isHeldOnly: false })
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('refuses an amount beyond 64 bits, and no other request with it', async () => {
        const accountId = await makeAccount(harness)
        const otherId = await makeAccount(harness, { balancePicos: 100n })
        const [beyond, other] = await Promise.all([
          place(accountId, 10n ** 30n),
          place(otherId, 100n),
        ])
        assert.deepEqual(beyond, {
          kind: 'insufficient_balance',
          balancePicos: 0n,
          creditLinePicos: 0n,
          heldPicos: 0n,
          isHeldOnly: false,
        })
        assert.equal(other.kind, 'hold')
      })

      it('holds the most of a request whose likely cost fits, and then only what costs nothing', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const ask = (amountPicos: bigint, likely: bigint) => {
          const request = holdRequest(harness, accountId, amountPicos, {
            likelyPicos: picos(likely),
          })
          return harness.ledger.place(request)
        }
        const covered = await ask(60n, 5n)
        assert.ok(covered.kind === 'hold' && !covered.isUncovered)
        const uncovered = await ask(1_000n, 40n)
        assert.ok(uncovered.kind === 'hold' && uncovered.isUncovered)
        assert.equal(uncovered.amountPicos, 1_000n)
        assert.deepEqual(await ask(1n, 0n), {
          kind: 'insufficient_balance',
          balancePicos: 100n,
          creditLinePicos: 0n,
          heldPicos: 1_060n,
          isHeldOnly: true,
        })
        await settle(covered, 60n)
        const endedAtMs = harness.clock.now()
        const record = recordOf(uncovered, 45n, { endedAtMs })
        await harness.ledger.settle(uncovered, { ...record, marks: ['uncovered'] })
        const { balancePicos } = (await harness.ledger.usage(accountId, 'day', 0)) ?? {}
        assert.equal(balancePicos, -5n)
      })

      it('refuses a request whose likely cost does not fit', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const request = holdRequest(harness, accountId, 500n, { likelyPicos: picos(101n) })
        assert.equal((await harness.ledger.place(request)).kind, 'insufficient_balance')
        const fits = holdRequest(harness, accountId, 500n, { likelyPicos: picos(100n) })
        assert.equal((await harness.ledger.place(fits)).kind, 'hold')
      })

      it('goes below zero as far as the credit line', async () => {
        const accountId = await makeAccount(harness, {
          balancePicos: 100n,
          creditLinePicos: picos(50n),
        })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 150n))
        assert.ok(!hold.isUncovered)
        assert.deepEqual(await place(accountId, 1n), {
          kind: 'insufficient_balance',
          balancePicos: 100n,
          creditLinePicos: 50n,
          heldPicos: 150n,
          isHeldOnly: true,
        })
        await settle(hold, 120n)
        const refused = await place(accountId, 31n)
        assert.ok(refused.kind === 'insufficient_balance' && !refused.isHeldOnly)
        assert.equal((await place(accountId, 30n)).kind, 'hold')
      })

      it('gives the same hold when one exchange asks twice', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const request = holdRequest(harness, accountId, 100n)
        const first = await harness.ledger.place(request)
        assert.deepEqual(await harness.ledger.place(request), first)
        assert.equal(harness.ledger.openHolds().count, 1)
      })

      it('gives one hold to an exchange that asks several times at once', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const request = holdRequest(harness, accountId, 60n)
        const [first, ...others] = await Promise.all(
          Array.from({ length: 3 }, async () => harness.ledger.place(request)),
        )
        assert.equal(first?.kind, 'hold')
        for (const other of others) assert.deepEqual(other, first)
        assert.equal(harness.ledger.openHolds().heldPicos, 60n)
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('admits an empty hold on an empty balance but not on a debt', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 10n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
        await settle(hold, 10n)
        const free = await mustPlace(harness.ledger, holdRequest(harness, accountId, 0n))
        await settle(free, 1n)
        assert.equal((await place(accountId, 0n)).kind, 'insufficient_balance')
      })

      it('does not know an account that is not there', async () => {
        assert.deepEqual(await place('acc_nobody', 1n), { kind: 'unknown_account' })
        assert.equal(await harness.ledger.usage('acc_nobody', 'day', 0), undefined)
      })

      it('are gone after a restart, while charges are there', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 90n))
        await charge(harness, accountId, 10n)
        harness = await harness.restart()
        assert.equal(harness.ledger.openHolds().count, 0)
        assert.equal((await place(accountId, 91n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, 90n)).kind, 'hold')
      })
    })

    describe('settling', () => {
      it('charges the exact amount and frees the rest of the hold', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 100n))
        await settle(hold, 30n)
        assert.equal(await readBalance(harness, accountId), 70n)
        assert.equal((await place(accountId, 71n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, 70n)).kind, 'hold')
      })

      it('charges nothing and counts no request for an amount of zero', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 100n))
        const endedAtMs = harness.clock.now()
        const uncharged = { endedAtMs, usage: undefined, priceLines: '' }
        await harness.ledger.settle(hold, recordOf(hold, 0n, uncharged))
        assert.equal(harness.ledger.openHolds().count, 0)
        for (const period of ['day', 'month', 'total'] as const) {
          const figures = await harness.ledger.usage(accountId, period, endedAtMs)
          assert.deepEqual(figures?.byModel, [])
          assert.equal(figures?.balancePicos, 100n)
        }
      })

      it('charges once however often it is asked, at once, later or after a restart', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n, dailyLimitPicos: 60n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 50n))
        await Promise.all([settle(hold, 20n), settle(hold, 20n)])
        await settle(hold, 20n)
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        harness = await harness.restart()
        await settle(hold, 20n)
        const figures = await harness.ledger.usage(accountId, 'day', harness.clock.now())
        assert.equal(figures?.balancePicos, 80n)
        assert.equal(figures?.dailyUsedPicos, 20n)
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('does not count a charge twice when a whole exchange is replayed', async () => {
        const limits = { balancePicos: 100n, dailyLimitPicos: 60n }
        const accountId = await makeAccount(harness, limits)
        const request = holdRequest(harness, accountId, 25n)
        await settle(await mustPlace(harness.ledger, request), 20n)
        await settle(await mustPlace(harness.ledger, request), 20n)
        assert.equal(harness.ledger.openHolds().count, 0)
        assert.equal(await readBalance(harness, accountId), 80n)
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('books what exceeds the hold, down to a debt', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 50n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 50n))
        await settle(hold, 80n)
        assert.equal(await readBalance(harness, accountId), -30n)
      })

      it('keeps the exact charge set aside until it is durable', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 90n))
        const settled = settle(hold, 40n)
        assert.equal((await place(accountId, 61n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, 60n)).kind, 'hold')
        await settled
        assert.equal((await place(accountId, 1n)).kind, 'insufficient_balance')
      })

      it('shows every settled exchange in the very next figures, many at once too', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 1_000_000n })
        const holds = await Promise.all(
          Array.from({ length: 600 }, () =>
            mustPlace(harness.ledger, holdRequest(harness, accountId, 100n)),
          ),
        )
        await Promise.all(holds.map((hold) => settle(hold, 7n)))
        const figures = await harness.ledger.usage(accountId, 'day', harness.clock.now())
        assert.equal(figures?.balancePicos, 1_000_000n - 4_200n)
        assert.equal(figures?.byModel[0]?.requests, 600)
      })
    })

    describe('daily limits', () => {
      it('count charges of today and open holds, and say how much of each', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, dailyLimitPicos: 100n })
        await charge(harness, accountId, 30n)
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 50n))
        assert.deepEqual(await place(accountId, 21n), {
          kind: 'spending_limit',
          scope: 'account',
          period: 'day',
          limitPicos: 100n,
          usedPicos: 30n,
          heldPicos: 50n,
        })
        assert.equal((await place(accountId, 20n)).kind, 'hold')
      })

      it('start anew at 00:00 UTC, but a hold over midnight still counts', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, dailyLimitPicos: 100n })
        await charge(harness, accountId, 60n)
        const overnight = await mustPlace(harness.ledger, holdRequest(harness, accountId, 40n))
        harness.clock.advance(Date.parse('2026-11-21T23:59:59.999Z') - harness.clock.now())
        assert.equal((await place(accountId, 1n)).kind, 'spending_limit')
        harness.clock.advance(1)
        assert.equal((await place(accountId, 61n)).kind, 'spending_limit')
        await settle(overnight, 40n)
        const figures = await harness.ledger.usage(accountId, 'day', harness.clock.now())
        assert.equal(figures?.dailyUsedPicos, 40n)
        assert.equal((await place(accountId, 61n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 60n)).kind, 'hold')
      })

      it('are found again after a restart', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, dailyLimitPicos: 100n })
        await charge(harness, accountId, 60n)
        harness = await harness.restart()
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('hold for one key without affecting other keys', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n })
        const limited = {
          keyId: 'key_limited',
          keyLimits: { ...noKeyLimits, dailyPicos: picos(50n) },
        }
        const first = await mustPlace(harness.ledger, holdRequest(harness, accountId, 30n, limited))
        await settle(first, 30n)
        harness = await harness.restart()
        assert.deepEqual(
          await harness.ledger.place(holdRequest(harness, accountId, 21n, limited)),
          {
            kind: 'spending_limit',
            scope: 'key',
            period: 'day',
            limitPicos: 50n,
            usedPicos: 30n,
            heldPicos: 0n,
          },
        )
        assert.equal((await place(accountId, 500n)).kind, 'hold')
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 20n, limited))
      })

      it('stay right when the wall clock goes back over midnight', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, dailyLimitPicos: 100n })
        await charge(harness, accountId, 60n)
        harness.clock.jumpWallTime(86_400_000)
        await charge(harness, accountId, 10n)
        harness.clock.jumpWallTime(-86_400_000)
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 40n)).kind, 'hold')
        harness.clock.jumpWallTime(86_400_000)
        assert.equal((await place(accountId, 51n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 50n)).kind, 'hold')
      })

      it('count charges of today while the wall clock is on yesterday', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, dailyLimitPicos: 100n })
        harness.clock.jumpWallTime(86_400_000)
        await charge(harness, accountId, 10n)
        const running = await mustPlace(harness.ledger, holdRequest(harness, accountId, 30n))
        harness.clock.jumpWallTime(-86_400_000)
        assert.equal((await place(accountId, 70n)).kind, 'hold')
        const endedAtMs = harness.clock.now() + 86_400_000
        await harness.ledger.settle(running, recordOf(running, 30n, { endedAtMs }))
        harness.clock.jumpWallTime(86_400_000)
        const figures = {
          kind: 'spending_limit',
          scope: 'account',
          period: 'day',
          limitPicos: 100n,
        }
        assert.deepEqual(await place(accountId, 1n), { ...figures, usedPicos: 40n, heldPicos: 70n })
      })
    })

    describe('requests per minute', () => {
      it('admit the limit in any window, to the millisecond, and say when to come again', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, rpm: 2 })
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        harness.clock.advance(1_000)
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        const refused = { kind: 'rate_limited', scope: 'account', rpm: 2, windowMinutes: 1 }
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 59_000 })
        harness.clock.advance(58_999)
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 1 })
        harness.clock.advance(1)
        assert.equal((await place(accountId, 1n)).kind, 'hold')
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 1_000 })
      })

      it('are an average over the window: all of it may come at once', async () => {
        const limits = { balancePicos: 900n, rpm: 2, windowMinutes: 3 }
        const accountId = await makeAccount(harness, limits)
        for (let index = 0; index < 6; index++)
          await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        harness.clock.advance(3 * minuteMs - 1)
        assert.equal((await place(accountId, 1n)).kind, 'rate_limited')
        harness.clock.advance(1)
        assert.equal((await place(accountId, 1n)).kind, 'hold')
      })

      it('do not count refused requests, whatever the reason', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 10n, rpm: 1 })
        assert.equal((await place(accountId, 11n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, 10n)).kind, 'hold')
        for (let index = 0; index < 5; index++)
          assert.equal((await place(accountId, 1n)).kind, 'rate_limited')
        harness.clock.advance(minuteMs)
        assert.equal((await place(accountId, 0n)).kind, 'hold')
      })

      it('come before the balance, and the balance before the daily limit', async () => {
        const limits = { balancePicos: 10n, rpm: 1, dailyLimitPicos: 5n }
        const accountId = await makeAccount(harness, limits)
        assert.equal((await place(accountId, 11n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, 6n)).kind, 'spending_limit')
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
        assert.equal((await place(accountId, 11n)).kind, 'rate_limited')
      })

      it('count requests that need no hold', async () => {
        const accountId = await makeAccount(harness, { rpm: 1 })
        const request = {
          ...holdRequest(harness, accountId, 0n),
          allowance: 'requests',
        } as const
        assert.equal(await harness.ledger.count(request), undefined)
        assert.equal((await harness.ledger.count(request))?.kind, 'rate_limited')
        assert.equal((await place(accountId, 0n)).kind, 'rate_limited')
        const nobody = { ...request, accountId: 'acc_nobody' }
        assert.equal((await harness.ledger.count(nobody))?.kind, 'unknown_account')
      })

      it('leave ten times as many free requests, which take nothing from them', async () => {
        const limits = { balancePicos: 900n, rpm: 1, windowMinutes: 2 }
        const accountId = await makeAccount(harness, limits)
        const count = (id = accountId): Promise<HoldRefusal | undefined> =>
          harness.ledger.count({
            ...holdRequest(harness, id, 0n),
            allowance: 'free_requests',
          })
        assert.equal(await count(), undefined)
        harness.clock.advance(30_000)
        const others = await Promise.all(Array.from({ length: 24 }, () => count()))
        assert.equal(others.filter((refusal) => refusal === undefined).length, 19)
        const refused = {
          kind: 'rate_limited',
          scope: 'account',
          rpm: 10,
          windowMinutes: 2,
          retryAfterMs: 90_000,
        }
        assert.deepEqual(await count(), refused)
        for (let index = 0; index < 2; index++)
          assert.equal((await place(accountId, 1n)).kind, 'hold')
        assert.equal((await place(accountId, 1n)).kind, 'rate_limited')
        harness.clock.advance(90_000)
        assert.equal(await count(), undefined)
        assert.equal((await count())?.kind, 'rate_limited')
        assert.equal((await count('acc_nobody'))?.kind, 'unknown_account')
        const unlimited = await makeAccount(harness, { rpm: 0 })
        for (let index = 0; index < 3; index++) assert.equal(await count(unlimited), undefined)
      })

      it('keep the requests of the window over a restart', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, rpm: 2 })
        await charge(harness, accountId, 1n)
        harness.clock.advance(30_000)
        await charge(harness, accountId, 1n)
        harness.clock.advance(15_000)
        harness = await harness.restart()
        const refused = { kind: 'rate_limited', scope: 'account', rpm: 2, windowMinutes: 1 }
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 15_000 })
        harness.clock.advance(15_000)
        assert.equal((await place(accountId, 1n)).kind, 'hold')
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 30_000 })
      })

      it('report the remaining requests', async () => {
        const limits = { balancePicos: 900n, rpm: 2, windowMinutes: 2 }
        const accountId = await makeAccount(harness, limits)
        const headroom = (): unknown => harness.ledger.headroom(holdRequest(harness, accountId, 0n))
        assert.equal(headroom(), undefined)
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        harness.clock.advance(20_000)
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        assert.deepEqual(headroom(), { rpmLimit: 4, rpmRemaining: 2, rpmResetMs: 100_000 })
        harness.clock.advance(2 * minuteMs)
        assert.deepEqual(headroom(), { rpmLimit: 4, rpmRemaining: 4, rpmResetMs: 0 })
      })

      it('have a long way back after they were lowered', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 900n, rpm: 3 })
        for (let index = 0; index < 3; index++) {
          await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
          harness.clock.advance(1_000)
        }
        await harness.database.query('UPDATE account SET rpm = 1 WHERE id = $1', [accountId])
        await harness.becomeCurrent()
        const refused = { kind: 'rate_limited', scope: 'account', rpm: 1, windowMinutes: 1 }
        assert.deepEqual(await place(accountId, 1n), { ...refused, retryAfterMs: 59_000 })
      })
    })

    describe('a check', () => {
      const check = async (
        accountId: string,
        amountPicos: bigint,
        changes: Partial<HoldRequest> = {},
      ): Promise<HoldRefusal | undefined> =>
        harness.ledger.check(holdRequest(harness, accountId, amountPicos, changes))

      it('returns what placing the hold would refuse, and neither counts nor holds', async () => {
        const limits = { balancePicos: 100n, rpm: 2, dailyLimitPicos: 60n }
        const accountId = await makeAccount(harness, limits)
        const keyLimits = { ...noKeyLimits, dailyPicos: picos(30n) }
        const requests: readonly [bigint, Partial<HoldRequest>][] = [
          [101n, {}],
          [61n, {}],
          [31n, { keyLimits }],
          [30n, { keyLimits }],
        ]
        const compare = async (): Promise<(string | undefined)[]> => {
          const kinds: (string | undefined)[] = []
          for (const [amountPicos, changes] of requests) {
            for (let index = 0; index < 3; index++) await check(accountId, amountPicos, changes)
            const refusal = await check(accountId, amountPicos, changes)
            const request = holdRequest(harness, accountId, amountPicos, changes)
            if (refusal !== undefined)
              assert.deepEqual(await harness.ledger.place(request), refusal)
            kinds.push(refusal?.kind)
          }
          return kinds
        }
        const dayTwice = ['spending_limit', 'spending_limit']
        assert.deepEqual(await compare(), ['insufficient_balance', ...dayTwice, undefined])
        await charge(harness, accountId, 20n)
        assert.deepEqual(await compare(), ['insufficient_balance', ...dayTwice, 'spending_limit'])
        harness.clock.advance(20_000)
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
        assert.deepEqual(await compare(), Array(4).fill('rate_limited'))
        harness.clock.advance(40_000)
        assert.deepEqual(await compare(), ['insufficient_balance', ...dayTwice, 'spending_limit'])
        assert.equal(await check(accountId, 1n), undefined)
      })

      it('does not know an account that is not there', async () => {
        assert.deepEqual(await check('acc_nobody', 1n), { kind: 'unknown_account' })
      })
    })

    describe('changes made elsewhere', () => {
      it('show: credits, limits', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 10n })
        await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
        await addCredit(harness, accountId, 90n)
        await harness.database.query('UPDATE account SET daily_limit_picos = 50 WHERE id = $1', [
          accountId,
        ])
        await harness.becomeCurrent()
        assert.equal((await place(accountId, 41n)).kind, 'spending_limit')
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('remove money that is already held, without touching open holds', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 100n })
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 80n))
        await addCredit(harness, accountId, -50n)
        await harness.becomeCurrent()
        assert.deepEqual(await place(accountId, 1n), {
          kind: 'insufficient_balance',
          balancePicos: 50n,
          creditLinePicos: 0n,
          heldPicos: 80n,
          isHeldOnly: true,
        })
        await settle(hold, 10n)
        assert.equal((await place(accountId, 40n)).kind, 'hold')
      })

      it('are counted once when charges run at the same time', async () => {
        const accountId = await makeAccount(harness, { balancePicos: 10_000n })
        const charging = Promise.all(
          Array.from({ length: 200 }, (_, index) =>
            charge(harness, accountId, BigInt((index % 7) + 1)),
          ),
        )
        for (let index = 0; index < 20; index++) {
          await addCredit(harness, accountId, 100n)
          void harness.becomeCurrent()
        }
        await charging
        await harness.becomeCurrent()
        const spent = Array.from({ length: 200 }, (_, index) => (index % 7) + 1)
        const left = 12_000n - BigInt(spent.reduce((sum, amount) => sum + amount, 0))
        assert.equal(await readBalance(harness, accountId), left)
        assert.equal((await place(accountId, left + 1n)).kind, 'insufficient_balance')
        assert.equal((await place(accountId, left)).kind, 'hold')
      })
    })

    describe('figures', () => {
      it('add up by model and period, highest cost first', async () => {
        const limits = { balancePicos: 900n, dailyLimitPicos: 500n, rpm: 60, windowMinutes: 5 }
        const accountId = await makeAccount(harness, limits)
        const spend = async (model: string, amountPicos: bigint): Promise<void> => {
          const hold = await mustPlace(
            harness.ledger,
            holdRequest(harness, accountId, amountPicos, { keyId: `key for ${model}` }),
          )
          const endedAtMs = harness.clock.now()
          await harness.ledger.settle(hold, recordOf(hold, amountPicos, { model, endedAtMs }))
        }
        harness.clock.advance(Date.parse('2026-11-30T12:00:00Z') - harness.clock.now())
        await spend('small', 5n)
        harness.clock.advance(86_400_000)
        await spend('small', 10n)
        await spend('large', 30n)
        await spend('small', 10n)
        const now = harness.clock.now()
        const tokens = (count: number): object => ({
          requests: count,
          inputTokens: 10 * count,
          outputTokens: 20 * count,
          cacheTokens: 5 * count,
        })
        const day = await harness.ledger.usage(accountId, 'day', now)
        assert.deepEqual(day, {
          balancePicos: 845n,
          dailyLimitPicos: 500n,
          dailyUsedPicos: 50n,
          windowMinutes: 5,
          rpm: 60,
          byModel: [
            { model: 'large', ...tokens(1), costPicos: 30n },
            { model: 'small', ...tokens(2), costPicos: 20n },
          ],
        })
        assert.deepEqual(await harness.ledger.usage(accountId, 'month', now), day)
        assert.deepEqual((await harness.ledger.usage(accountId, 'total', now))?.byModel, [
          { model: 'large', ...tokens(1), costPicos: 30n },
          { model: 'small', ...tokens(3), costPicos: 25n },
        ])
      })

      it('stay apart by account', async () => {
        const one = await makeAccount(harness, { balancePicos: 100n })
        const other = await makeAccount(harness, { balancePicos: 100n })
        await charge(harness, one, 10n)
        const figures = await harness.ledger.usage(other, 'total', harness.clock.now())
        assert.equal(figures?.balancePicos, 100n)
        assert.deepEqual(figures?.byModel, [])
      })
    })

    it('places and settles nothing any more once it is closed, and says so', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 100n })
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
      const { ledger } = harness
      harness = await harness.restart()
      assert.equal(ledger.isAvailable(), false)
      const request = holdRequest(harness, accountId, 10n)
      assert.deepEqual(await ledger.place(request), { kind: 'unavailable' })
      await assert.rejects(
        ledger.settle(hold, recordOf(hold, 10n, { endedAtMs: harness.clock.now() })),
        { code: 'ledger.unavailable' },
      )
    })

    it('writes everything it has accepted before it closes', async () => {
      const accountId = await makeAccount(harness, { balancePicos: 1_000n })
      const settling: Promise<void>[] = []
      for (let index = 0; index < 300; index++) {
        const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 1n))
        settling.push(settle(hold, 1n))
      }
      harness = await harness.restart()
      await Promise.all(settling)
      assert.equal(await readBalance(harness, accountId), 700n)
    })
  })
}
