/**
 * Counting tokens beside the requests it counts for: it is another endpoint, which a vendor may lack or
 * serve when nothing else works. Whatever comes of it, channels are judged by their answers.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { send, type WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type JsonFields, places } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'

const { path, model, main, reserve } = places.messages
let clock: ManualClock
let gateway: Scenario
beforeEach(async () => {
  clock = new ManualClock()
  gateway = await scenario({ ...failoverDefaults, clock })
})
afterEach(() => gateway.close())

function count(sandbox?: string, marker?: string): Promise<WireAnswer> {
  return send(`${gateway.url}${path}/count_tokens`, {
    headers: {
      'content-type': 'application/json',
      'x-api-key': gateway.account.key,
      ...(sandbox !== undefined && { 'x-sandbox': sandbox }),
      ...(marker !== undefined && { 'x-sandbox-marker': marker }),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })
}

test('a channel whose answers fail goes off, however well it counts', async () => {
  gateway.sandbox.faults.set(main, { error: '502' })
  for (let asked = 0; asked < 5; asked++) {
    const answer = await gateway.ask({ format: 'messages', isStream: false })
    assert.equal(answer.status, 200)
    gateway.sandbox.faults.clear()
    for (let counted = 0; counted < 3; counted++) assert.equal((await count()).status, 200)
    gateway.sandbox.faults.set(main, { error: '502' })
  }
  assert.equal(gateway.grade(main, model), 'off')
  assert.equal(gateway.grade(reserve, model), 'on')
})

test('counting brings no channel back', async () => {
  gateway.sandbox.faults.set(main, { error: '502' })
  while (gateway.grade(main, model) === 'on')
    await gateway.ask({ format: 'messages', isStream: false })
  gateway.sandbox.faults.clear()
  for (let counted = 0; counted < 200; counted++) {
    assert.equal((await count()).status, 200)
    clock.advance(1_000)
  }
  assert.equal(gateway.app.health.state(main, model).mode, 'trial')
})

for (const missing of ['404_page', '404_path', '405', '501'])
  test(`vendors that do not count (${missing}) get an answer that says so, and no channel is lost`, async () => {
    for (let asked = 0; asked < 10; asked++) {
      const answer = await count(`error=${missing}`, `m${asked}`)
      assert.equal(answer.status, 404)
      assert.match(answer.body.toString(), /"not_found_error".*does not offer this endpoint/)
      // Both are asked once; from then on one of them is, until it is time to look again.
      assert.deepEqual(gateway.tried(`m${asked}`), asked === 0 ? [main, reserve] : [main])
    }
    for (const channel of [main, reserve]) assert.equal(gateway.grade(channel, model), 'on')
    assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
  })

test('a reserve counts where the main route does not', async () => {
  gateway.sandbox.faults.set(main, { error: '501' })
  assert.equal((await count()).status, 200)
})

const asJson = 'content_type=application/json'
const overloaded =
  '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"input_tokens":null}'

for (const [answer, contentType, body] of [
  ['nothing', asJson, ''],
  ['null', asJson, 'null'],
  ['a list', asJson, '[{"input_tokens":5}]'],
  ['a count in words', asJson, '{"input_tokens":"5"}'],
  ['half a count', asJson, '{"input_tokens":5'],
  ['an error', asJson, overloaded],
  ['a page of no type', 'content_type=', '<html>5</html>'],
] as const)
  test(`${answer} in place of a count is not passed on, and another channel counts`, async () => {
    const directives = `status=200; ${contentType}; body=${encodeURIComponent(body)}`
    gateway.sandbox.faults.set(main, directives)
    const counted = await count(undefined, answer)
    assert.deepEqual(gateway.tried(answer), [main, reserve])
    assert.equal(counted.status, 200)
    const { input_tokens: tokens } = JSON.parse(counted.body.toString()) as JsonFields
    assert.equal(typeof tokens, 'number')
    assert.equal(gateway.grade(main, model), 'on')
    gateway.sandbox.faults.set('*', directives)
    const failed = await count()
    assert.equal(failed.status, 502)
    assert.match(failed.body.toString(), /"api_error"/)
  })

test('a throttled or broken count leaves the channel to its answers', async () => {
  for (const fault of ['429', '500', '529', '403']) {
    gateway.sandbox.faults.set(main, { error: fault })
    for (let asked = 0; asked < 10; asked++) assert.equal((await count()).status, 200)
    assert.equal(gateway.grade(main, model), 'on', fault)
  }
})

test('a refused credential is refused for every kind of request', async () => {
  gateway.sandbox.faults.set(main, { error: '401' })
  assert.equal((await count()).status, 200)
  assert.equal(gateway.grade(main, model), 'off')
})
