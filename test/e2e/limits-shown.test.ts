/**
 * `GET /v1/usage`: the account's balance, limits and figures, in exactly the specified shape. The
 * simulated vendors' own record of what they served is what the sums are compared with.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../support/manual-clock.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { limitAccount } from '../support/operations.ts'

interface Figures {
  readonly requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_usd: number
}

interface Usage {
  readonly balance_usd: number
  readonly currency: string
  readonly period: string
  readonly limits: Readonly<Record<string, number>>
  readonly usage: Figures & { readonly cache_tokens: number }
  readonly by_model: readonly (Figures & { readonly model: string })[]
}

async function start(
  t: TestContext,
  at: string,
): Promise<{ readonly gateway: Scenario; readonly clock: ManualClock }> {
  const clock = new ManualClock(Date.parse(at))
  const gateway = await scenario({ clock })
  t.after(() => gateway.close())
  return { gateway, clock }
}

function read({ url }: Scenario, secret: string, query = ''): Promise<WireAnswer> {
  return send(`${url}/v1/usage${query}`, { headers: { authorization: `Bearer ${secret}` } })
}

async function figures(gateway: Scenario, { token }: TestAccount, period = ''): Promise<Usage> {
  const answer = await read(gateway, token, period === '' ? '' : `?period=${period}`)
  assert.equal(answer.status, 200, answer.body.toString())
  return JSON.parse(answer.body.toString()) as Usage
}

async function spend(
  gateway: Scenario,
  { key }: TestAccount,
  model: string,
  wish = '',
): Promise<void> {
  const isChat = model.startsWith('chat')
  const request = (isChat ? chatRequest : messagesRequest)({ model, max_tokens: 100 })
  const headers = wish === '' ? undefined : { 'x-sandbox': wish }
  const answer = await post(gateway.url + (isChat ? chatPath : messagesPath), key, request, headers)
  assert.equal(answer.status, 200, answer.body.toString())
}

const noFigures = { input_tokens: 0, output_tokens: 0, cache_tokens: 0, requests: 0, cost_usd: 0 }

test('an unused account has every field, all zero', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const account = await gateway.createAccount({ balance_usd: '12.5' })
  for (const period of ['', 'day', 'month', 'total']) {
    const text = (await read(gateway, account.token, period && `?period=${period}`)).body.toString()
    const shown: unknown = JSON.parse(text)
    assert.deepEqual(shown, {
      balance_usd: 12.5,
      currency: 'USD',
      period: period || 'day',
      limits: { daily_usd: 0, daily_used_usd: 0, window_minutes: 1, rpm: 0 },
      usage: noFigures,
      by_model: [],
    })
  }
})

test('the answer is JSON with no-store', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const { token } = await gateway.createAccount()
  const answer = await read(gateway, token)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['etag'], undefined)
  const refused = await read(gateway, token, '?period=week')
  assert.equal(refused.headers['cache-control'], 'no-store')
})

test('figures are what the vendors served, by model, highest cost first', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const account = await gateway.createAccount({ balance_usd: '10' })
  await spend(gateway, account, 'chat-mini-1', 'input=1000; cached=200; output=3')
  await spend(
    gateway,
    account,
    'large-1',
    'input=10; cached=7; cache_write_5m=5; cache_write_1h=3; output=20',
  )
  await spend(gateway, account, 'large-1', 'input=11; output=1')
  await spend(gateway, account, 'chat-1', 'input=50; output=10; reasoning=4')
  const shown = await figures(gateway, account)

  assert.deepEqual(
    shown.by_model.map((row) => row.model),
    ['large-1', 'chat-1', 'chat-mini-1'],
  )
  const costs = shown.by_model.map((row) => row.cost_usd)
  assert.deepEqual(
    costs,
    costs.toSorted((left, right) => right - left),
  )
  for (const row of shown.by_model)
    assert.deepEqual(Object.keys(row).sort(), [
      'cost_usd',
      'input_tokens',
      'model',
      'output_tokens',
      'requests',
    ])

  const wire = gateway.sandbox.log.records.map((record) => record.wireUsage as WireUsage)
  const sum = (pick: (usage: WireUsage) => number | undefined): number =>
    wire.reduce((total, usage) => total + (pick(usage) ?? 0), 0)
  assert.equal(shown.usage.requests, 4)
  assert.equal(
    shown.usage.input_tokens,
    sum((usage) => usage.input_tokens ?? usage.prompt_tokens),
  )
  assert.equal(
    shown.usage.output_tokens,
    sum((usage) => usage.output_tokens ?? usage.completion_tokens),
  )
  assert.equal(
    shown.usage.cache_tokens,
    sum(
      (usage) =>
        (usage.cache_read_input_tokens ?? 0) +
        (usage.cache_creation_input_tokens ?? 0) +
        (usage.prompt_tokens_details?.cached_tokens ?? 0),
    ),
  )
  for (const field of ['requests', 'input_tokens', 'output_tokens'] as const)
    assert.equal(
      shown.by_model.reduce((total, row) => total + row[field], 0),
      shown.usage[field],
    )
  const picos = (usd: number): bigint => BigInt(Math.round(usd * 1e12))
  const byModel = shown.by_model.reduce((total, row) => total + picos(row.cost_usd), 0n)
  assert.equal(byModel, picos(shown.usage.cost_usd))
  assert.equal(picos(shown.balance_usd), picos(10) - byModel)
  assert.equal(shown.limits['daily_used_usd'], shown.usage.cost_usd)
})

interface WireUsage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cache_read_input_tokens?: number
  readonly cache_creation_input_tokens?: number
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number }
}

test('day and month are in UTC, and total has everything', async (t) => {
  const { gateway, clock } = await start(t, '2026-11-29T23:59:59Z')
  const account = await gateway.createAccount()
  const counts = async (): Promise<readonly number[]> => {
    const requests: number[] = []
    for (const period of ['day', 'month', 'total'])
      requests.push((await figures(gateway, account, period)).usage.requests)
    return requests
  }
  await spend(gateway, account, 'large-1')
  assert.deepEqual(await counts(), [1, 1, 1])
  clock.advance(1_000)
  assert.deepEqual(await counts(), [0, 1, 1], 'the next day')
  await spend(gateway, account, 'large-1')
  assert.deepEqual(await counts(), [1, 2, 2])
  clock.advance(86_400_000)
  assert.deepEqual(await counts(), [0, 0, 2], 'the next month')
  const today = await figures(gateway, account, 'day')
  assert.deepEqual([today.usage, today.by_model], [noFigures, []])
  assert.equal(today.limits['daily_used_usd'], 0)
  await spend(gateway, account, 'small-1')
  assert.deepEqual(await counts(), [1, 1, 3])
})

test('limits are the current ones and do not depend on the period', async (t) => {
  const { gateway, clock } = await start(t, '2026-11-21T23:00:00Z')
  const account = await gateway.createAccount({ daily_usd: '5.25', rpm: 30, window_minutes: 10 })
  await spend(gateway, account, 'large-1')
  const day = await figures(gateway, account, 'day')
  assert.deepEqual(day.limits, {
    daily_usd: 5.25,
    daily_used_usd: day.usage.cost_usd,
    window_minutes: 10,
    rpm: 30,
  })
  for (const period of ['month', 'total'])
    assert.deepEqual((await figures(gateway, account, period)).limits, day.limits)
  clock.advance(3_600_000)
  const later = await figures(gateway, account, 'total')
  assert.equal(later.limits['daily_used_usd'], 0, 'a new day')
  assert.ok(later.usage.cost_usd > 0)
  await limitAccount(gateway.context, { account: account.name, rpm: 0, daily_usd: '0' })
  await gateway.app.refresh()
  const lifted = await figures(gateway, account)
  assert.deepEqual([lifted.limits['daily_usd'], lifted.limits['rpm']], [0, 0])
})

test('a hold is not subtracted from the balance; a charge is, in the very next call', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const account = await gateway.createAccount({ balance_usd: '1' })
  gateway.sandbox.faults.set('alpha-main', { hold: 'held@before_head' })
  const running = post(gateway.url + messagesPath, account.key, messagesRequest())
  await gateway.sandbox.faults.reached('held')
  const before = await figures(gateway, account)
  assert.deepEqual([before.balance_usd, before.usage.requests], [1, 0])
  gateway.sandbox.faults.release('held')
  assert.equal((await running).status, 200)
  const after = await figures(gateway, account)
  assert.equal(after.usage.requests, 1)
  assert.ok(after.balance_usd < 1)
})

test('only charged requests count', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const account = await gateway.createAccount()
  gateway.sandbox.faults.set('*', 'error=400')
  const refused = await post(gateway.url + messagesPath, account.key, messagesRequest())
  assert.equal(refused.status, 400)
  gateway.sandbox.faults.set('*', 'refusal=empty')
  const declined = await post(gateway.url + messagesPath, account.key, messagesRequest())
  assert.equal(declined.status, 200)
  const shown = await figures(gateway, account)
  assert.deepEqual([shown.usage, shown.by_model], [noFigures, []])
})

test('an account sees only its own figures, with every request', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const spender = await gateway.createAccount()
  const other = await gateway.createAccount()
  await spend(gateway, spender, 'large-1')
  const query = `?period=total&account=${spender.name}&account_id=${spender.id}`
  const shown = JSON.parse((await read(gateway, other.token, query)).body.toString()) as Usage
  assert.equal(shown.usage.requests, 0)
})

test('an unknown period, or two periods, get 400 in the plain shape', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const { token } = await gateway.createAccount()
  for (const query of [
    '?period=week',
    '?period=',
    '?period',
    '?period=DAY',
    '?period=day%20',
    '?period=day&period=day',
    '?period=day&period=month',
    '?period=day&per%69od=day',
  ]) {
    const answer = await read(gateway, token, query)
    assert.equal(answer.status, 400, query)
    const body = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }
    assert.deepEqual(Object.keys(body.error), ['type', 'message', 'request_id'])
    assert.match(String(body.error['message']), /day, month or total/)
  }
  assert.equal((await read(gateway, token, '?x=1&period=total&Period=week')).status, 200)
})

test('serves only reading, and only with read-only tokens', async (t) => {
  const { gateway } = await start(t, '2026-11-21T12:00:00Z')
  const { key, token } = await gateway.createAccount()
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const answer = await send(`${gateway.url}/v1/usage`, {
      method,
      headers: { 'x-api-key': token },
    })
    assert.equal(answer.status, 405, method)
    assert.equal(answer.headers['allow'], 'GET, HEAD')
  }
  const got = await read(gateway, token)
  const headers = { authorization: `Bearer ${token}` }
  const head = await send(`${gateway.url}/v1/usage`, { method: 'HEAD', headers })
  assert.deepEqual([head.status, head.body.length], [200, 0])
  for (const name of ['content-type', 'content-length', 'cache-control', 'vary'])
    assert.equal(head.headers[name], got.headers[name], name)
  assert.equal((await read(gateway, key)).status, 403)
  assert.equal((await send(`${gateway.url}/v1/usage`, { method: 'POST' })).status, 401)
})
