import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { post, usage } from '../support/http-client.ts'

let gateway: Gateway
before(async () => {
  gateway = await startGateway()
})
after(() => gateway.close())

test('an answer of either format is charged by the time the client has its end', async () => {
  const account = await gateway.createAccount()
  const messages = await post(`${gateway.url}/alpha/v1/messages`, account.key, {
    model: 'large-1',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'hello' }],
  })
  assert.equal(messages.status, 200)
  const chat = await post(`${gateway.url}/beta/v1/chat/completions`, account.key, {
    model: 'chat-1',
    max_tokens: 50,
    stream: true,
    messages: [{ role: 'user', content: 'hello' }],
  })
  assert.equal(chat.status, 200)
  assert.ok(chat.isComplete)
  assert.ok(chat.body.toString().endsWith('data: [DONE]\n\n'))
  const figures = await usage(gateway.url, account.token)
  assert.equal((figures['usage'] as { requests: number }).requests, 2)
  assert.equal((await gateway.audit()).clean, true)
})
