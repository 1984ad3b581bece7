/**
 * A model whose catalogue entry says `dated` answers to its id with a date behind it: the vendor gets that
 * name as it came, while prices, allow lists and figures are those of the model.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import type { TestAccount } from '../support/accounts.ts'
import { post, send, usage, type WireAnswer } from '../support/http-client.ts'
import { createClientKey } from '../support/operations.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ catalogue: datedCatalogue })
  account = await gateway.createAccount()
})
after(() => gateway.close())

/** The demo's; two models are dated, and the channel knows one of them by another name. */
function datedCatalogue(url: string): string {
  const catalogue = demoCatalogue(url)
  const { models, channels } = catalogue
  return stringify({
    ...catalogue,
    models: {
      ...models,
      'large-1': { ...models['large-1'], dated: true },
      'small-1': { ...models['small-1'], dated: true },
    },
    channels: {
      ...channels,
      'alpha-main': {
        ...channels['alpha-main'],
        models: { 'large-1': null, 'small-1': 'vendor-side' },
      },
    },
  })
}

function ask(model: string, key = account.key): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, JSON.stringify(messagesRequest({ model })))
}

test('a dated name passes to the vendor and is charged as the model', async () => {
  gateway.sandbox.log.clear()
  for (const model of ['large-1-20260115', 'large-1-2026-01-15']) {
    const answer = await ask(model)
    assert.equal(answer.status, 200, answer.body.toString())
  }
  const got = gateway.sandbox.log.records.map(({ requestBody }) => String(requestBody))
  assert.deepEqual(got.map((body) => (JSON.parse(body) as { model: string }).model).sort(), [
    'large-1-2026-01-15',
    'large-1-20260115',
  ])
  const figures = await usage(gateway.url, account.token)
  const byModel = figures['by_model'] as readonly { model: string; requests: number }[]
  assert.deepEqual(
    byModel.map(({ model, requests }) => [model, requests]),
    [['large-1', 2]],
  )
})

test("a channel's own name for the model stands in place of a dated one", async () => {
  gateway.sandbox.log.clear()
  assert.equal((await ask('small-1-20260115')).status, 200)
  const [record] = gateway.sandbox.log.records
  assert.match(String(record?.requestBody), /"model":"vendor-side"/)
})

test('an allow list with the model covers its dated names, and no other model', async () => {
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    models: ['large-1'],
  })
  assert.equal((await ask('large-1-20260115', secret)).status, 200)
  assert.notEqual((await ask('small-1-20260115', secret)).status, 200)
})

test('a model is found by a dated name where it says so, and only by a date', async () => {
  const found = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${account.key}` }
    return (await send(gateway.url + path, { headers })).status
  }
  assert.equal(await found('/alpha/v1/models/large-1-20260115'), 200)
  assert.equal(await found('/alpha/v1/models/large-1-2026'), 404)
  for (const name of ['large-1-2026011', 'large-1-latest', 'large-1-20260115-20260115'])
    assert.equal((await ask(name)).status, 404, name)
  const undated = JSON.stringify(chatRequest({ model: 'chat-1-20260115' }))
  assert.equal((await post(gateway.url + chatPath, account.key, undated)).status, 404)
})
