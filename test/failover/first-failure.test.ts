/**
 * A reserve refuses what the main channel may take: a signature, a beta or a field that only one of two
 * clouds knows. Where the main channel failed in a way that passes, the client gets that failure, and can try
 * again.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { assertClean } from '../support/money.ts'
import { showRequest } from '../support/operations.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

const tooLong = {
  messages: 'error=400_context',
  chat: 'error=400_context_length_exceeded',
} as const

const noCredit = { messages: 'error=402', chat: 'error=429_insufficient_quota' } as const

/** How the main channel fails, the status that the client gets, and whether the body is the vendor's. */
const passing = {
  messages: [
    ['error=529', 529, true],
    ['error=503', 503, true],
    ['error=500', 500, true],
    ['error=429', 429, false],
    ['error_first=529', 503, false],
    ['reset=before_head', 502, false],
    ['not_format=html', 502, false],
  ],
  chat: [
    ['error=503', 503, true],
    ['error=500', 500, true],
    ['error=429', 429, false],
    ['reset=before_head', 502, false],
    ['not_format=html', 502, false],
  ],
} as const

let markerCount = 0

for (const format of formats) {
  const { main, reserve, model } = places[format]

  describe(`a refusal of the reserve (${format})`, () => {
    let gateway: Scenario
    before(async () => {
      gateway = await scenario(failoverDefaults)
    })
    after(async () => {
      await assertClean(gateway)
      await gateway.close()
    })
    beforeEach(() => {
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
    })

    async function ask(first: string, second: string) {
      const marker = `doubt-${markerCount++}`
      gateway.sandbox.faults.set(main, first)
      gateway.sandbox.faults.set(reserve, second)
      const answer = await gateway.ask({ format, isStream: true, marker })
      return { answer, marker, tried: [...new Set(gateway.tried(marker))] }
    }

    for (const [fault, status, isVendors] of passing[format])
      test(`does not reach the client after ${fault}`, async () => {
        const { answer, marker, tried } = await ask(fault, 'error=400')
        assert.deepEqual(tried, [main, reserve])
        assert.equal(answer.status, status, answer.text)
        assert.notEqual(answer.headers['x-should-retry'], 'false')
        if (isVendors) {
          const first = await gateway.served(marker, main)
          assert.deepEqual(answer.body, first.responseBody)
        }
        const { ending, chargeCount } = await gateway.recorded(answer)
        assert.deepEqual([ending, chargeCount], ['failed', 0])
        const shown = await showRequest(gateway.context, {
          request: String(answer.headers['x-turnpike-request-id']),
        })
        assert.deepEqual([...new Set(shown.attempts.map((one) => one.channel))], [main, reserve])
        assert.deepEqual(shown.attempts.at(-1)?.class, 'client')
        assert.deepEqual(shown.attempts.at(-1)?.blame, 'none')
      })

    for (const [name, first, second] of [
      ['is about the context', 'error=500', tooLong[format]],
      ['follows a refused credential', 'error=401', 'error=400'],
      ['follows used-up credit', noCredit[format], 'error=400'],
      ['follows a model that the vendor lacks', 'error=404', 'error=400'],
    ] as const)
      test(`passes as it came where it ${name}`, async () => {
        const { answer, marker, tried } = await ask(first, second)
        assert.deepEqual(tried, [main, reserve])
        const refused = await gateway.served(marker, reserve)
        assert.equal(answer.status, 400, answer.text)
        assert.deepEqual(answer.body, refused.responseBody)
        assert.equal((await gateway.recorded(answer)).ending, 'refused')
      })

    test(`moves no channel's health (${model})`, async () => {
      const untouched = gateway.app.health.state(reserve, model).evidence
      await ask('error=503', 'error=400')
      assert.deepEqual(gateway.app.health.state(reserve, model).evidence, untouched)
    })
  })
}
