/** Chat answers as a client receives them: whole and streamed, every kind of chunk, exact counts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventData, sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

interface Choice {
  readonly index: number
  readonly delta: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
  readonly finish_reason: string | null
}

interface Chunk {
  readonly choices: readonly Choice[]
  readonly usage?: Readonly<Record<string, unknown>> | null
  readonly service_tier: string
  readonly obfuscation?: string
}

const path = '/beta-main/v1/chat/completions'

function prompt(directives: string, more: object = {}) {
  const messages = [{ role: 'user', content: `hello [[sandbox: ${directives}]]` }]
  return { model: 'chat-1', max_tokens: 1000, messages, ...more }
}

async function ask(directives: string, more: object = {}): Promise<Chunk> {
  const received = await sendToVendor(sandbox.url + path, { body: prompt(directives, more) })
  assert.equal(received.status, 200, received.text)
  return JSON.parse(received.text) as Chunk
}

const withUsage = { stream: true, stream_options: { include_usage: true } }

async function stream(directives: string, more: object = withUsage): Promise<readonly Chunk[]> {
  const body = prompt(directives, { stream: true, ...more })
  const received = await sendToVendor(sandbox.url + path, { body })
  assert.equal(received.status, 200, received.text)
  assert.ok(received.text.includes('data: [DONE]\n\n'))
  return eventData(received.text) as readonly Chunk[]
}

const recipeSchema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    minutes: { type: 'integer', minimum: 5 },
    steps: { type: 'array', items: { type: 'string' }, minItems: 2 },
  },
  required: ['title', 'minutes', 'steps'],
  additionalProperties: false,
}

function assertRecipe(text: string): void {
  const recipe = JSON.parse(text) as { title: string; minutes: number; steps: unknown[] }
  assert.match(recipe.title, /simulated: hello/)
  assert.equal(recipe.minutes, 5)
  assert.equal(recipe.steps.length, 2)
}

test('answers in the form that the request asks for', async () => {
  const format = { type: 'json_schema', json_schema: { name: 'recipe', schema: recipeSchema } }
  const answer = await ask('', { response_format: format })
  assertRecipe(String(answer.choices[0]?.message['content']))
  assert.equal(answer.choices[0]?.finish_reason, 'stop')
  const chunks = await stream('', { ...withUsage, response_format: format })
  const pieces = chunks.map((chunk) => chunk.choices[0]?.delta['content'] as string | undefined)
  assertRecipe(pieces.join(''))
  assert.equal(chunks.at(-1)?.usage?.['completion_tokens'], answer.usage?.['completion_tokens'])
  const plain = await ask('', { response_format: { type: 'json_object' } })
  const value = JSON.parse(String(plain.choices[0]?.message['content'])) as object
  assert.deepEqual(Object.keys(value), ['simulated', 'reply'])
  const cut = await ask('', { response_format: format, max_tokens: 3 })
  assert.equal(cut.choices[0]?.finish_reason, 'length')
  const directed = await ask('output=2; piece=a', { response_format: format })
  assert.equal(directed.choices[0]?.message['content'], 'aa')
})

test('includes cached and written tokens in the prompt’s count', async () => {
  const answer = await ask('input=10; cached=20; cache_write=5; audio_in=3; reasoning=4; output=6')
  assert.equal(answer.choices[0]?.finish_reason, 'stop')
  assert.match(String(answer.choices[0]?.message['content']), /^\[simulated\]/)
  assert.deepEqual(answer.usage, {
    prompt_tokens: 38,
    completion_tokens: 10,
    total_tokens: 48,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 5, audio_tokens: 3 },
    completion_tokens_details: {
      reasoning_tokens: 4,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  })
  const counts = sandbox.log.records.at(-1)?.usage?.counts
  assert.deepEqual([counts?.input, counts?.cacheRead, counts?.output], [10, 20, 10])
})

test('sends usage in a separate chunk, and only on request', async () => {
  const asked = await stream('output=5')
  assert.deepEqual(asked.at(-1)?.choices, [])
  assert.equal(asked.at(-1)?.usage?.['completion_tokens'], 5)
  assert.ok(asked.slice(0, -1).every((chunk) => chunk.usage === null))
  const silent = await stream('output=5', {})
  assert.ok(silent.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1))
  assert.equal(silent.length, asked.length - 1)
})

test('puts usage elsewhere on request', async () => {
  const finish = (await stream('usage_at=finish')).at(-1)
  assert.equal(finish?.choices[0]?.finish_reason, 'stop')
  assert.ok(finish?.usage?.['prompt_tokens'])
  assert.ok((await stream('usage_at=every')).every((chunk) => chunk.usage?.['prompt_tokens']))
  assert.ok((await stream('usage_always', {})).at(-1)?.usage)
  const body = prompt('usage_at=after_done', withUsage)
  const { text } = await sendToVendor(sandbox.url + path, { body })
  assert.match(text, /data: \[DONE\]\n\ndata: .*"usage":\{"prompt_tokens"/)
})

test('interleaves several choices and counts all of them', async () => {
  const chunks = await stream('output=3', { ...withUsage, n: 2 })
  const order = chunks.slice(0, -1).map((chunk) => chunk.choices[0]?.index)
  assert.deepEqual(order, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
  assert.equal(chunks.at(-1)?.usage?.['completion_tokens'], 6)
  const answer = await ask('output=3', { n: 2, max_completion_tokens: 2 })
  assert.equal(answer.usage?.['completion_tokens'], 4)
  assert.deepEqual(
    answer.choices.map((choice) => choice.finish_reason),
    ['length', 'length'],
  )
})

test('calls functions and custom tools in pieces', async () => {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const tools = [{ type: 'function', function: { name: 'add', parameters } }]
  const chunks = await stream('', { tools, tool_choice: 'required' })
  const calls = chunks.flatMap((chunk) => {
    const [call] = (chunk.choices[0]?.delta['tool_calls'] ?? []) as {
      function: { name?: string; arguments: string }
    }[]
    return call === undefined ? [] : [call.function]
  })
  assert.equal(calls[0]?.name, 'add')
  assert.deepEqual(JSON.parse(calls.map((call) => call.arguments).join('')), { n: 1 })
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'tool_calls')
  const custom = [{ type: 'custom', custom: { name: 'note' } }]
  const answer = await ask('', { tools: custom, tool_choice: 'required' })
  const whole = JSON.stringify(answer.choices[0]?.message['tool_calls'])
  assert.match(whole, /"custom":\{"name":"note","input":"simulated custom input"\}/)
})

test('sends refusals, reasoning and audio as separate deltas', async () => {
  const chunks = await stream('content=reasoning,text,refusal,audio; audio_out=8; output=2')
  const members = new Set(chunks.flatMap((chunk) => Object.keys(chunk.choices[0]?.delta ?? {})))
  for (const member of ['reasoning_content', 'content', 'refusal', 'audio']) {
    assert.ok(members.has(member), member)
  }
  const details = chunks.at(-1)?.usage?.['completion_tokens_details'] as Record<string, number>
  assert.equal(details['audio_tokens'], 8)
  assert.equal(details['reasoning_tokens'], 5)
  assert.equal(sandbox.log.records.at(-1)?.usage?.counts.outputAudio, 8)
  assert.equal((await ask('refusal=empty')).choices[0]?.message['content'], null)
})

test('pads chunks unless the request forbids it, and names the served tier', async () => {
  assert.ok((await stream('tier=flex')).every((chunk) => chunk.obfuscation?.length))
  const plain = await stream('tier=flex', { stream_options: { include_obfuscation: false } })
  assert.ok(plain.every((chunk) => !('obfuscation' in chunk) && chunk.service_tier === 'flex'))
  assert.equal((await ask('', { service_tier: 'fast' })).service_tier, 'priority')
})

test('makes the vendor’s own checks', async () => {
  const status = async (more: object, headers: Record<string, string> = {}) =>
    (await sendToVendor(sandbox.url + path, { body: prompt('', more), headers })).status
  assert.equal(await status({ stream_options: { include_usage: true } }), 400)
  assert.equal(await status({}, { authorization: '', 'x-api-key': 'any' }), 401)
  assert.equal(await status({ messages: [] }), 400)
  assert.equal(await status({ max_tokens: undefined }), 200)
})

test('lists models in the shape of the chat format', async () => {
  const headers = { 'anthropic-version': '' }
  const get = { method: 'GET', headers } as const
  assert.equal((await sendToVendor(`${sandbox.url}/beta-main/v1/models/chat-1`, get)).status, 200)
  assert.equal((await sendToVendor(`${sandbox.url}/beta-main/v1/models/none`, get)).status, 404)
})
