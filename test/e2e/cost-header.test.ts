/**
 * An answer that is not streamed says what it costs, to the pico-dollar; where nothing is said, the head
 * went out before the cost was known, or there is no answer.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { send } from '../support/http-client.ts'
import { chargesOf } from '../support/money.ts'
import { bodyFormats, formats } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ channels: { every: { check: 'none' } } })
after(() => gateway.close())

for (const format of bodyFormats)
  test(`a whole answer carries its exact cost (${format})`, async () => {
    const answer = await gateway.ask({ format, isStream: false })
    assert.equal(answer.status, 200, answer.text)
    const charges = await chargesOf(gateway.context.database, gateway.account.id)
    const charge = charges.get(String(answer.headers['x-turnpike-request-id'])) ?? 0n
    assert.ok(charge > 0n)
    assert.equal(answer.headers['x-turnpike-cost-usd'], formatUsd(picos(charge)))
  })

for (const format of formats) {
  test(`a stream and an error name no cost (${format})`, async () => {
    const stream = await gateway.ask({ format, isStream: true })
    assert.equal(stream.status, 200)
    const error = await gateway.ask({ format, isStream: false, sandbox: 'error=400' })
    assert.equal(error.status, 400)
    for (const { headers } of [stream, error])
      assert.equal(headers['x-turnpike-cost-usd'], undefined)
  })

  test(`an answer without output costs nothing, and says so (${format})`, async () => {
    const answer = await gateway.ask({ format, isStream: false, sandbox: 'output=0' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['x-turnpike-cost-usd'], '0')
  })
}

test('an operation that is free says so', async () => {
  const answer = await send(`${gateway.url}/alpha/v1/messages/count_tokens`, {
    headers: { 'x-api-key': gateway.account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'large-1', messages: [{ role: 'user', content: 'hello' }] }),
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-turnpike-cost-usd'], '0')
})
