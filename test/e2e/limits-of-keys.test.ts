/**
 * The answers to a key that has reached a limit of its own, and to accounts and keys that have used their
 * tokens per minute: texts and headers in both formats, and what an operator's change does. The clock is
 * moved by hand.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { limitAccount, createClientKey, editKey, refundRequest } from '../support/operations.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { type Scenario, scenario } from '../support/scenario.ts'

interface World {
  readonly gateway: Scenario
  readonly clock: ManualClock
  /** The account's name. */
  readonly name: string
  /** A key with these limits. */
  readonly key: string
  readonly keyId: string
}

async function start(t: TestContext, limits: object = {}): Promise<World> {
  const clock = new ManualClock(Date.parse('2026-11-21T12:00:00Z'))
  const gateway = await scenario({ clock })
  t.after(() => gateway.close())
  const { name } = await gateway.createAccount({ balance_usd: '50' })
  const made = await createClientKey(gateway.context, { account: name, ...limits })
  return { gateway, clock, name, key: made.secret, keyId: made.key.id }
}

function ask({ gateway, key }: World, fields: object = {}): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, messagesRequest({ ...fields }))
}

function askChat({ gateway, key }: World): Promise<WireAnswer> {
  return post(gateway.url + chatPath, key, chatRequest())
}

function errorOf(answer: WireAnswer): Readonly<Record<string, unknown>> {
  const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }
  return error
}

test('a monthly limit of a key gets a 429 without retry that says when the month ends', async (t) => {
  const world = await start(t, { monthly_usd: '0.01' })
  assert.equal((await ask(world, { max_tokens: 400 })).status, 200)
  const refused = await ask(world, { max_tokens: 700 })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['x-should-retry'], 'false')
  assert.equal(refused.headers['retry-after'], undefined)
  assert.equal(errorOf(refused)['type'], 'rate_limit_error')
  // "hello" is 2 tokens and the body 83 bytes: 0.000006 or 2,083 tokens for 0.006249, and 0.0105 of output.
  assert.match(
    String(errorOf(refused)['message']),
    /^The key's monthly limit of 0\.01 USD would be exceeded: 0\.\d+ USD is spent or held this month and this request is likely to cost 0\.010506 USD and could cost up to 0\.016749 USD, with 700 tokens of output\. The quota will reset at 2026-12-01T00:00:00\.000Z\.$/,
  )
  world.clock.jumpWallTime(24 * 3_600_000)
  assert.equal((await ask(world, { max_tokens: 700 })).status, 429, 'the next day')
  world.clock.jumpWallTime(Date.parse('2026-12-01T00:00:00Z') - world.clock.now())
  assert.equal((await ask(world, { max_tokens: 600 })).status, 200, 'the next month')
})

test('a total limit of a key never resets, and says whom to ask', async (t) => {
  const world = await start(t, { total_usd: '0.01' })
  assert.equal((await ask(world, { max_tokens: 400 })).status, 200)
  world.clock.jumpWallTime(Date.parse('2028-01-01T00:00:00Z') - world.clock.now())
  const refused = await ask(world, { max_tokens: 700 })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['x-should-retry'], 'false')
  const message = String(errorOf(refused)['message'])
  assert.match(
    message,
    /^The key's total limit of 0\.01 USD would be exceeded: 0\.\d+ USD is spent/,
  )
  assert.match(
    message,
    /This limit does not reset\. Ask the operator of this gateway to raise it\.$/,
  )
})

test('the chat format has its codes for limits of keys', async (t) => {
  const world = await start(t, { total_usd: '0.000001' })
  const refused = await askChat(world)
  assert.equal(refused.status, 429)
  assert.equal(errorOf(refused)['code'], 'insufficient_quota')
  const unlimited = { total_usd: '0', monthly_usd: '0', daily_usd: '0' }
  for (const limit of ['monthly_usd', 'daily_usd'] as const) {
    await editKey(world.gateway.context, { id: world.keyId, ...unlimited, [limit]: '0.000001' })
    await world.gateway.app.refresh()
    const { type, code } = errorOf(await askChat(world))
    assert.deepEqual([type, code], ['insufficient_quota', 'insufficient_quota'], limit)
  }
})

test('requests per minute of a key are named as such, also where the account has more left', async (t) => {
  const world = await start(t, { rpm: 2 })
  await limitAccount(world.gateway.context, { account: world.name, rpm: 10 })
  await world.gateway.app.refresh()
  const first = await ask(world)
  assert.equal(first.status, 200)
  assert.equal(first.headers['anthropic-ratelimit-requests-limit'], '2')
  assert.equal(first.headers['anthropic-ratelimit-requests-remaining'], '1')
  world.clock.advance(10_000)
  const chat = await askChat(world)
  assert.equal(chat.headers['x-ratelimit-limit-requests'], '2')
  assert.equal(chat.headers['x-ratelimit-remaining-requests'], '0')
  const refused = await ask(world)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '50')
  assert.equal(
    errorOf(refused)['message'],
    'This key may send 2 requests per minute and has sent them. Try again in 50 s.',
  )
  assert.equal(errorOf(await askChat(world))['code'], 'rate_limit_exceeded')
  world.clock.advance(50_000)
  assert.equal((await ask(world)).status, 200)
})

for (const scope of ['account', 'key'] as const)
  test(`tokens per minute of the ${scope} are refused with the time at which they are free`, async (t) => {
    const world = await start(t, scope === 'key' ? { tpm: 1 } : {})
    const { gateway, name, clock } = world
    if (scope === 'account') await limitAccount(gateway.context, { account: name, tpm: 1 })
    await gateway.app.refresh()
    assert.equal((await ask(world)).status, 200)
    clock.advance(20_000)
    const refused = await ask(world)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '40')
    assert.equal(refused.headers['x-should-retry'], undefined)
    assert.equal(
      errorOf(refused)['message'],
      `The requests of this ${scope} that ended in the last minute have used its limit of 1 tokens per minute. Try again in 40 s.`,
    )
    assert.equal(errorOf(await askChat(world))['code'], 'rate_limit_exceeded')
    clock.advance(40_000)
    assert.equal((await ask(world)).status, 200)
  })

test('a change of a key is for the requests that follow, not for one that runs', async (t) => {
  const world = await start(t)
  const { gateway, keyId } = world
  gateway.sandbox.faults.set('alpha-main', { hold: 'running@before_head' })
  const running = ask(world)
  await gateway.sandbox.faults.reached('running')
  await editKey(gateway.context, { id: keyId, total_usd: '0.000000000001' })
  await gateway.app.refresh()
  gateway.sandbox.faults.release('running')
  assert.equal((await running).status, 200)
  gateway.sandbox.faults.clear()
  assert.equal((await ask(world)).status, 429)
  await editKey(gateway.context, { id: keyId, total_usd: '0', models: ['small-1'] })
  await gateway.app.refresh()
  assert.equal((await ask(world)).status, 400)
  await editKey(gateway.context, { id: keyId, models: null })
  await gateway.app.refresh()
  assert.equal((await ask(world)).status, 200)
})

test('a refund admits a request that the limit of the key refused', async (t) => {
  const world = await start(t, { daily_usd: '0.01' })
  const { gateway } = world
  const paid = await ask(world, { max_tokens: 400 })
  assert.equal((await ask(world, { max_tokens: 650 })).status, 429)
  await refundRequest(gateway.context, { request: String(paid.headers['x-turnpike-request-id']) })
  await gateway.app.refresh()
  assert.equal((await ask(world, { max_tokens: 650 })).status, 200)
})

test('a large body is refused before it is read where a limit of the key is reached', async (t) => {
  const world = await start(t, { total_usd: '0.000000000001' })
  assert.equal((await ask(world)).status, 429)
  const large = await ask(world, { system: 'x'.repeat(200_000) })
  assert.equal(large.status, 429)
  assert.match(String(errorOf(large)['message']), /The key's total limit of 0\.000000000001 USD/)
})
