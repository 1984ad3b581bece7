/** The vendors' JavaScript SDKs in a page of another origin, with the checks of a browser. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { openPage } from '../support/page.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const origin = 'https://app.example'

let gateway: Scenario
before(async () => {
  gateway = await scenario({ settings: { cors_origins: origin } })
})
after(() => gateway.close())

const messages = [{ role: 'user' as const, content: 'Hello' }]

test('the SDK of the chat format works in a page', async () => {
  const { fetch, preflights } = openPage(origin)
  const settings = { baseURL: `${gateway.url}/beta/v1`, fetch, dangerouslyAllowBrowser: true }
  const client = new OpenAI({ ...settings, apiKey: gateway.account.key })
  const request = { model: 'chat-1', max_tokens: 50, messages }
  const whole = await client.chat.completions.create(request)
  assert.match(whole.choices[0]?.message.content ?? '', /simulated/)
  assert.match(whole._request_id ?? '', /^req_/)
  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  assert.match(text, /simulated/)
  const models = await client.models.list()
  assert.ok(models.data.length > 0)
  assert.equal(preflights.length, 3)

  const stranger = new OpenAI({ ...settings, apiKey: 'cr_wrong' })
  await assert.rejects(stranger.chat.completions.create(request), OpenAI.AuthenticationError)
})

test('the SDK of the messages format works in a page', async () => {
  const { fetch, preflights } = openPage(origin)
  const settings = { baseURL: `${gateway.url}/alpha`, fetch, dangerouslyAllowBrowser: true }
  const client = new Anthropic({ ...settings, apiKey: gateway.account.key })
  const request = { model: 'large-1', max_tokens: 50, messages }
  const whole = await client.messages.create(request)
  assert.equal(whole.role, 'assistant')
  assert.match(whole._request_id ?? '', /^req_/)
  const streamed = await client.messages.stream(request).finalMessage()
  assert.equal(streamed.stop_reason, 'end_turn')
  assert.equal(preflights.length, 2)
  for (const { headers } of preflights)
    assert.match(
      headers['access-control-allow-headers'] ?? '',
      /anthropic-dangerous-direct-browser-access.*x-stainless-/,
    )

  const stranger = new Anthropic({ ...settings, apiKey: 'cr_wrong' })
  await assert.rejects(stranger.messages.create(request), Anthropic.AuthenticationError)
})
