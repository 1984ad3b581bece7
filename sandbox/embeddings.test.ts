/** Embeddings as a client receives them: all forms of input, both encodings, exact counts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

interface Answer {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[]
  readonly model: string
  readonly usage: unknown
  readonly error?: { readonly message: string; readonly code: string | null }
}

async function send(body: object): Promise<{ readonly status: number; readonly answer: Answer }> {
  const url = `${sandbox.url}/beta-main/v1/embeddings`
  const received = await sendToVendor(url, { body: { model: 'embed-1', ...body } })
  return { status: received.status, answer: JSON.parse(received.text) as Answer }
}

async function ask(body: object): Promise<Answer> {
  const { status, answer } = await send(body)
  assert.equal(status, 200, JSON.stringify(answer))
  return answer
}

test('gives one vector of length 1 for each input, the same each time', async () => {
  const answer = await ask({ input: ['one', 'two', 'one'] })
  assert.deepEqual(
    answer.data.map(({ index }) => index),
    [0, 1, 2],
  )
  const [one, two, again] = answer.data.map(({ embedding }) => embedding as number[])
  assert.equal(one?.length, 1536)
  assert.ok(Math.abs(Math.hypot(...one) - 1) < 1e-5)
  assert.deepEqual(one, again)
  assert.notDeepEqual(one, two)
})

test('writes the same vector in either encoding', async () => {
  const plain = await ask({ input: 'x', dimensions: 8 })
  const coded = await ask({ input: 'x', dimensions: 8, encoding_format: 'base64' })
  const bytes = Buffer.from(coded.data[0]?.embedding as string, 'base64')
  const values = Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(index * 4))
  assert.deepEqual(values, plain.data[0]?.embedding)
})

test('counts texts by their bytes and tokens by their number', async () => {
  const usage = async (input: unknown) => (await ask({ input, dimensions: 1 })).usage
  assert.deepEqual(await usage('a'.repeat(40)), { prompt_tokens: 10, total_tokens: 10 })
  assert.deepEqual(await usage(['abcd', 'abcde']), { prompt_tokens: 3, total_tokens: 3 })
  assert.deepEqual(await usage([1, 2, 3]), { prompt_tokens: 3, total_tokens: 3 })
  assert.deepEqual(await usage([[1, 2], [3]]), { prompt_tokens: 3, total_tokens: 3 })
  assert.deepEqual(await usage('x [[sandbox: input=70; usage=negative]]'), {
    prompt_tokens: -71,
    total_tokens: -71,
  })
  const record = sandbox.log.records.at(-1)
  assert.deepEqual([record?.operation, record?.kind], ['embeddings.create', 'answer'])
  assert.deepEqual([record?.usage?.counts.input, record?.usage?.counts.output], [70, 0])
})

test('makes the vendor’s own checks', async () => {
  const refuse = async (body: object) => {
    const { status, answer } = await send(body)
    assert.equal(status, 400)
    return answer.error?.code ?? answer.error?.message
  }
  assert.equal(await refuse({}), 'missing_required_parameter')
  assert.equal(await refuse({ input: [] }), 'empty_array')
  assert.equal(await refuse({ input: '' }), "Invalid 'input': input cannot be an empty string.")
  assert.equal(await refuse({ input: Array(2049).fill('x') }), 'array_above_max_length')
  assert.equal(await refuse({ input: { a: 1 } }), 'invalid_type')
  assert.equal(await refuse({ input: 'x', encoding_format: 'hex' }), 'invalid_value')
  const long = 'x'.repeat(8193 * 4)
  assert.match(String(await refuse({ input: long })), /maximum input length is 8192 tokens/)
  const many = Array<string>(40).fill('x'.repeat(8000 * 4))
  assert.match(String(await refuse({ input: many })), /maximum request size is 300000 tokens/)
})
