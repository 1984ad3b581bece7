/** A model that offers responses only: its channel is checked by a response, goes off and comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support/http-client.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { responsesPath, responsesRequest } from '../support/requests.ts'
import { failoverDefaults, withScenario } from '../support/scenario.ts'

const catalogue = (url: string): string => `
vendors: { beta: { format: chat } }
models:
  chat-1: { vendor: beta, operations: [responses], price: { input: 1, output: 2 } }
channels:
  beta-main:
    vendor: beta
    url: ${url}/beta-main
    credential: sandbox-credential-beta-main
    models: [chat-1]
    check: request
`

test('a channel of such a model is probed by responses and returns', async () => {
  const clock = new ManualClock()
  await withScenario({ ...failoverDefaults, clock, catalogue, channels: {} }, async (gateway) => {
    const ask = (): Promise<{ status: number }> =>
      send(gateway.url + responsesPath, {
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${gateway.account.key}`,
        },
        body: JSON.stringify(responsesRequest()),
      })
    // The endpoint for chat is broken for good: a check that asked for it would keep the channel off.
    gateway.sandbox.faults.set('beta-main', 'error=502')
    for (let asked = 0; asked < 5; asked++) assert.equal((await ask()).status, 502)
    assert.equal(gateway.grade('beta-main', 'chat-1'), 'off')
    gateway.sandbox.faults.set('beta-main', 'not_offered=chat')
    gateway.sandbox.log.clear()
    await advanceUntil(clock, 600_000, async () => {
      await gateway.health()
      return gateway.grade('beta-main', 'chat-1') !== 'off'
    })
    const targets = new Set(gateway.sandbox.log.records.map(({ target }) => target))
    assert.deepEqual([...targets], ['/beta-main/v1/responses'])
    assert.equal((await ask()).status, 200)
  })
})
