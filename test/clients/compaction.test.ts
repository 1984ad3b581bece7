/** The vendor's SDK makes a conversation shorter and counts tokens, against a scripted vendor. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { withScenario } from '../support/scenario.ts'

const compacted = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'abc' }],
  usage: { input_tokens: 500, output_tokens: 200, total_tokens: 700 },
}

test("the vendor's SDK compacts and counts", async () => {
  await withScenario({ vendors: 'scripted' }, async (gateway) => {
    const client = new OpenAI({
      apiKey: gateway.account.key,
      baseURL: `${gateway.url}/beta/v1`,
      maxRetries: 0,
    })
    const answerWith = (value: object): void =>
      gateway.scripted.answer((response) => {
        const headers = { 'content-type': 'application/json' }
        response.writeHead(200, headers).end(JSON.stringify(value))
      })
    answerWith(compacted)
    const compaction = await client.responses.compact({ model: 'chat-1', input: 'hello' })
    assert.deepEqual(JSON.parse(JSON.stringify(compaction)), compacted)
    assert.equal((await gateway.ended(gateway.account, 1)).length, 1)
    answerWith({ object: 'response.input_tokens', input_tokens: 11 })
    const count = await client.responses.inputTokens.count({ model: 'chat-1', input: 'hello' })
    assert.equal(count.input_tokens, 11)
  })
})
