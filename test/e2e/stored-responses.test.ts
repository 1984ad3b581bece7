/**
 * Reading, cancelling and deleting a stored response: only the account that has made it, only on the channel
 * that holds it, to the byte. The vendor is scripted; the state is written as a settled exchange writes it.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { keepAnswerStateSql } from '../../src/ledger/answer-state-store.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import type { TestAccount } from '../support/accounts.ts'
import { createClientKey } from '../support/operations.ts'
import { chargesOf } from '../support/money.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import type { ScriptedVendor } from '../support/scripted-vendor.ts'

let gateway: Scenario
let vendor: ScriptedVendor
let account: TestAccount
let other: TestAccount

const dayMs = 86_400_000
let count = 0
let id: string

/** Of the account, unless another one is named. */
async function store(
  responseId: string,
  { accountId = account.id, channel = 'beta-main', model = 'chat-1', days = 30 } = {},
): Promise<void> {
  const expiresAtMs = gateway.context.clock.now() + days * dayMs
  for (const [kind, name] of [
    ['response', responseId],
    ['item', `msg_${responseId}`],
  ] as const)
    await gateway.context.database.query(keepAnswerStateSql, [
      'beta',
      name,
      kind,
      accountId,
      channel,
      model,
      responseId,
      7,
      5,
      expiresAtMs,
    ])
}

function ask(method: string, path: string, key = account.key): Promise<WireAnswer> {
  const headers = { authorization: `Bearer ${key}` }
  return send(`${gateway.url}/beta/v1/responses/${path}`, { method, headers })
}

const unknown = (name: string, { headers }: WireAnswer): unknown => ({
  error: {
    message: `Response with id '${name}' not found.`,
    type: 'invalid_request_error',
    param: null,
    code: null,
    request_id: headers['x-turnpike-request-id'],
  },
})

const operations = (name: string): readonly (readonly [string, string])[] => [
  ['GET', name],
  ['GET', `${name}/input_items`],
  ['POST', `${name}/cancel`],
  ['DELETE', name],
]

describe('a stored response', () => {
  before(async () => {
    gateway = await scenario({ vendors: 'scripted' })
    vendor = gateway.scripted
    account = gateway.account
    other = await gateway.createAccount()
  })
  after(() => gateway.close())
  beforeEach(async () => {
    id = `resp_${++count}`
    await store(id)
    vendor.answer((response) => {
      const body = ` {"id":"${id}", "object" : "response"}\n`
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_1' })
      response.end(body)
    })
  })

  test('is served to its account, to the byte both ways, for free', async () => {
    for (const [method, path] of operations(id)) {
      const answer = await ask(method, `${path}?include%5B%5D=a.b&limit=2&stream=false`)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.text, ` {"id":"${id}", "object" : "response"}\n`)
      assert.equal(answer.headers['x-request-id'], 'req_1')
      assert.equal(vendor.last?.method, method)
      const target = `/v1/responses/${path}?include%5B%5D=a.b&limit=2&stream=false`
      assert.ok(vendor.last?.target.endsWith(target), vendor.last?.target)
      assert.equal(vendor.last?.body.length, 0)
    }
    assert.equal((await chargesOf(gateway.context.database, account.id)).size, 0)
  })

  test('does not exist for another account, nor does any other id, in the same words', async () => {
    const before = vendor.requestCount
    for (const name of [id, 'resp_of_no_account', 'x'.repeat(128)])
      for (const [method, path] of operations(name)) {
        const answer = await ask(method, path, other.key)
        assert.equal(answer.status, 404)
        assert.deepEqual(JSON.parse(answer.text), unknown(name, answer))
      }
    assert.equal(vendor.requestCount, before)
    assert.equal((await ask('GET', id)).status, 200)
  })

  test('has an id of letters, digits, _ and -; every other path is no endpoint', async () => {
    const before = vendor.requestCount
    for (const path of ['a%2fb', `${id}/other`, `${id}%20`, 'x'.repeat(129), `..`])
      assert.equal((await ask('GET', path)).status, 404, path)
    const wrong = await ask('POST', id)
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers['allow'], 'GET, HEAD, DELETE')
    assert.equal(vendor.requestCount, before)
  })

  test('is forgotten with its items once the vendor has deleted it', async () => {
    assert.equal((await ask('DELETE', id)).status, 200)
    const rows = await gateway.context.database.query(
      "SELECT id FROM answer_state WHERE response_id = $1 AND kind <> 'encrypted'",
      [id],
    )
    assert.equal(rows.length, 0)
    assert.equal((await ask('GET', id)).status, 404)
  })

  test('stays known where the vendor does not delete it', async () => {
    vendor.answer((response) => void response.writeHead(500).end('{"error":{"message":"no"}}'))
    assert.equal((await ask('DELETE', id)).status, 500)
    vendor.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    assert.equal((await ask('GET', id)).status, 200)
  })

  test('is not served to a key that may not use its model', async () => {
    const allowed = { account: account.name, name: 'narrow', models: ['chat-mini-1'] }
    const narrow = await createClientKey(gateway.context, allowed)
    const answer = await ask('GET', id, narrow.secret)
    assert.equal(answer.status, 403)
    assert.match(answer.text, /"code":"model_not_allowed"/)
  })

  test('is shown without its body to HEAD', async () => {
    const answer = await ask('HEAD', id)
    assert.deepEqual([answer.status, answer.text, vendor.last?.method], [200, '', 'GET'])
  })

  test('counts toward the allowance for free requests', async () => {
    const limited = await gateway.createAccount({ rpm: 1 })
    const statuses: number[] = []
    for (let index = 0; index < 12; index++)
      statuses.push((await ask('GET', 'resp_none', limited.key)).status)
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 404), 429, 429])
  })

  test('stays with the account that has made it where a client of another one chooses its id', async () => {
    const item = { id: `msg_same_${id}`, type: 'message', role: 'assistant', content: [] }
    vendor.answer((response, { body }) => {
      // Servers of open models take the id from the request.
      const { request_id: chosen } = JSON.parse(body.toString() || '{}') as { request_id?: string }
      const usage = { input_tokens: 1, output_tokens: 1 }
      const answer = { id: chosen, object: 'response', store: true, output: [item], usage }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    })
    const url = `${gateway.url}/beta/v1/responses`
    const request = { model: 'chat-1', input: 'x', max_output_tokens: 16, request_id: `same_${id}` }
    assert.equal((await post(url, account.key, request)).status, 200)
    assert.equal((await post(url, other.key, request)).status, 200)
    assert.equal((await ask('GET', request.request_id)).status, 200)
    assert.equal((await ask('GET', request.request_id, other.key)).status, 404)
    assert.equal((await ask('DELETE', request.request_id, other.key)).status, 404)
    const next = { ...request, previous_response_id: request.request_id }
    assert.match((await post(url, other.key, next)).text, /previous_response_not_found/)
    const reference = { ...request, input: [{ type: 'item_reference', id: item.id }] }
    assert.equal((await post(url, other.key, reference)).status, 404)
    const whole = { ...request, input: [{ ...item, content: 'Hi' }] }
    assert.equal((await post(url, other.key, whole)).status, 200)
  })

  test('is not streamed again', async () => {
    const before = vendor.requestCount
    for (const query of ['stream=true', 'stream', 'str%65am=1', 'starting_after=3']) {
      const answer = await ask('GET', `${id}?${query}`)
      assert.equal(answer.status, 400, query)
      assert.match(answer.text, /not streamed here/)
    }
    assert.equal(vendor.requestCount, before)
  })

  test('is asked for on its own channel only, and its errors pass and blame no channel', async () => {
    const body = '{"error":{"message":"Response not found.","type":"invalid_request_error"}}'
    for (const [status, shown] of [
      [404, body],
      [400, body],
      [429, body],
    ] as const) {
      const before = vendor.requestCount
      vendor.answer((response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(shown)
      })
      const answer = await ask('GET', id)
      assert.equal(answer.status, status)
      assert.equal(answer.text, shown)
      assert.equal(vendor.requestCount, before + 1)
    }
    const states = [...gateway.app.health.list(gateway.app.snapshot())]
    assert.ok(states.every(({ mode }) => mode === 'on'))
  })

  test('cannot be reached where its channel or its model is gone', async () => {
    const before = vendor.requestCount
    await store('resp_gone_1', { channel: 'beta-old' })
    await store('resp_gone_2', { model: 'chat-0' })
    for (const name of ['resp_gone_1', 'resp_gone_2']) {
      const answer = await ask('GET', name)
      assert.equal(answer.status, 400)
      assert.match(answer.text, /"code":"state_unavailable"/)
      assert.doesNotMatch(answer.text, /beta-/)
    }
    assert.equal(vendor.requestCount, before)
  })

  test('does not exist after 30 days', async () => {
    await store('resp_old', { days: 0 })
    const answer = await ask('GET', 'resp_old')
    assert.deepEqual(JSON.parse(answer.text), unknown('resp_old', answer))
  })
})
