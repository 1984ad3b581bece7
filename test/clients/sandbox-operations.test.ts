/**
 * The official SDK reads what the simulated vendors send, without a gateway between them: every event of a
 * response, stored state, embeddings, completions. The SDK refuses events that it does not know.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

function connect(apiKey = 'own'): OpenAI {
  return new OpenAI({ baseURL: `${sandbox.url}/beta-main/v1`, apiKey, maxRetries: 0 })
}

/** Directives to the vendor for one request. */
const show = (directives: string) => ({ headers: { 'x-sandbox': directives } })

const model = 'chat-1'
const question = { model, input: 'Good morning' }

const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'add', strict: false, parameters: { type: 'object' } },
  { type: 'custom', name: 'patch' },
  { type: 'web_search' },
]

/** Each makes the vendor send other kinds of events. */
const contents = [
  'text',
  'cited',
  'refusal',
  'reasoning,text',
  'omitted,tool',
  'search,text',
  'file_search,text',
  'code_interpreter,text',
  'image_generation,text',
  'mcp,text',
  'text; refusal=partial',
]

for (const content of contents)
  test(`collects the events of ${content} to the whole response`, async () => {
    const reasoning = { effort: 'low', summary: 'auto' } as const
    const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content']
    const asked = { ...question, tools, reasoning, include }
    const stream = connect().responses.stream(asked, show(`content=${content}; pings=1`))
    const collected = await stream.finalResponse()
    const stored = await connect().responses.retrieve(collected.id)
    assert.deepEqual(
      collected.output.map(({ type }) => type),
      stored.output.map(({ type }) => type),
    )
    assert.equal(collected.output_text, stored.output_text)
    assert.deepEqual(collected.usage, stored.usage)
  })

test('reads arguments of functions, input of custom tools, and structured output', async () => {
  const choose = { type: 'custom', name: 'patch' } as const
  const custom = connect().responses.stream({ ...question, tools, tool_choice: choose })
  const [call] = (await custom.finalResponse()).output
  assert.ok(call?.type === 'custom_tool_call' && call.input === 'simulated custom input')
  const format = zodTextFormat(z.object({ n: z.int().min(3) }), 'count')
  const parsed = await connect().responses.parse({ ...question, text: { format } })
  assert.equal(parsed.output_parsed?.n, 3)
})

test('throws what an error in the middle of a stream says', async () => {
  for (const form of ['event', 'flat', 'both']) {
    const directives = `error_at=4; event_error=429; error_as=${form}`
    const stream = connect().responses.stream(question, show(directives))
    await assert.rejects(stream.finalResponse(), (error) => {
      assert.ok(error instanceof APIError, form)
      return /Rate limit reached/.test(error.message)
    })
  }
  const failed = connect().responses.stream(question, show('error_at=4; error_as=failed'))
  assert.equal((await failed.finalResponse()).status, 'failed')
})

test('continues, lists and deletes its own stored responses', async () => {
  const client = connect()
  const first = await client.responses.create(question)
  const next = { ...question, previous_response_id: first.id }
  assert.equal((await client.responses.create(next)).previous_response_id, first.id)
  await assert.rejects(connect('other').responses.create(next), BadRequestError)
  const items = await Array.fromAsync(client.responses.inputItems.list(first.id, { limit: 1 }))
  assert.equal(items.length, 1)
  await client.responses.delete(first.id)
  await assert.rejects(client.responses.retrieve(first.id), NotFoundError)
})

test('reads embeddings in the encoding of the SDK', async () => {
  const request = { model: 'embed-1', input: ['one', 'two'], dimensions: 4 }
  const coded = await connect().embeddings.create(request)
  const plain = await connect().embeddings.create({ ...request, encoding_format: 'float' })
  assert.deepEqual(
    coded.data.map(({ embedding }) => [...embedding]),
    plain.data.map(({ embedding }) => embedding),
  )
  assert.equal(coded.usage.total_tokens, 2)
})

test('reads completions, whole and streamed', async () => {
  const request = { model, prompt: 'Once upon a time', max_tokens: 50 }
  const whole = await connect().completions.create(request)
  assert.match(whole.choices[0]?.text ?? '', /simulated/)
  const options = { include_usage: true }
  const stream = await connect().completions.create({
    ...request,
    stream: true,
    stream_options: options,
  })
  const chunks = await Array.fromAsync(stream)
  assert.deepEqual(chunks.at(-1)?.usage, whole.usage)
})
