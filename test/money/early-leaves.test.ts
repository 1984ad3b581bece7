/**
 * Clients that leave before the first byte of their answer, again and again. Goal: a few such leaves are
 * free. Beyond them the vendor's answer is read to its end and charged as the vendor counts it, and a
 * vendor that fails is not charged. The gateway's clock stands still unless a test moves it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../support/manual-clock.ts'
import { only, type RecordedExchange, vendorPrice } from '../support/money.ts'
import { bodyFormats, formsOf, openAsk, type Ask } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'

const graceMs = 5_000
const content = 'input=20; output=6; piece=the%20'

interface Leaving {
  readonly gateway: Scenario
  readonly clock: ManualClock
  readonly account: TestAccount
  /** Sends a request and leaves while the vendor waits; the grace time passes. */
  readonly leave: (ask: Ask) => Promise<void>
}

function withLeaving(
  settings: Readonly<Record<string, string>>,
  work: (leaving: Leaving) => Promise<void>,
): Promise<void> {
  const clock = new ManualClock()
  return withScenario({ clock, settings }, async (gateway) => {
    const account = await gateway.createAccount()
    let count = 0
    await work({
      gateway,
      clock,
      account,
      async leave(ask) {
        const gate = ask.marker ?? ''
        const sandbox = `${content}; hold=${gate}@before_head; ${ask.sandbox ?? ''}`
        const client = openAsk(gateway.url, account.key, { ...ask, sandbox })
        await gateway.sandbox.faults.reached(gate)
        client.leave()
        await gateway.passed('client_left', ++count)
        clock.advance(graceMs + 200)
      },
    })
  })
}

function newest(exchanges: readonly RecordedExchange[], count: number): RecordedExchange {
  assert.equal(exchanges.length, count)
  return only(exchanges.slice(-1))
}

for (const format of bodyFormats)
  for (const isStream of formsOf(format))
    describe(`clients that leave a ${format} ${isStream ? 'stream' : 'answer'} early`, () => {
      // As many tokens as the vendor counts, so that the hold of every format covers them.
      const prompt = 'word '.repeat(20)
      const ask = (marker: string, sandbox = ''): Ask => {
        return { format, isStream, marker, prompt, sandbox }
      }

      test('pay nothing for the first ones, then what the vendor counts', async () => {
        await withLeaving({ free_leaves: '2' }, async ({ gateway, clock, account, leave }) => {
          for (let count = 1; count <= 2; count++) {
            await leave(ask(`free-${count}`))
            const free = newest(await gateway.ended(account, count), count)
            assert.deepEqual([free.ending, free.amountPicos], ['client_left', 0n])
            assert.ok(free.operatorCostPicos > 0n)
          }
          await leave(ask('paid'))
          // Longer than any grace time: the gateway reads to the end.
          clock.advance(20_000)
          gateway.sandbox.faults.release('paid')
          const paid = newest(await gateway.ended(account, 3), 3)
          const [record] = gateway.sandbox.log.forMarker('paid')
          assert.ok(record !== undefined)
          assert.equal(paid.ending, 'client_left')
          assert.equal(paid.amountPicos, vendorPrice(record))
          assert.deepEqual(paid.marks, [])
        })
      })

      test('pay nothing beyond them where the vendor fails', async () => {
        const faults = isStream
          ? ['status=500', 'cut_event=3', 'error_at=3']
          : ['status=500', 'cut=20']
        for (const fault of faults)
          await withLeaving({ free_leaves: '0' }, async ({ gateway, account, leave }) => {
            await leave(ask('failed', fault))
            gateway.sandbox.faults.release('failed')
            const failed = only(await gateway.ended(account, 1))
            assert.equal(failed.amountPicos, 0n, fault)
            assert.equal(gateway.sandbox.log.forMarker('failed').length, 1)
          })
      })

      test('pay nothing beyond them where the vendor does not answer in time', async () => {
        const settings = { free_leaves: '0', first_event_timeout: '2m', answer_timeout: '2m' }
        await withLeaving(settings, async ({ gateway, clock, account, leave }) => {
          await leave(ask('silent'))
          clock.advance(130_000)
          const { ending, amountPicos } = only(await gateway.ended(account, 1))
          assert.deepEqual([ending, amountPicos], ['client_left', 0n])
        })
      })
    })

test('an account may leave a percentage of its requests early', async () => {
  const settings = { free_leaves: '0', free_leaves_percent: '50' }
  await withLeaving(settings, async ({ gateway, account, leave }) => {
    const ask: Ask = { format: 'messages', isStream: true, key: account.key }
    for (let count = 1; count <= 3; count++) await gateway.ask({ ...ask, sandbox: content })
    for (const marker of ['free-1', 'free-2', 'free-3']) await leave({ ...ask, marker })
    await leave({ ...ask, marker: 'paid' })
    gateway.sandbox.faults.release('paid')
    const exchanges = await gateway.ended(account, 7)
    assert.equal(exchanges.filter(({ amountPicos }) => amountPicos === 0n).length, 3)
  })
})
