/**
 * A request that one vendor-side model does not take, because its context is too long or by a 404 that
 * names no model: it goes once to a channel with another vendor-side model, and no channel is blamed.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { assertClean } from '../support/money.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

/** Of each format: the prompt is too long, as an answer; and a 404 about something else than the model. */
const refusals = {
  messages: ['error=400_context', 'error=404_thread_not_found'],
  chat: ['error=400_context_length_exceeded', 'error=404; code=no_file; message=No such file'],
} as const
const contextEvents = {
  messages: 'error_first=400_context',
  chat: 'error_first=400_context_length_exceeded',
} as const

let markerCount = 0

for (const format of formats) {
  const { main, reserve, model } = places[format]

  describe(`a request that a vendor-side model does not take (${format})`, () => {
    let gateway: Scenario
    before(async () => {
      const other = { models: { [model]: `${model}+input=7` } }
      gateway = await scenario({
        ...failoverDefaults,
        channels: { every: { check: 'none' }, named: { [reserve]: other } },
      })
    })
    after(async () => {
      await assertClean(gateway)
      await gateway.close()
    })
    beforeEach(async () => {
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
      await gateway.attempts()
    })

    for (const isStream of [false, true])
      for (const refusal of [...refusals[format], ...(isStream ? [contextEvents[format]] : [])])
        test(`is answered by another model (${refusal}, ${isStream ? 'stream' : 'whole'})`, async () => {
          const marker = `other-${markerCount++}`
          gateway.sandbox.faults.set(main, refusal)
          const untouched = gateway.app.health.state(main, model).evidence
          const ask = { format, isStream, marker }
          const answer = await gateway.ask(ask)
          assert.ok(hasEnd(answer, ask), answer.text)
          assert.deepEqual(gateway.tried(marker), [main, reserve])
          assert.deepEqual(await gateway.attempts(), {
            [`${main} client`]: 1,
            [`${reserve} ok`]: 1,
          })
          assert.deepEqual(gateway.app.health.state(main, model).evidence, untouched)
          const { ending, attemptCount, chargeCount, channel } = await gateway.recorded(answer)
          assert.deepEqual(
            [ending, attemptCount, chargeCount, channel],
            ['completed', 2, 1, reserve],
          )
        })

    for (const [name, second] of [
      ['refuses it alike', refusals[format][0]],
      ['finds another fault with it', 'error=400'],
      ['fails', 'error=502'],
      ['has an internal error', 'error=500'],
      ['gives no usable answer', 'not_format=json'],
    ] as const)
      test(`gets the first answer as it came where the other model ${name}`, async () => {
        const marker = `first-${markerCount++}`
        gateway.sandbox.faults.set(main, refusals[format][0])
        gateway.sandbox.faults.set(reserve, second)
        const answer = await gateway.ask({ format, isStream: true, marker })
        assert.deepEqual(gateway.tried(marker), [main, reserve])
        const first = await gateway.served(marker, main)
        assert.equal(answer.status, first.status)
        assert.deepEqual(answer.body, first.responseBody)
        const { ending, chargeCount, channel } = await gateway.recorded(answer)
        assert.deepEqual([ending, chargeCount, channel], ['refused', 0, main])
      })

    test('stays with the first answer where no channel has another model, or none is fit', async () => {
      gateway.sandbox.faults.set(reserve, 'error=401')
      gateway.sandbox.faults.set(main, 'error=502')
      await gateway.ask({ format, isStream: false })
      assert.equal(gateway.grade(reserve, model), 'off')
      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.set(main, refusals[format][0])
      const marker = `alone-${markerCount++}`
      assert.equal((await gateway.ask({ format, isStream: false, marker })).status, 400)
      assert.deepEqual(gateway.tried(marker), [main])
    })
  })

  test(`a channel with the same vendor-side model is not asked (${format})`, async () => {
    const gateway = await scenario(failoverDefaults)
    try {
      gateway.sandbox.faults.set(main, refusals[format][0])
      const answer = await gateway.ask({ format, isStream: false, marker: 'same' })
      assert.equal(answer.status, 400)
      assert.deepEqual(gateway.tried('same'), [main])
    } finally {
      await gateway.close()
    }
  })
}
