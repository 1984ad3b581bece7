/**
 * A model has other names (`also`): whatever a client asks by, prices, allow lists and figures are those of
 * the model, its vendor gets a name that it knows, every other byte passes, and the record has what was
 * asked.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import * as fc from 'fast-check'
import { demoCatalogue } from '../../sandbox/demo.ts'
import type { TestAccount } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { post, send, usage, type WireAnswer } from '../support/http-client.ts'
import { applyCatalogue, createClientKey, showRequest } from '../support/operations.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ catalogue: (url) => JSON.stringify(namedCatalogue(url)) })
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

const names = ['large', 'large-1[1m]', 'vendor/large:latest@eu+x', 'L.1_']

/** The demo's; the main channel of `small-1` has another name for it. */
function namedCatalogue(url: string) {
  const { vendors, models, channels } = demoCatalogue(url)
  return {
    vendors,
    models: {
      ...models,
      'large-1': { ...models['large-1'], also: names, dated: true },
      'small-1': { ...models['small-1'], also: ['small'] },
      'chat-1': { ...models['chat-1'], also: ['chat'] },
    },
    channels: {
      ...channels,
      'alpha-main': {
        ...channels['alpha-main'],
        models: { 'large-1': null, 'small-1': 'vendor-side' },
      },
    },
  }
}

function ask(model: string, key = account.key): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, messagesRequest({ model }))
}

async function recordOf(answer: WireAnswer) {
  const id = String(answer.headers['x-turnpike-request-id'])
  const show = () => showRequest(gateway.context, { request: id }).catch(() => undefined)
  const shown = await eventually('the record', show, (found) => found !== undefined)
  return [shown?.model, shown?.asked_model]
}

function lastBody(): string {
  return String(gateway.sandbox.log.records.at(-1)?.requestBody)
}

test('another name reaches the vendor as the id, and is charged and recorded as the model', async () => {
  for (const model of names) {
    const answer = await ask(model)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(lastBody(), JSON.stringify(messagesRequest({ model: 'large-1' })))
    assert.deepEqual(await recordOf(answer), ['large-1', model])
  }
  const dated = await ask('large-1-20260115')
  assert.match(lastBody(), /"model":"large-1-20260115"/)
  assert.deepEqual(await recordOf(dated), ['large-1', 'large-1-20260115'])
  assert.deepEqual(await recordOf(await ask('large-1')), ['large-1', null])
  const figures = await usage(gateway.url, account.token)
  const byModel = figures['by_model'] as readonly { model: string; requests: number }[]
  assert.deepEqual(
    byModel.map(({ model, requests }) => [model, requests]),
    [['large-1', names.length + 2]],
  )
})

test("a channel's own name stands in place of another name, too", async () => {
  assert.equal((await ask('small')).status, 200)
  assert.match(lastBody(), /"model":"vendor-side"/)
})

test('every byte but the name passes, however the body is written', async () => {
  const space = fc.constantFrom('', ' ', '\n', '\t\r\n  ')
  const prompt = fc.string({ unit: 'binary', maxLength: 30 }).filter((text) => text.isWellFormed())
  const spelled = fc.constantFrom('"chat"', '"\\u0063hat"', '"c\\u0068\\u0061t"')
  await fc.assert(
    fc.asyncProperty(space, space, prompt, spelled, async (left, right, content, name) => {
      const messages = JSON.stringify([{ role: 'user', content: `x${content}` }])
      const before = `${left}{${right}"x":1e2,"model"${left}:${right}`
      const behind = `${right},"messages":${messages},"max_tokens":${left}16.0,"unknown":"model"}${right}`
      const answer = await post(gateway.url + chatPath, account.key, before + name + behind)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(lastBody(), `${before}"chat-1"${behind}`)
    }),
    { numRuns: 30 },
  )
})

test('an allow list with the model covers its other names; the refusal of one is recorded as asked', async () => {
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    models: ['large-1'],
  })
  assert.equal((await ask('large', secret)).status, 200)
  const refused = await ask('small', secret)
  assert.equal(refused.status, 400)
  assert.deepEqual(await recordOf(refused), ['small-1', 'small'])
})

test('a model is shown by any of its names, and listed by its id', async () => {
  const headers = { authorization: `Bearer ${account.key}` }
  const one = await send(`${gateway.url}/alpha/v1/models/large-1%5B1m%5D`, { headers })
  assert.equal((JSON.parse(one.text) as { id: string }).id, 'large-1')
  const list = await send(`${gateway.url}/alpha/v1/models`, { headers })
  for (const name of names) assert.ok(!list.text.includes(`"${name}"`), name)
})

test('a 404 names the nearest model, or the base address of the vendor that has it', async () => {
  const messageOf = async (answer: Promise<WireAnswer>): Promise<string> => {
    const { status, text } = await answer
    assert.equal(status, 404)
    return (JSON.parse(text) as { error: { message: string } }).error.message
  }
  assert.match(await messageOf(ask('larg-1')), /Did you mean "large-1"\? GET \/alpha\/v1\/models/)
  assert.match(await messageOf(ask('smal')), /Did you mean "small-1"\?/)
  assert.doesNotMatch(await messageOf(ask('something-else-altogether')), /Did you mean/)
  assert.match(
    await messageOf(ask('chat')),
    /a model of \/beta: the base address ends in "\/beta\/v1"/,
  )
  const chat = post(gateway.url + chatPath, account.key, chatRequest({ model: 'large-1' }))
  assert.match(await messageOf(chat), /a model of \/alpha: the base address ends in "\/alpha"/)
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    models: ['small-1'],
  })
  assert.doesNotMatch(
    await messageOf(ask('larg-1', secret)),
    /large-1"\?/,
    'none that it may not use',
  )
})

test('names that collide, and names of another form, are refused with their line', async () => {
  const url = gateway.sandbox.url
  const mistakesOf = async (also: Readonly<Record<string, readonly string[]>>): Promise<string> => {
    const catalogue = namedCatalogue(url)
    const models = Object.fromEntries(
      Object.entries(catalogue.models).map(([id, model]) => [
        id,
        also[id] === undefined ? model : { ...model, also: also[id] },
      ]),
    )
    const text = JSON.stringify({ ...catalogue, models })
    return applyCatalogue(gateway.context, { text, dry_run: true }).then(
      () => '',
      (error: unknown) => String(error),
    )
  }
  assert.equal(await mistakesOf({}), '')
  assert.match(await mistakesOf({ 'small-1': ['large'] }), /large is a name of the model/)
  assert.match(await mistakesOf({ 'small-1': ['chat-1'] }), /chat-1 is a name of the model chat-1/)
  assert.match(await mistakesOf({ 'small-1': ['small-1'] }), /small-1 is the model's id/)
  assert.match(await mistakesOf({ 'small-1': ['large-1-20260101'] }), /the model large-1 already/)
  for (const wrong of ['a,b', 'a b', '', '[x]', 'ä', 'x'.repeat(129)])
    assert.match(await mistakesOf({ 'small-1': [wrong] }), /must be a list of names/, wrong)
})
