/**
 * kill -9 right behind the last byte of a response: the client has its id, so the gateway that is started
 * next knows whose it is. Before the commit, the client has no end of it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { open, post, send } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'

const path = '/beta/v1/responses'
const body = { model: 'chat-1', input: 'hello', max_output_tokens: 100 }

describe('a gateway killed while it serves a response', () => {
  let setup: ProcessScenario
  before(async () => {
    setup = await scenario({ process: 'own' })
  })
  after(() => setup.close())

  for (const isStream of [true, false])
    for (const point of ['charge_submitted', 'charge_durable', 'answer_released'] as const)
      it(`at ${point}, ${isStream ? 'streamed' : 'whole'}`, async () => {
        const { key } = setup.account
        const gateway = await setup.start()
        await gateway.crashAt(point)
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const request = { headers, body: JSON.stringify({ ...body, stream: isStream }) }
        const seen = await open(gateway.url + path, request).ended.catch(() => ({ text: '' }))
        assert.equal(await gateway.ended, 'SIGKILL')
        const hasEnd = isStream ? seen.text.includes('"usage":{') : seen.text !== ''
        assert.equal(hasEnd, point === 'answer_released')

        const next = await setup.start()
        const id = /"(resp_\w+)"/.exec(seen.text)?.[1]
        if (hasEnd) {
          const continued = { ...body, previous_response_id: id }
          assert.equal((await post(next.url + path, key, continued)).status, 200)
          assert.equal((await send(`${next.url}${path}/${id}`, { headers })).status, 200)
        }
        await assertClean(setup)
        next.signal('SIGTERM')
        await next.ended
      })
})
