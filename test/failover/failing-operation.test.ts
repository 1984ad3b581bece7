/**
 * A main channel on which one operation fails while the others work. Goal: every client has its answer,
 * from the reserve; what works on the channel stays there, or comes back by itself.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Operation } from '../../sandbox/endpoints.ts'
import { hasEnd, isErrorEvent } from '../support/answers.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { type Ask, formsOf, places, type BodyFormat } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

const { main, reserve, model } = places.chat

const operations = {
  responses: 'responses.create',
  completions: 'completions.create',
  embeddings: 'embeddings.create',
} as const satisfies Partial<Record<BodyFormat, Operation>>

type Further = keyof typeof operations

/** The main channel fails requests for this operation and no others. */
function failOn(gateway: Scenario, format: Further, fault: string): void {
  gateway.sandbox.faults.set(main, (_index, { operation }) =>
    operation === operations[format] ? fault : undefined,
  )
}

async function withGateway(work: (gateway: Scenario, clock: ManualClock) => Promise<void>) {
  const clock = new ManualClock()
  const settings = { check_interval: '1440m' }
  const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
  try {
    await work(gateway, clock)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
}

for (const format of ['responses', 'completions', 'embeddings'] as const) {
  describe(`a main channel that fails ${format} only`, () => {
    for (const isStream of formsOf(format)) {
      const faults = isStream
        ? ['error=500', 'error_first=500', 'cut_event=0', 'reset=before_head']
        : ['error=500', 'cut=5', 'reset=before_head']
      for (const fault of faults)
        test(`(${isStream ? 'streams' : 'whole answers'}: ${fault}) has them served by the reserve, once each`, () =>
          withGateway(async (gateway) => {
            failOn(gateway, format, fault)
            for (let asked = 0; asked < 12; asked++) {
              const ask: Ask = { format, isStream, marker: `failing-${asked}` }
              assert.ok(hasEnd(await gateway.ask(ask), ask))
              assert.equal(gateway.tried(`failing-${asked}`).at(-1), reserve)
              const beside: Ask = { format: 'chat', isStream, marker: `beside-${asked}` }
              assert.ok(hasEnd(await gateway.ask(beside), beside))
            }
            const charges = await chargesOf(gateway.context.database, gateway.account.id)
            assert.equal(charges.size, 24)
          }))
    }

    test('serves everything again once it is well', () =>
      withGateway(async (gateway, clock) => {
        failOn(gateway, format, 'error=500')
        const isStream = formsOf(format)[0] ?? false
        for (let asked = 0; asked < 12; asked++) await gateway.ask({ format, isStream })
        gateway.sandbox.faults.clear()
        await advanceUntil(clock, 900_000, async () => {
          await gateway.health()
          return gateway.grade(main, model) === 'on'
        })
        for (const next of ['chat', format] as const) {
          await gateway.ask({ format: next, isStream, marker: `well-${next}` })
          assert.deepEqual(gateway.tried(`well-${next}`), [main])
        }
      }))
  })
}

for (const format of ['responses', 'completions'] as const)
  test(`an error in the middle of a stream of ${format} is the client's to see, and blames the channel`, () =>
    withGateway(async (gateway) => {
      failOn(gateway, format, 'output=8; error_at=6; event_error=500')
      const answer = await gateway.ask({ format, isStream: true, marker: 'midway' })
      assert.ok(!answer.isComplete && isErrorEvent(answer.text, format), answer.text)
      assert.deepEqual(gateway.tried('midway'), [main])
      const { ending, chargeCount } = await gateway.recorded(answer)
      assert.deepEqual([ending, chargeCount], ['upstream_cut', 0])
      assert.deepEqual(await gateway.attempts(), { [`${main} broken`]: 1 })
    }))
