/**
 * The order in which limits refuse, as every implementation of the Ledger has to keep it: for each two limits
 * of the list that are reached at once, and for all of them, the first one refuses. One suite over a factory.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { insertKey } from '../../src/access/key-store.ts'
import { newId } from '../../src/base/id.ts'
import type { KeyLimits } from '../../src/base/key-limits.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import type { Hold, HoldRefusal } from '../../src/ledger/ledger.ts'
import { limits } from '../../src/ledger/limits.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

/** A first request fits into every limit and uses up the rates; the second one is too much for all limits. */
const firstPicos = 30n
const secondPicos = 80n
const limitPicos = 100n

export function describeLimitOrder(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    beforeEach(async () => {
      harness = await open()
    })
    afterEach(() => harness.close())

    const makeKey = async (accountId: string, keyLimits: KeyLimits): Promise<string> => {
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
          limits: keyLimits,
          createdAtMs,
          expiresAtMs: undefined,
        }),
      )
      return id
    }

    /** Asks for one request more than these limits of an account and a key of its own allow. */
    const refuse = async (reached: readonly string[]) => {
      const rateOf = (limit: string): number => (reached.includes(limit) ? 1 : 0)
      const usdOf = (limit: string) => (reached.includes(limit) ? picos(limitPicos) : zeroPicos)
      const accountId = await makeAccount(harness, {
        balancePicos: reached.includes('balance') ? limitPicos : 10_000n,
        dailyLimitPicos: usdOf('account_day'),
        monthlyLimitPicos: usdOf('account_month'),
        rpm: rateOf('account_rpm'),
        tpm: rateOf('account_tpm'),
      })
      const keyLimits = {
        dailyPicos: usdOf('key_day'),
        monthlyPicos: usdOf('key_month'),
        totalPicos: usdOf('key_total'),
        rpm: rateOf('key_rpm'),
        tpm: rateOf('key_tpm'),
      }
      const keyId = await makeKey(accountId, keyLimits)
      const requestOf = (amountPicos: bigint) =>
        holdRequest(harness, accountId, amountPicos, { keyId, keyLimits })
      const hold = await mustPlace(harness.ledger, requestOf(firstPicos))
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(hold, recordOf(hold, firstPicos, { endedAtMs }))
      const request = requestOf(secondPicos)
      const checked = await harness.ledger.check(request)
      return { checked, placed: await harness.ledger.place(request) }
    }

    const firstOf = (reached: readonly string[]) =>
      limits.find((limit) => reached.includes(limit.name))?.name

    const names = limits.map((limit) => limit.name)
    for (const reached of [names, ...pairsOf(names)])
      it(`${String(firstOf(reached))} refuses where ${reached.join(', ')} are reached`, async () => {
        const { checked, placed } = await refuse(reached)
        assert.deepEqual(nameOf(placed), firstOf(reached))
        assert.deepEqual(checked, placed)
      })

    it('none refuses where none is reached', async () => {
      const { checked, placed } = await refuse([])
      assert.deepEqual([checked, placed.kind], [undefined, 'hold'])
    })
  })
}

/** Each two names, and each one alone. */
function pairsOf(names: readonly string[]): readonly (readonly string[])[] {
  return names.flatMap((name, index) => [
    [name],
    ...names.slice(index + 1).map((other) => [name, other]),
  ])
}

/** The name of the limit that has refused. */
function nameOf(refusal: Hold | HoldRefusal): string | undefined {
  const scope = 'scope' in refusal ? refusal.scope : 'account'
  const period = 'period' in refusal ? refusal.period : undefined
  return limits.find(
    (limit) =>
      limit.refuses === refusal.kind &&
      limit.scope === scope &&
      (limit.refuses !== 'spending_limit' || limit.period === period),
  )?.name
}
