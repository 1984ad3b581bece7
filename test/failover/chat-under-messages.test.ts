/**
 * A vendor of the messages format one of whose channels also speaks chat completions: clients of the chat
 * format ask for its models below its prefix. Such channels alone serve them, at the same prices, and what
 * fails in one format says nothing about the other.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { showChannel } from '../support/operations.ts'
import { openPage } from '../support/page.ts'
import { chatRequest, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const app = 'https://app.example'
const allowMethods = 'access-control-allow-methods'

const chatAnswer = {
  id: 'c1',
  object: 'chat.completion',
  model: 'large-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1_000,
    completion_tokens: 10,
    total_tokens: 1_010,
    prompt_tokens_details: { cached_tokens: 900 },
  },
}
const messagesAnswer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'large-1',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 2 },
}

let gateway: Scenario
/** The targets that the vendor saw, and which of them fail. */
const targets: string[] = []
let failing = 'none'

before(async () => {
  gateway = await scenario({ vendors: 'scripted', catalogue, settings: { cors_origins: app } })
  gateway.scripted.answer((response, { target }) => {
    targets.push(target)
    if (target.startsWith(failing)) {
      response.writeHead(503).end()
      return
    }
    const isChat = target.endsWith('/chat/completions')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isChat ? chatAnswer : messagesAnswer))
  })
})
after(() => gateway.close())
beforeEach(() => {
  gateway.resetHealth()
  targets.length = 0
  failing = 'none'
})

function catalogue(url: string): string {
  const rest = 'credential: canary, models: [large-1], check: none'
  return `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01" }
  quiet: { format: messages }
models:
  large-1: { vendor: alpha, max_output_tokens: 100, price: { input: 3, output: 15, cache_read: 0.3 } }
  quiet-1: { vendor: quiet, max_output_tokens: 100, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "${url}/main", ${rest} }
  speaking: { vendor: alpha, url: "${url}/speaking", chat_path: /openai/v1, rank: 1, ${rest} }
  other: { vendor: alpha, url: "${url}/other", chat_path: "", rank: 2, ${rest} }
  quiet: { vendor: quiet, url: "${url}/quiet", credential: canary, models: [quiet-1], check: none }
`
}

function askChat(path = '/alpha/v1/chat/completions'): Promise<WireAnswer> {
  const body = chatRequest({ model: 'large-1', max_tokens: undefined })
  return post(gateway.url + path, gateway.account.key, body)
}

test('is served by the channels that speak chat, at the prices of the model', async () => {
  const answer = await askChat()
  assert.equal(answer.status, 200, answer.body.toString())
  assert.deepEqual(targets, ['/speaking/openai/v1/chat/completions'])
  const { amountPicos, channel } = await gateway.recorded(answer)
  assert.equal(channel, 'speaking')
  // 100 of input, 900 from the cache, 10 of output, in pico-dollars.
  assert.equal(amountPicos, 100n * 3_000_000n + 900n * 300_000n + 10n * 15_000_000n)
})

test('is found by the ways in which clients join address and path', async () => {
  for (const path of ['/alpha/chat/completions', '/alpha/v1/v1/chat/completions'])
    assert.equal((await askChat(path)).status, 200, path)
})

test('fails over among such channels alone, and errors have the shape of chat', async () => {
  failing = '/speaking'
  assert.equal((await askChat()).status, 200)
  assert.deepEqual(targets, ['/speaking/openai/v1/chat/completions', '/other/chat/completions'])
  failing = '/'
  targets.length = 0
  const answer = await askChat()
  assert.equal(answer.status, 503)
  assert.ok(targets.every((target) => !target.startsWith('/main')))
  const unknown = await post(
    `${gateway.url}/alpha/v1/chat/completions`,
    gateway.account.key,
    chatRequest({ model: 'no-such-model' }),
  )
  assert.equal(unknown.status, 404)
  const { error } = JSON.parse(unknown.body.toString()) as { error: { code: string } }
  assert.equal(error.code, 'model_not_found')
})

test('what fails in one format says nothing about the other', async () => {
  failing = '/speaking/openai'
  for (let count = 0; count < 8; count++) assert.equal((await askChat()).status, 200)
  assert.equal(gateway.grade('speaking', 'large-1 (chat)'), 'off')
  assert.equal(gateway.grade('speaking', 'large-1'), 'on')
  await gateway.app.refresh()
  const { health } = await showChannel(gateway.context, { channel: 'speaking' })
  assert.deepEqual(Object.fromEntries(health.map(({ model, state }) => [model, state])), {
    'large-1': 'on',
    'large-1 (chat)': 'off',
  })
  const messages = `${gateway.url}/alpha/v1/messages`
  const answer = await post(messages, gateway.account.key, messagesRequest())
  assert.equal(answer.status, 200)
  assert.equal((await gateway.recorded(answer)).channel, 'main')
})

test('is open to pages in a browser, by its usual path and by the others', async () => {
  const page = openPage(app)
  const { key } = gateway.account
  for (const path of ['/alpha/v1/chat/completions', '/alpha/chat/completions']) {
    const answer = await page.fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatRequest({ model: 'large-1', max_tokens: undefined })),
    })
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /hello/)
    const options = await send(gateway.url + path, { method: 'OPTIONS' })
    assert.deepEqual([options.status, options.headers['allow']], [204, 'POST'])
  }
  assert.equal(page.preflights.length, 2)
  assert.ok(page.preflights.every((one) => one.headers[allowMethods] === 'POST'))
})

test('is not there for a vendor none of whose channels speaks chat', async () => {
  const options = await send(`${gateway.url}/quiet/v1/chat/completions`, { method: 'OPTIONS' })
  assert.equal(options.status, 404)
  const path = '/quiet/v1/chat/completions'
  const answer = await post(gateway.url + path, gateway.account.key, chatRequest())
  assert.equal(answer.status, 404)
})
