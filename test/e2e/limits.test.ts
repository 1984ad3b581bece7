/**
 * The answers to an account that has reached a limit: requests per minute over its window, the
 * balance, the daily limits of account and key. Texts and headers as clients act on them; the clock
 * is moved by hand.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { type Scenario, scenario } from '../support/scenario.ts'
import {
  connectRaw,
  post,
  send,
  usage,
  type RawConnection,
  type WireAnswer,
} from '../support/http-client.ts'
import { createClientKey, creditAccount, limitAccount } from '../support/operations.ts'

interface Timed {
  readonly gateway: Scenario
  readonly clock: ManualClock
}

async function start(t: TestContext): Promise<Timed> {
  const clock = new ManualClock(Date.parse('2026-11-21T12:00:00Z'))
  const gateway = await scenario({ clock })
  t.after(() => gateway.close())
  return { gateway, clock }
}

function ask({ url }: Scenario, key: string, fields: object = {}): Promise<WireAnswer> {
  return post(url + messagesPath, key, messagesRequest({ ...fields }))
}

function messageOf(answer: WireAnswer): string {
  const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } }
  return error.message
}

// --- requests per minute -----------------------------------------------------------------------------

test('requests per minute count in a sliding window over all endpoints', async (t) => {
  const { gateway, clock } = await start(t)
  const { key } = await gateway.createAccount({ rpm: 3 })
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) {
    statuses.push((await ask(gateway, key)).status)
    clock.advance(10_000)
  }
  assert.deepEqual(statuses, [200, 200, 200])

  const refused = await ask(gateway, key)
  assert.equal(refused.status, 429)
  assert.match(refused.body.toString(), /"type":"rate_limit_error"/)
  assert.equal(refused.headers['retry-after'], '30')
  assert.equal(refused.headers['x-should-retry'], undefined)
  assert.match(messageOf(refused), /3 requests per minute.*30 s/)
  assert.equal(refused.headers['anthropic-ratelimit-requests-limit'], '3')
  assert.equal(refused.headers['anthropic-ratelimit-requests-remaining'], '0')
  const reset = new Date(clock.now() + 30_000).toISOString()
  assert.equal(refused.headers['anthropic-ratelimit-requests-reset'], reset)

  clock.advance(29_999)
  const nearly = await ask(gateway, key)
  assert.equal(nearly.status, 429)
  assert.equal(nearly.headers['retry-after'], '1', 'rounded up, never zero')
  clock.advance(1)
  assert.equal((await ask(gateway, key)).status, 200, 'refused requests did not count')
  assert.equal((await ask(gateway, key)).status, 429)
})

test('a window of several minutes admits its whole number at once and never says more than 60 s', async (t) => {
  const { gateway, clock } = await start(t)
  const { key } = await gateway.createAccount({ rpm: 2, window_minutes: 3 })
  for (let count = 0; count < 6; count++) assert.equal((await ask(gateway, key)).status, 200)
  const chat = await post(gateway.url + chatPath, key, chatRequest())
  assert.equal(chat.status, 429)
  assert.equal(chat.headers['retry-after'], '60')
  const { error } = JSON.parse(chat.body.toString()) as { error: Record<string, unknown> }
  assert.equal(error['code'], 'rate_limit_exceeded')
  assert.match(String(error['message']), /6 requests per 3 minutes/)
  clock.advance(180_000)
  assert.equal((await ask(gateway, key)).status, 200)
})

test('requests refused for their body count, requests refused for money do not', async (t) => {
  const { gateway } = await start(t)
  const { key } = await gateway.createAccount({ rpm: 5, balance_usd: '0.01' })
  for (let count = 0; count < 3; count++)
    assert.equal((await ask(gateway, key, { max_tokens: 8_000 })).status, 402)
  assert.equal((await ask(gateway, key, { max_tokens: -1 })).status, 400)
  assert.equal((await ask(gateway, key, { model: 'none' })).status, 404)
  const headers = { 'x-api-key': key, 'content-type': 'text/plain' }
  const plain = await send(gateway.url + messagesPath, { method: 'POST', headers, body: '{}' })
  assert.equal(plain.status, 415)
  const coded = { ...headers, 'content-type': 'application/json', 'content-encoding': 'compress' }
  const packed = await send(gateway.url + messagesPath, {
    method: 'POST',
    headers: coded,
    body: '{}',
  })
  assert.equal(packed.status, 415)
  assert.equal((await ask(gateway, key)).status, 200)
  assert.equal((await ask(gateway, key)).status, 429)
})

test('without a limit no request is refused', async (t) => {
  const { gateway } = await start(t)
  const { key } = await gateway.createAccount({ rpm: 0 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(gateway, key)))
  assert.ok(answers.every((answer) => answer.status === 200))
})

// --- balance -----------------------------------------------------------------------------------------

interface Amounts {
  readonly balance: number
  readonly line: number
  readonly held: number
  readonly likely: number
  readonly most: number
  readonly tokens: number
  readonly affordable: number
}

/** What a 402 says; NaN = it does not say that. */
function amountsOf(answer: WireAnswer): Amounts {
  const message = messageOf(answer)
  const find = (pattern: RegExp): number => Number(pattern.exec(message)?.[1] ?? Number.NaN)
  return {
    balance: find(/balance ([\d.]+) USD/),
    line: find(/a credit line of ([\d.]+) USD/),
    held: find(/([\d.]+) USD is held/),
    likely: find(/likely to cost ([\d.]+) USD/),
    most: find(/could cost up to ([\d.]+) USD/),
    tokens: find(/with (\d+) tokens of output/),
    affordable: find(/largest max_tokens.* is (\d+)/),
  }
}

// The prompts here are "hello": likely 2 tokens of 3 USD per million, and at most a token per byte of the
// body and 2,000. A token of output is 15 USD per million; on chat the prices are 2 and 10.

test('a balance that is too low gets 402 with correct figures', async (t) => {
  const { gateway } = await start(t)
  const { key } = await gateway.createAccount({ balance_usd: '0.01' })
  const refused = await ask(gateway, key, { max_tokens: 5_000 })
  assert.equal(refused.status, 402)
  assert.match(refused.body.toString(), /"type":"billing_error"/)
  assert.equal(refused.headers['x-should-retry'], 'false')
  assert.equal(refused.headers['retry-after'], undefined)
  assert.deepEqual(amountsOf(refused), {
    balance: 0.01,
    line: Number.NaN,
    held: 0,
    likely: 0.075006, // 0.000006 + 0.075
    most: 0.081252, // 84 bytes: 0.006252 + 0.075
    tokens: 5_000,
    affordable: 666, // 0.009994 / 0.000015
  })

  const more = await ask(gateway, key, { max_tokens: 667 })
  assert.equal(more.status, 402)
  assert.equal(amountsOf(more).affordable, 666)
  const exact = await ask(gateway, key, { max_tokens: 666, metadata: undefined })
  assert.equal(exact.status, 200)
})

test('a credit line counts as money, and the 402 names it', async (t) => {
  const { gateway } = await start(t)
  const { key, name } = await gateway.createAccount({ balance_usd: '0.01' })
  await limitAccount(gateway.context, { account: name, credit_line_usd: '0.02' })
  await gateway.app.refresh()
  const refused = await ask(gateway, key, { max_tokens: 5_000 })
  assert.equal(refused.status, 402)
  const { balance, line, affordable } = amountsOf(refused)
  assert.deepEqual([balance, line, affordable], [0.01, 0.02, 1_999]) // 0.029994 / 0.000015
  assert.equal((await ask(gateway, key, { max_tokens: 2_000 })).status, 402)
  assert.equal((await ask(gateway, key, { max_tokens: 1_999 })).status, 200)
})

test('an account that holds the most needs the most left', async (t) => {
  const { gateway } = await start(t)
  const { key, name } = await gateway.createAccount({ balance_usd: '0.01' })
  await limitAccount(gateway.context, { account: name, holds: 'most' })
  await gateway.app.refresh()
  const refused = await ask(gateway, key, { max_tokens: 5_000 })
  assert.equal(refused.status, 402)
  const { likely, most, affordable } = amountsOf(refused)
  assert.deepEqual([likely, most, affordable], [0.075006, 0.081252, 249]) // 0.003748 / 0.000015
  assert.match(messageOf(refused), /all of which has to be left/)
  assert.equal((await ask(gateway, key, { max_tokens: 251 })).status, 402)
  assert.equal((await ask(gateway, key, { max_tokens: 249 })).status, 200)
})

test('a chat request without max_tokens holds for the most that the model writes', async (t) => {
  const { gateway } = await start(t)
  const mosts = [
    [undefined, 0.16797], // 65 bytes: 0.00413 + 0.16384
    [null, 0.168006], // 83 bytes: 0.004166 + 0.16384
  ] as const
  for (const [max_tokens, mostUsd] of mosts) {
    const poor = await gateway.createAccount({ balance_usd: '0.163843' })
    const request = chatRequest({ max_tokens })
    const refused = await post(gateway.url + chatPath, poor.key, request)
    assert.equal(refused.status, 402)
    const { likely, most, tokens } = amountsOf(refused)
    assert.deepEqual([likely, most, tokens], [0.163844, mostUsd, 16_384]) // 0.000004 + 0.16384
    const { key } = await gateway.createAccount({ balance_usd: '0.163844' })
    gateway.sandbox.log.clear()
    assert.equal((await post(gateway.url + chatPath, key, request)).status, 200)
    const [record] = gateway.sandbox.log.records
    assert.equal(record?.requestBody?.toString(), JSON.stringify(request))
  }
})

test('a chat request without max_tokens gets 400 where the catalogue requires it', async (t) => {
  const catalogue = (url: string): string => {
    const demo = demoCatalogue(url)
    const beta = { ...demo.vendors.beta, require_max_tokens: true }
    return JSON.stringify({ ...demo, vendors: { ...demo.vendors, beta } })
  }
  const gateway = await scenario({ catalogue })
  t.after(() => gateway.close())
  const { key } = await gateway.createAccount()
  const refused = await post(gateway.url + chatPath, key, chatRequest({ max_tokens: undefined }))
  assert.equal(refused.status, 400)
  assert.match(messageOf(refused), /`max_tokens` is required/)
})

test('refuses every max_tokens on an empty balance and says so', async (t) => {
  const { gateway } = await start(t)
  const { key, name } = await gateway.createAccount({ balance_usd: '0' })
  const refused = await post(gateway.url + chatPath, key, chatRequest())
  assert.equal(refused.status, 402)
  assert.equal(refused.headers['x-should-retry'], 'false')
  const { error } = JSON.parse(refused.body.toString()) as { error: Record<string, unknown> }
  assert.deepEqual([error['type'], error['code']], ['insufficient_quota', 'insufficient_quota'])
  assert.match(String(error['message']), /balance 0 USD.*does not cover.*Top up/)

  await creditAccount(gateway.context, { account: name, amount_usd: '1', reference: 'top-up-1' })
  await gateway.app.refresh()
  assert.equal((await post(gateway.url + chatPath, key, chatRequest())).status, 200)
})

test('tells the client to retry soon where only running requests use up the balance', async (t) => {
  const { gateway } = await start(t)
  const { key } = await gateway.createAccount({ balance_usd: '0.02' })
  gateway.sandbox.faults.set('alpha-main', { hold: 'running@before_head' })
  const running = [ask(gateway, key, { max_tokens: 500 })]
  await gateway.sandbox.faults.reached('running')

  const refused = await ask(gateway, key, { max_tokens: 500 })
  assert.equal(refused.status, 402)
  assert.equal(refused.headers['x-should-retry'], 'true')
  const wait = Number(refused.headers['retry-after'])
  assert.ok(wait >= 1 && wait <= 5)
  assert.deepEqual(amountsOf(refused), {
    balance: 0.02,
    line: Number.NaN,
    held: 0.013749, // What the running request, which is the same one, costs at most.
    likely: 0.007506, // 0.000006 + 0.0075
    most: 0.013749, // 83 bytes: 0.006249 + 0.0075
    tokens: 500,
    affordable: 416, // 0.006245 / 0.000015
  })

  const never = await ask(gateway, key, { max_tokens: 5_000 })
  assert.equal(never.headers['x-should-retry'], 'false', 'no waiting makes this one affordable')

  gateway.sandbox.faults.set('alpha-main', { hold: 'last@before_head' })
  running.push(ask(gateway, key, { max_tokens: 416 }))
  await gateway.sandbox.faults.reached('last')
  const none = await ask(gateway, key, { max_tokens: 1 })
  assert.equal(none.headers['x-should-retry'], 'true')
  assert.equal(amountsOf(none).held, 0.026238, 'the last one admitted holds more than is left')
  assert.match(messageOf(none), /not cover this request with any max_tokens.* Wait for/)

  for (const gate of ['running', 'last']) gateway.sandbox.faults.release(gate)
  for (const answer of running) assert.equal((await answer).status, 200)
  gateway.sandbox.faults.clear()
  assert.equal((await ask(gateway, key, { max_tokens: 500 })).status, 200)
})

// --- daily limits ------------------------------------------------------------------------------------

test("an account's daily limit gets a 429 without retry that says when it resets", async (t) => {
  const { gateway, clock } = await start(t)
  const { key, token } = await gateway.createAccount({ daily_usd: '0.01' })
  assert.equal((await ask(gateway, key, { max_tokens: 400 })).status, 200)
  const spent = await usage(gateway.url, token)
  const used = (spent['limits'] as { daily_used_usd: number }).daily_used_usd
  assert.ok(used > 0)

  const refused = await ask(gateway, key, { max_tokens: 700 })
  assert.equal(refused.status, 429)
  assert.match(refused.body.toString(), /"type":"rate_limit_error"/)
  assert.equal(refused.headers['x-should-retry'], 'false')
  assert.equal(refused.headers['retry-after'], undefined)
  const message = messageOf(refused)
  assert.match(message, /account's daily limit of 0\.01 USD/)
  assert.match(message, /2026-11-22T00:00:00\.000Z/)
  assert.ok(message.includes(`${used.toFixed(12).replace(/0+$/, '')} USD is spent or held today`))

  clock.advance(12 * 3_600_000 - 1)
  assert.equal((await ask(gateway, key, { max_tokens: 700 })).status, 429)
  clock.advance(1)
  assert.equal((await ask(gateway, key, { max_tokens: 600 })).status, 200, 'a new day')
})

test('requests whose bodies arrive after midnight count for the day on which they do', async (t) => {
  const { gateway, clock } = await start(t)
  const { key, token } = await gateway.createAccount({ daily_usd: '0.01' })
  clock.advance(12 * 3_600_000 - 1_000)
  const slow = await Promise.all([0, 1, 2].map(() => announce(gateway, key, { max_tokens: 650 })))
  clock.advance(2_000)
  const statuses: (number | undefined)[] = []
  for (const { connection, body } of slow) {
    connection.write(body)
    statuses.push((await connection.next())?.status)
    connection.close()
  }
  assert.deepEqual(statuses, [200, 429, 429])
  const { limits } = await usage(gateway.url, token)
  assert.ok((limits as { daily_used_usd: number }).daily_used_usd <= 0.01)
})

/** A request that the gateway has and whose body it waits for. */
async function announce(
  { url }: Scenario,
  key: string,
  fields: object,
): Promise<{ readonly connection: RawConnection; readonly body: string }> {
  const connection = await connectRaw(url)
  const body = JSON.stringify(messagesRequest({ ...fields }))
  connection.write(
    `POST ${messagesPath} HTTP/1.1\r\nHost: gateway\r\nx-api-key: ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  assert.equal((await connection.next())?.status, 100)
  return { connection, body }
}

test("a key's own daily limit binds that key and no other of its account", async (t) => {
  const { gateway } = await start(t)
  const account = await gateway.createAccount()
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    name: 'bounded',
    daily_usd: '0.005',
  })
  assert.equal((await ask(gateway, secret)).status, 200)
  const refused = await ask(gateway, secret, { max_tokens: 400 })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['x-should-retry'], 'false')
  assert.match(messageOf(refused), /key's daily limit of 0\.005 USD/)
  assert.equal((await ask(gateway, account.key, { max_tokens: 400 })).status, 200)
})

test('running requests count toward the daily limit until they end', async (t) => {
  const { gateway } = await start(t)
  const { key } = await gateway.createAccount({ daily_usd: '0.01' })
  gateway.sandbox.faults.set('alpha-main', { hold: 'day@before_head' })
  const running = ask(gateway, key, { max_tokens: 600 })
  await gateway.sandbox.faults.reached('day')
  assert.equal((await ask(gateway, key, { max_tokens: 600 })).status, 429)
  gateway.sandbox.faults.release('day')
  assert.equal((await running).status, 200)
  gateway.sandbox.faults.clear()
  assert.equal((await ask(gateway, key, { max_tokens: 500 })).status, 200)
})

test('no refusal of a limit reaches a vendor or costs anything', async (t) => {
  const { gateway } = await start(t)
  const { key, token } = await gateway.createAccount({ rpm: 1, balance_usd: '5' })
  await ask(gateway, key)
  const before = await usage(gateway.url, token)
  gateway.sandbox.log.clear()
  for (let count = 0; count < 5; count++) assert.equal((await ask(gateway, key)).status, 429)
  assert.equal(gateway.sandbox.log.records.length, 0)
  assert.deepEqual(await usage(gateway.url, token), before)
})

test('too many requests at once get a 429 with a short retry-after', async (t) => {
  const gateway = await scenario({ settings: { max_running_per_key: '1' } })
  t.after(() => gateway.close())
  const { key } = await gateway.createAccount()
  gateway.sandbox.faults.set('alpha-main', { hold: 'one@before_head' })
  const running = ask(gateway, key)
  await gateway.sandbox.faults.reached('one')
  const refused = await ask(gateway, key)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '1')
  gateway.sandbox.faults.release('one')
  assert.equal((await running).status, 200)
  assert.equal((await ask(gateway, key)).status, 200)
})
