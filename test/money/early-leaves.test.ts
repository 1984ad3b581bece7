/**
 * Requests that come to nothing for their client, again and again: it leaves before the first byte, or the
 * answer is empty. Goal: they are free while their likely costs stay within an allowance in money; beyond it
 * the input and what was delivered are charged, and the holder reads why. The gateway's clock stands still
 * unless a test moves it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { send } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { only, type RecordedExchange, vendorPrice } from '../support/money.ts'
import { formsOf, openAsk, sendAsk, streamedFormats, type Ask, alike } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'

const graceMs = 5_000
const content = 'input=20; output=6; piece=the%20'
/** Costs more than half of the allowance and less than all of it, at 10 and at 15 USD per million. */
const maxTokens = 30_000

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

/** What the holder reads about the request. */
async function explanationOf(
  gateway: Scenario,
  account: TestAccount,
  { exchangeId }: RecordedExchange,
): Promise<string> {
  const headers = { authorization: `Bearer ${account.token}` }
  const answer = await send(`${gateway.url}/v1/usage/requests/${exchangeId}`, { headers })
  const { explanation } = JSON.parse(answer.text) as { readonly explanation: string }
  return explanation
}

for (const format of alike(streamedFormats))
  for (const isStream of formsOf(format))
    describe(`clients that leave a ${format} ${isStream ? 'stream' : 'answer'} early`, () => {
      const prompt = 'word '.repeat(20)
      const ask = (marker: string, sandbox = ''): Ask => {
        return { format, isStream, marker, prompt, sandbox, maxTokens }
      }

      test('pay nothing within the allowance, then the input', async () => {
        await withLeaving({}, async ({ gateway, account, leave }) => {
          await leave(ask('free'))
          const free = newest(await gateway.ended(account, 1), 1)
          assert.deepEqual([free.ending, free.amountPicos, free.marks], ['client_left', 0n, []])
          assert.ok(free.operatorCostPicos > 0n)
          assert.doesNotMatch(await explanationOf(gateway, account, free), /charged/)

          await leave(ask('paid'))
          const paid = newest(await gateway.ended(account, 2), 2)
          assert.equal(paid.ending, 'client_left')
          assert.deepEqual(paid.marks, ['not_free', 'estimated'])
          assert.deepEqual(paid.usage?.reported.outputTokens, 0)
          assert.ok(paid.amountPicos > 0n && paid.amountPicos < 200n * 3_000_000n)
          assert.equal(paid.operatorCostPicos, 0n)
          assert.match(await explanationOf(gateway, account, paid), /is charged/)
          for (const marker of ['free', 'paid'])
            await gateway.sandbox.log.waitFor(
              (record) => record.marker === marker && record.phase === 'closed',
            )
        })
      })

      test('pay the count beyond it where the answer comes within the grace period', async () => {
        await withLeaving({}, async ({ gateway, clock, account, leave }) => {
          await leave(ask('free'))
          const counted: Ask = {
            ...ask('counted'),
            sandbox: `${content}; hold=counted@before_head`,
          }
          const client = openAsk(gateway.url, account.key, counted)
          await gateway.sandbox.faults.reached('counted')
          client.leave()
          await gateway.passed('client_left', 2)
          clock.advance(graceMs - 1_000)
          gateway.sandbox.faults.release('counted')
          const paid = newest(await gateway.ended(account, 2), 2)
          const [record] = gateway.sandbox.log.forMarker('counted')
          assert.ok(record !== undefined)
          assert.deepEqual([paid.amountPicos, paid.marks], [vendorPrice(record), ['not_free']])
        })
      })

      test('pay nothing beyond it where the vendor fails', async () => {
        await withLeaving({}, async ({ gateway, account, leave }) => {
          await leave(ask('free'))
          gateway.sandbox.faults.set('*', 'hold=failed@before_head; status=500')
          const client = openAsk(gateway.url, account.key, ask('failed'))
          await gateway.sandbox.faults.reached('failed')
          client.leave()
          await gateway.passed('client_left', 2)
          gateway.sandbox.faults.release('failed')
          const failed = newest(await gateway.ended(account, 2), 2)
          assert.deepEqual([failed.ending, failed.amountPicos], ['client_left', 0n])
          assert.equal(gateway.sandbox.log.forMarker('failed').length, 1)
        })
      })

      test('pay for empty answers beyond the allowance, by the vendor’s count', async () => {
        await withScenario({}, async (gateway) => {
          const account = await gateway.createAccount()
          for (const marker of ['free', 'paid']) {
            const empty: Ask = { ...ask(marker), sandbox: 'input=20; output=0' }
            const answer = await sendAsk(gateway.url, account.key, empty)
            assert.ok(answer.isComplete)
          }
          const [free, paid] = await gateway.ended(account, 2)
          assert.ok(free !== undefined && paid !== undefined)
          assert.deepEqual([free.ending, free.amountPicos, free.marks], ['completed', 0n, []])
          const [record] = gateway.sandbox.log.forMarker('paid')
          assert.ok(record !== undefined)
          assert.deepEqual([paid.amountPicos, paid.marks], [vendorPrice(record), ['not_free']])
          assert.match(await explanationOf(gateway, account, paid), /is charged/)
        })
      })
    })

test('of requests that are left at once no more are free than the allowance covers', async () => {
  await withLeaving({}, async ({ gateway, clock, account }) => {
    const markers = Array.from({ length: 8 }, (_, index) => `at-once-${index}`)
    const clients = markers.map((marker) => {
      const sandbox = `${content}; hold=${marker}@before_head`
      // About 0.15 USD each.
      const ask: Ask = { format: 'messages', isStream: true, maxTokens: 10_000, marker, sandbox }
      return openAsk(gateway.url, account.key, ask)
    })
    await Promise.all(markers.map((marker) => gateway.sandbox.faults.reached(marker)))
    for (const client of clients) client.leave()
    await gateway.passed('client_left', markers.length)
    clock.advance(graceMs + 200)
    const exchanges = await gateway.ended(account, markers.length)
    assert.equal(exchanges.filter(({ amountPicos }) => amountPicos === 0n).length, 3)
    assert.ok(
      exchanges.every(({ marks, amountPicos }) => marks.includes('not_free') === amountPicos > 0n),
    )
  })
})
