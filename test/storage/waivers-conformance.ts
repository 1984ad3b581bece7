/**
 * What an account may leave early, or get empty, without paying for it: an allowance in money that a restart
 * and other processes go on with. Amounts are thousandths of USD.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { dayMs } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { picos, picosPerUsd, type Picos } from '../../src/base/money.ts'
import { Waivers, type WaiverRequest } from '../../src/ledger/waivers.ts'
import {
  addCredit,
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const thousandth = picosPerUsd / 1_000n

function money(thousandths: number): Picos {
  return picos(BigInt(thousandths) * thousandth)
}

export function describeWaivers(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let waivers: Waivers
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      waivers = openWaivers()
      accountId = await makeAccount(harness)
      await addCredit(harness, accountId, 10_000n * picosPerUsd)
    })
    afterEach(async () => {
      try {
        assert.deepEqual(await findDifferences(harness.database), [])
      } finally {
        await harness.close()
      }
    })
    const openWaivers = (): Waivers => {
      const onError = (error: unknown): never => {
        throw error
      }
      return new Waivers({ database: harness.database, onError })
    }
    const request = (thousandths: number): WaiverRequest => {
      const atMs = harness.clock.now()
      return { exchangeId: newId('ex', atMs), accountId, likelyPicos: money(thousandths), atMs }
    }
    const ask = (thousandths: number): Promise<boolean> => waivers.ask(request(thousandths))
    /** Settles an exchange that is charged, or that is free. */
    const settle = async (
      exchangeId: string,
      { charged = 0, waived = 0 }: { charged?: number; waived?: number },
    ): Promise<void> => {
      const asked = holdRequest(harness, accountId, money(charged), { exchangeId })
      const hold = await mustPlace(harness.ledger, asked)
      const nothing = { usage: undefined, priceLines: '', waivedPicos: money(waived) }
      await harness.ledger.settle(
        hold,
        recordOf(hold, money(charged), {
          startedAtMs: asked.atMs,
          endedAtMs: asked.atMs,
          ...(charged === 0 && nothing),
        }),
      )
    }
    /** Asks, and records the exchange where it is free. */
    const take = async (thousandths: number): Promise<boolean> => {
      const asked = request(thousandths)
      const isFree = await waivers.ask(asked)
      if (isFree) await settle(asked.exchangeId, { waived: thousandths })
      waivers.ended(asked)
      return isFree
    }
    const chargeUsd = (usd: number): Promise<void> =>
      settle(newId('ex', harness.clock.now()), { charged: usd * 1_000 })

    it('are free up to half a dollar in 24 hours', async () => {
      assert.equal(await take(300), true)
      assert.equal(await take(201), false)
      assert.equal(await take(200), true)
      assert.equal(await take(1), false)
      assert.equal(await take(0), true)
      harness.clock.advance(dayMs - 1_000)
      assert.equal(await take(1), false)
      harness.clock.advance(2_000)
      assert.equal(await take(500), true)
    })

    it('are free up to a fiftieth of the charges of the day and of the one before, if that is more', async () => {
      await chargeUsd(24)
      assert.equal(await take(501), false)
      await chargeUsd(26)
      assert.equal(await take(1_001), false)
      assert.equal(await take(1_000), true)
      harness.clock.advance(dayMs + 1)
      assert.equal(await take(1_000), true)
      assert.equal(await take(1), false)
      harness.clock.advance(dayMs + 1)
      assert.equal(await take(501), false)
    })

    it('go on where they were after a restart, and in another process', async () => {
      assert.equal(await take(300), true)
      waivers = openWaivers()
      assert.equal(await take(300), false)
      harness = await harness.restart()
      waivers = openWaivers()
      assert.equal(await take(300), false)
      assert.equal(await take(200), true)
    })

    it('count before they are recorded, however many ask at once', async () => {
      const asked = Array.from({ length: 20 }, () => request(100))
      const answers = await Promise.all(asked.map((one) => waivers.ask(one)))
      assert.equal(answers.filter(Boolean).length, 5)
      assert.equal(await ask(1), false)
      // Exchanges of another account are free all the same.
      const other = await makeAccount(harness)
      assert.equal(await waivers.ask({ ...request(500), accountId: other }), true)
    })

    it('answer the same for the same exchange, and take once for it', async () => {
      const asked = request(300)
      assert.deepEqual(await Promise.all([waivers.ask(asked), waivers.ask(asked)]), [true, true])
      assert.equal(await waivers.ask(asked), true)
      assert.equal(await ask(200), true)
    })

    it('give back what an exchange does not need in the end', async () => {
      const asked = request(500)
      assert.equal(await waivers.ask(asked), true)
      assert.equal(await ask(1), false)
      waivers.ended(asked)
      assert.equal(await ask(500), true)
    })
  })

  it('are free where the store does not answer, which is reported', async () => {
    const errors: unknown[] = []
    const away = new Error('away')
    const waivers = new Waivers({
      database: { query: () => Promise.reject(away) },
      onError: (error) => void errors.push(error),
    })
    const asked = { exchangeId: 'ex_1', accountId: 'acc_1', likelyPicos: money(9_000), atMs: 0 }
    assert.equal(await waivers.ask(asked), true)
    assert.deepEqual(errors, [away])
  })
}
