/**
 * The calls clients make beside the metered ones: a warm-up without a key, the lists of models in
 * both shapes, one model of them, and the counting of tokens, which is forwarded and free.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { post, send, usage, type WireAnswer } from '../support/http-client.ts'
import { createClientKey } from '../support/operations.ts'
import { embeddingsPath } from '../support/text-operations.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario()
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

function get(path: string, key = account.key): Promise<WireAnswer> {
  return send(gateway.url + path, { headers: { authorization: `Bearer ${key}` } })
}

async function json(path: string, key = account.key): Promise<Record<string, unknown>> {
  const answer = await get(path, key)
  assert.equal(answer.status, 200, answer.body.toString())
  assert.equal(answer.headers['content-type'], 'application/json')
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

test('the warm-up call needs no key and gets a quick empty answer', async () => {
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': account.key }]) {
    const answer = await send(`${gateway.url}/alpha/api/hello`, { method: 'HEAD', headers })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.length, 0)
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})

test('the warm-up call exists for the format whose clients make it only', async () => {
  assert.equal((await send(`${gateway.url}/beta/api/hello`, { method: 'HEAD' })).status, 401)
  const known = await send(`${gateway.url}/beta/api/hello`, {
    method: 'HEAD',
    headers: { 'x-api-key': account.key },
  })
  assert.equal(known.status, 404)
})

test("the models are listed in the messages vendor's shape", async () => {
  const list = await json('/alpha/v1/models?limit=1000')
  assert.deepEqual(Object.keys(list), ['data', 'has_more', 'first_id', 'last_id'])
  const data = list['data'] as Record<string, unknown>[]
  assert.deepEqual(data.map((model) => String(model['id'])).sort(), ['large-1', 'small-1'])
  assert.deepEqual([list['first_id'], list['last_id']], [data[0]?.['id'], data.at(-1)?.['id']])
  assert.equal(list['has_more'], false)
  for (const model of data) {
    assert.equal(model['type'], 'model')
    assert.equal(model['display_name'], model['id'])
    assert.ok(Number.isFinite(Date.parse(String(model['created_at']))))
    assert.equal(model['max_tokens'], 8_192)
    assert.equal(model['max_input_tokens'], 200_000)
    assert.equal(model['lifecycle'], 'active')
    assert.deepEqual(await json(`/alpha/v1/models/${String(model['id'])}`), model)
  }
})

test("the list is read in pages as the messages vendor's SDKs do", async () => {
  const first = await json('/alpha/v1/models?limit=1')
  const [one] = first['data'] as { id: string }[]
  assert.deepEqual([first['has_more'], first['last_id']], [true, one?.id])
  const second = await json(`/alpha/v1/models?limit=1&after_id=${one?.id ?? ''}`)
  const [other] = second['data'] as { id: string }[]
  assert.equal(second['has_more'], false)
  assert.deepEqual(new Set([one?.id, other?.id]), new Set(['large-1', 'small-1']))
  const back = await json(`/alpha/v1/models?before_id=${other?.id ?? ''}`)
  assert.deepEqual(back['data'], first['data'])
  const wrong = await get('/alpha/v1/models?limit=none')
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /"type":"invalid_request_error".*limit must be/)
})

test("the models are listed in the chat vendor's shape", async () => {
  const list = await json('/beta/v1/models')
  assert.deepEqual(Object.keys(list), ['object', 'data'])
  assert.equal(list['object'], 'list')
  const data = list['data'] as Record<string, unknown>[]
  assert.deepEqual(data.map((model) => String(model['id'])).sort(), [
    'chat-1',
    'chat-mini-1',
    'embed-1',
  ])
  for (const model of data) {
    assert.deepEqual(Object.keys(model), ['id', 'object', 'created', 'owned_by'])
    assert.equal(model['object'], 'model')
    assert.equal(model['owned_by'], 'beta')
    assert.ok(Number.isInteger(model['created']))
    assert.deepEqual(await json(`/beta/v1/models/${String(model['id'])}`), model)
  }
})

test('the model without a price for output makes embeddings and nothing else', async () => {
  const { key } = await gateway.createAccount()
  const body = { model: 'embed-1', input: 'Good morning', dimensions: 2 }
  const answer = await post(gateway.url + embeddingsPath, key, body)
  assert.equal(answer.status, 200, answer.text)
  assert.equal((JSON.parse(answer.text) as { data: unknown[] }).data.length, 1)
  const chat = await post(gateway.url + chatPath, key, chatRequest({ model: 'embed-1' }))
  assert.equal(chat.status, 404)
})

test('lists come from the catalogue; no request to a vendor, no charge', async () => {
  await json('/alpha/v1/models')
  await json('/beta/v1/models/chat-1')
  assert.equal(gateway.sandbox.log.records.length, 0)
  const figures = await usage(gateway.url, account.token)
  assert.equal((figures['usage'] as { requests: number }).requests, 0)
})

test('a key sees only the models it may use', async () => {
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    name: 'one model',
    models: ['small-1'],
  })
  const list = await json('/alpha/v1/models', secret)
  assert.deepEqual(
    (list['data'] as { id: string }[]).map((model) => model.id),
    ['small-1'],
  )
  const empty = await json('/beta/v1/models', secret)
  assert.deepEqual(empty['data'], [])
  assert.equal((await get('/alpha/v1/models/large-1', secret)).status, 404)
  assert.equal((await get('/alpha/v1/models/small-1', secret)).status, 200)
})

test('an unknown model, or one of another vendor, gets 404 in the format of the route', async () => {
  for (const id of ['none', 'chat-1', 'Large-1', 'large-1%20', '%E0%A4%A', '__proto__']) {
    const answer = await get(`/alpha/v1/models/${id}`)
    assert.equal(answer.status, 404, id)
    assert.match(answer.body.toString(), /^\{"type":"error","error":\{"type":"not_found_error"/)
  }
  const chat = await get('/beta/v1/models/none')
  assert.equal(chat.status, 404)
  assert.match(chat.body.toString(), /"code":"model_not_found"/)
  assert.equal((await get('/alpha/v1/models/large%2D1')).status, 200, 'an escape spells its name')
})

const ids: Readonly<Record<'alpha' | 'beta', readonly string[]>> = {
  alpha: ['org/large-1', 'org/a//b:1@2+3'],
  beta: ['org/chat-1', 'org/a/b/c'],
}

/** The demo's, with models that have slashes in their ids in place of its own. */
function slashedCatalogue(url: string): string {
  const { vendors, models, channels } = demoCatalogue(url)
  const slashed = {
    ...Object.fromEntries(ids.alpha.map((id) => [id, models['large-1']])),
    ...Object.fromEntries(ids.beta.map((id) => [id, models['chat-1']])),
  }
  const served = {
    'alpha-main': { ...channels['alpha-main'], models: ids.alpha },
    'beta-main': { ...channels['beta-main'], models: ids.beta },
  }
  const catalogue = { vendors, models: slashed, channels: served }
  return stringify(catalogue, { aliasDuplicateObjects: false })
}

test('a model is found by an id with slashes, escaped or not, decoded once', async (t) => {
  const slashed = await scenario({ catalogue: slashedCatalogue })
  t.after(() => slashed.close())
  const { key } = await slashed.createAccount()
  const read = async (path: string): Promise<readonly [number, unknown]> => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await send(slashed.url + path, { headers })
    const { id } = JSON.parse(answer.body.toString()) as { readonly id?: string }
    return [answer.status, id]
  }
  for (const vendor of ['alpha', 'beta'] as const)
    for (const id of ids[vendor]) {
      const models = `/${vendor}/v1/models`
      const escaped = encodeURIComponent(id)
      for (const path of [id, escaped, escaped.toLowerCase(), `${id}/`])
        assert.deepEqual(await read(`${models}/${path}`), [200, id], path)
      for (const path of [`/${id}`, `${id}%2F`, encodeURIComponent(escaped), 'org'])
        assert.deepEqual(await read(`${models}/${path}`), [404, undefined], path)
    }
  assert.equal(slashed.sandbox.log.records.length, 0)
})

test('lists need a key', async () => {
  for (const path of ['/alpha/v1/models', '/beta/v1/models', '/alpha/v1/models/large-1']) {
    assert.equal((await send(gateway.url + path)).status, 401)
    assert.equal((await get(path, account.token)).status, 403)
  }
})

// --- count_tokens ----------------------------------------------------------------------------------

const countPath = `${messagesPath}/count_tokens`

test('the vendor counts tokens; request and answer pass to the byte, at no cost', async () => {
  const owner = await gateway.createAccount({ balance_usd: '0' })
  const body = '{ "model":"large-1","messages":[{"role":"user","content":"naïve 1.0"}],"x":1e2 }'
  const answer = await post(`${gateway.url}${countPath}?beta=true`, owner.key, body)
  assert.equal(answer.status, 200)
  const [record] = gateway.sandbox.log.records
  assert.equal(record?.requestBody?.toString(), body)
  assert.equal(record.target, '/alpha-main/v1/messages/count_tokens?beta=true')
  assert.equal(answer.body.toString(), record.responseBody?.toString())
  assert.ok((JSON.parse(answer.body.toString()) as { input_tokens: number }).input_tokens > 0)
  const figures = await usage(gateway.url, owner.token, 'total')
  assert.equal((figures['usage'] as { requests: number }).requests, 0)
  assert.equal(figures['balance_usd'], 0)
})

test('counting accepts a request with and without max_tokens', async () => {
  for (const limit of [undefined, 16]) {
    const request = messagesRequest({ max_tokens: limit, stream: limit === undefined })
    assert.equal((await post(gateway.url + countPath, account.key, request)).status, 200)
  }
  const wrong = await post(gateway.url + countPath, account.key, { model: 'large-1' })
  assert.equal(wrong.status, 400)
})

test('counting has an allowance ten times as large, and takes nothing from other requests', async () => {
  const owner = await gateway.createAccount({ rpm: 1 })
  const ask = async (path: string, fields: object = {}): Promise<number> =>
    (await post(gateway.url + path, owner.key, messagesRequest({ ...fields }))).status
  for (let count = 0; count < 9; count++) assert.equal(await ask(countPath), 200)
  assert.equal(await ask(countPath, { model: 'none' }), 404, 'counts although it is refused')
  const refused = await post(gateway.url + countPath, owner.key, messagesRequest())
  assert.equal(refused.status, 429)
  assert.match(refused.body.toString(), /10 requests that are free per minute/)
  assert.equal(await ask(messagesPath), 200)
  assert.equal(await ask(messagesPath), 429)
})

test('counting needs no balance', async () => {
  const owner = await gateway.createAccount({ balance_usd: '0', rpm: 1 })
  const answer = await post(gateway.url + countPath, owner.key, messagesRequest())
  assert.equal(answer.status, 200)
})

test('counting fails over as an answer does', async () => {
  gateway.sandbox.faults.set('alpha-main', ['error=529'])
  const answer = await post(gateway.url + countPath, account.key, messagesRequest())
  gateway.sandbox.faults.clear()
  assert.equal(answer.status, 200)
  assert.deepEqual(
    gateway.sandbox.log.records.map((record) => record.channel),
    ['alpha-main', 'alpha-reserve'],
  )
})

test('the chat format has no counting endpoint', async () => {
  const answer = await post(`${gateway.url}/beta/v1/messages/count_tokens`, account.key, {})
  assert.equal(answer.status, 404)
})
