/**
 * Two operations beside responses: a conversation is made shorter, which is charged, and the tokens of a
 * request are counted, which is free.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { send, usage, type WireAnswer } from '../support/http-client.ts'
import { exchangesOf, only } from '../support/money.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const catalogue = (url: string): string => `
vendors: { beta: { format: chat } }
models:
  chat-1:
    vendor: beta
    max_input_tokens: 100000
    max_output_tokens: 1000
    price: { input: 1, cache_read: 0.1, output: 10 }
channels:
  beta-main: { vendor: beta, url: ${url}/beta-main, credential: secret, models: [chat-1], check: none }
`

let gateway: Scenario
before(async () => {
  gateway = await scenario({ vendors: 'scripted', catalogue, channels: {} })
})
after(() => gateway.close())

const compacted = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [
    { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'only-the-vendor-reads-it' },
  ],
  usage: {
    input_tokens: 500,
    input_tokens_details: { cached_tokens: 100 },
    output_tokens: 200,
    output_tokens_details: { reasoning_tokens: 50 },
    total_tokens: 700,
  },
}
const counted = { object: 'response.input_tokens', input_tokens: 11 }
const answered = {
  id: 'resp_2',
  object: 'response',
  status: 'completed',
  model: 'chat-1',
  output: [],
  usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
}

function answerWith(value: object) {
  const body = JSON.stringify(value)
  gateway.scripted.answer((response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  return body
}

function post(path: string, body: object, key = gateway.account.key): Promise<WireAnswer> {
  return send(`${gateway.url}/beta/v1/responses${path}`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
}

const conversation = { model: 'chat-1', input: [{ role: 'user', content: 'x'.repeat(3_000) }] }

test('a conversation is made shorter at the prices of the model, byte for byte', async () => {
  const account = await gateway.createAccount()
  const body = answerWith(compacted)
  const answer = await post('/compact', conversation, account.key)
  assert.equal(answer.status, 200)
  assert.equal(answer.text, body)
  const sent = gateway.scripted.last
  assert.equal(sent?.target, '/beta-main/v1/responses/compact')
  assert.equal(sent.body.toString(), JSON.stringify(conversation))
  const exchange = only(await gateway.ended(account, 1))
  assert.equal(exchange.amountPicos, 400n * 1_000_000n + 100n * 100_000n + 200n * 10_000_000n)
  assert.deepEqual(exchange.marks, [])
})

test('what the vendor alone can read belongs to the account that got it', async () => {
  const [mine, other] = [await gateway.createAccount(), await gateway.createAccount()]
  answerWith(compacted)
  const encrypted_content = `of-one-account-${Date.now()}`
  const output = [{ type: 'compaction', id: 'cmp_2', encrypted_content }]
  answerWith({ ...compacted, output })
  assert.equal((await post('/compact', conversation, mine.key)).status, 200)
  answerWith(answered)
  const next = { model: 'chat-1', input: output, store: false }
  assert.equal((await post('', next, mine.key)).status, 200)
  const refused = await post('', next, other.key)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /encrypted/)
})

test('no field limits its output: the hold is for the most that the model writes', async () => {
  // 1,000 tokens of output cost 0.01 USD.
  const { key } = await gateway.createAccount({ balance_usd: '0.009' })
  answerWith(compacted)
  const refused = await post('/compact', { ...conversation, max_output_tokens: 1 }, key)
  assert.equal(refused.status, 402)
  assert.match(refused.text, /with 1000 tokens of output/)
})

test('tokens are counted for free', async () => {
  const account = await gateway.createAccount({ balance_usd: '0.000001' })
  const body = answerWith(counted)
  const answer = await post(
    '/input_tokens',
    { ...conversation, instructions: 'be brief' },
    account.key,
  )
  assert.deepEqual([answer.status, answer.text], [200, body])
  assert.equal(gateway.scripted.last?.target, '/beta-main/v1/responses/input_tokens')
  const used = (await usage(gateway.url, account.token, 'total'))['usage'] as { requests: number }
  assert.equal(used.requests, 0)
  assert.deepEqual(await exchangesOf(gateway.context.database, account.id), [])
})

test('wrong input and other methods are refused as everywhere', async () => {
  assert.equal((await post('/compact', { model: 'chat-1' })).status, 400)
  assert.equal((await post('/compact', { ...conversation, background: true })).status, 400)
  assert.equal((await post('/input_tokens', { ...conversation, model: 'none' })).status, 404)
  const got = await send(`${gateway.url}/beta/v1/responses/compact`, {
    headers: { authorization: `Bearer ${gateway.account.key}` },
  })
  assert.equal(got.status, 405)
})
