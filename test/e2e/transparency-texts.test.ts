/**
 * Requests for embeddings and completions and their answers on their way through a whole gateway, compared to
 * the byte: the vendor is scripted, so that it can say anything in any pieces.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { send } from '../support/http-client.ts'
import { cutAt, writePieces } from '../support/scripted-vendor.ts'
import { scenario } from '../support/scenario.ts'
import {
  completionsPath,
  embeddingsPath,
  textCatalogue,
  textRequest,
} from '../support/text-operations.ts'

const gateway = await scenario({ vendors: 'scripted', catalogue: textCatalogue })
after(() => gateway.close())
const { scripted: vendor } = gateway
const key = gateway.account.key

const text = fc.string({ unit: 'binary' })
const prompt = fc.oneof(
  text,
  fc.array(text, { minLength: 1 }),
  fc.array(fc.nat(), { minLength: 1 }),
  fc.array(fc.array(fc.nat()), { minLength: 1 }),
)
const unread = fc.dictionary(
  fc.constantFrom('user', 'dimensions', 'logit_bias', 'suffix', 'x\u0301', 'extra_body'),
  fc.jsonValue(),
)
const gap = fc.constantFrom('', ' ', '\t')
const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 6 })

/** Sends a body as it is, and returns what the vendor got and what the client got. */
async function exchange(path: string, body: string): Promise<{ sent: Buffer; got: Buffer }> {
  const answer = await send(gateway.url + path, { ...textRequest({ key, fields: {} }), body })
  assert.equal(answer.status, 200, answer.text)
  assert.ok(answer.isComplete)
  return { sent: vendor.last?.body ?? Buffer.alloc(0), got: answer.body }
}

function answerPieces(type: string, bytes: Buffer, at: readonly number[]): void {
  vendor.answer(async (response) => {
    response.writeHead(200, { 'content-type': type })
    await writePieces(response, cutAt(bytes, at))
    response.end()
  })
}

for (const [path, model, field] of [
  [embeddingsPath, 'embed-1', 'input'],
  [completionsPath, 'text-1', 'prompt'],
] as const)
  test(`property: ${path} passes whole bodies unchanged in both directions`, async () => {
    await fc.assert(
      fc.asyncProperty(
        prompt,
        unread,
        fc.jsonValue(),
        gap,
        cuts,
        async (given, rest, more, space, at) => {
          const body = JSON.stringify(
            { ...rest, model, max_tokens: 5, [field]: given },
            null,
            space,
          )
          const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
          const content = { data: [more], choices: [{ text: 'x', more }], usage }
          const bytes = Buffer.from(JSON.stringify({ object: 'list', ...content }, null, space))
          answerPieces('application/json', bytes, at)
          const { sent, got } = await exchange(path, body)
          assert.equal(sent.toString('latin1'), Buffer.from(body).toString('latin1'))
          assert.ok(got.equals(bytes))
        },
      ),
      { numRuns: 60 },
    )
  })

test('property: a stream of completions passes unchanged, however its bytes are cut', async () => {
  const event = fc.record({ text, index: fc.constant(0), logprobs: fc.jsonValue() })
  const lineEnd = fc.constantFrom('\n', '\r\n')
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1 }), lineEnd, cuts, async (events, end, at) => {
      const chunks = events.map((choice) => ({ object: 'text_completion', choices: [choice] }))
      const last = { choices: [{ text: '', index: 0, finish_reason: 'stop' }] }
      const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
      const data = [...chunks, last, usage].map((one) => JSON.stringify(one))
      const bytes = Buffer.from(
        [...data, '[DONE]'].map((one) => `data: ${one}${end}${end}`).join(''),
      )
      answerPieces('text/event-stream', bytes, at)
      const asks = '"stream":true,"stream_options":{"include_usage":true}'
      const body = `{"model":"text-1","prompt":"a\\u0062","max_tokens":5,${asks}}`
      const { sent, got } = await exchange(completionsPath, body)
      assert.equal(sent.toString(), body)
      assert.ok(got.equals(bytes))
    }),
    { numRuns: 60 },
  )
})
