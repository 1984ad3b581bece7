/** A model serves what the catalogue says that it offers, and nothing that its prices do not cover. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { send, type WireAnswer } from '../support/http-client.ts'
import { exchangesOf } from '../support/money.ts'
import { chatPath, chatRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({
  catalogue: (url) => `
vendors: { beta: { format: chat, allow: [models] } }
models:
  input-1: { vendor: beta, price: { input: 0.02 } }
  named-1: { vendor: beta, operations: [responses, embeddings], price: { input: 1, output: 2 } }
  chat-1: { vendor: beta, price: { input: 1, output: 2 } }
channels:
  beta-main:
    vendor: beta
    url: ${url}/beta-main
    credential: vendor-canary
    models: [input-1, named-1, chat-1]
    check: none
`,
})
after(() => gateway.close())

function ask(fields: Readonly<Record<string, unknown>>): Promise<WireAnswer> {
  return send(gateway.url + chatPath, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.account.key}`,
    },
    body: JSON.stringify(chatRequest(fields)),
  })
}

test('a model is refused for an endpoint that it does not offer, and nothing is held or sent', async () => {
  for (const [model, served] of [
    ['input-1', 'embeddings'],
    ['named-1', 'responses, embeddings'],
  ] as const) {
    const answer = await ask({ model })
    assert.equal(answer.status, 404)
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } }
    assert.equal(
      error.message,
      `The model "${model}" does not serve this endpoint. It serves: ${served}.`,
    )
  }
  const beside = await ask({ model: 'chat-1', models: ['input-1'] })
  assert.equal(beside.status, 404)
  assert.match(beside.body.toString(), /"input-1\\" does not serve this endpoint/)
  assert.deepEqual(await exchangesOf(gateway.context.database), [])
})
