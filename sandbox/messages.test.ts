/** Messages answers as a client receives them: whole and streamed, every event, exact counts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventData, sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'
import { billedParts } from './served-record.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox({ keepBodies: true })
})
after(() => sandbox.close())

type DeltaMember = 'type' | 'text' | 'partial_json' | 'stop_reason'

interface MessageEvent {
  readonly type: string
  readonly delta?: { readonly [Member in DeltaMember]?: string }
  readonly content_block?: { readonly type: string }
  readonly message?: { readonly usage: Readonly<Record<string, unknown>> | null }
  readonly usage?: Readonly<Record<string, unknown>> | null
}

interface Message {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly stop_reason: string
  readonly stop_details: { readonly type: string } | null
  readonly usage: Readonly<Record<string, unknown>>
}

const path = '/alpha-main/v1/messages'

function prompt(text: string, more: object = {}) {
  const messages = [{ role: 'user', content: text }]
  return { model: 'large-1', max_tokens: 1000, messages, ...more }
}

async function ask(directives: string, more: object = {}): Promise<Message> {
  const body = prompt(`hello [[sandbox: ${directives}]]`, more)
  const received = await sendToVendor(sandbox.url + path, { body })
  assert.equal(received.status, 200, received.text)
  return JSON.parse(received.text) as Message
}

async function stream(directives: string, more: object = {}): Promise<readonly MessageEvent[]> {
  const body = prompt(`hello [[sandbox: ${directives}]]`, { stream: true, ...more })
  const received = await sendToVendor(sandbox.url + path, { body })
  assert.equal(received.status, 200, received.text)
  assert.match(received.headers['content-type'] ?? '', /^text\/event-stream/)
  return eventData(received.text) as readonly MessageEvent[]
}

const deltaTypes = (events: readonly MessageEvent[]) =>
  new Set(events.map((event) => event.delta?.type).filter((type) => type !== undefined))

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

test('answers in the form that the request asks for, under either name of the field', async () => {
  const format = { type: 'json_schema', schema: recipeSchema }
  for (const more of [{ output_config: { format } }, { output_format: format }]) {
    const answer = await ask('', more)
    assertRecipe(answer.content[0]?.text ?? '')
    const events = await stream('', more)
    assertRecipe(events.map((event) => event.delta?.text ?? '').join(''))
  }
})

test('says that it is simulated, varies with the request and counts its pieces', async () => {
  const received = await sendToVendor(`${sandbox.url}${path}?beta=true`, {
    body: prompt('first words'),
  })
  const message = JSON.parse(received.text) as Message
  const text = message.content[0]?.text ?? ''
  assert.match(text, /^\[simulated\].*large-1.*first words/)
  assert.equal(message.usage['output_tokens'], text.split(' ').length)
  assert.equal(message.usage['input_tokens'], Math.ceil('first words'.length / 4))
  assert.equal(received.headers['content-length'], String(received.body.length))
  const other = await sendToVendor(sandbox.url + path, { body: prompt('other words') })
  assert.notEqual((JSON.parse(other.text) as Message).content[0]?.text, text)
})

test('streams the same text with the same counts', async () => {
  const more = { system: 'be brief' }
  const whole = await ask('output=12', more)
  const events = await stream('output=12', more)
  const text = events.map((event) => event.delta?.text ?? '').join('')
  assert.equal(text.replace(/request \w+/, ''), whole.content[0]?.text?.replace(/request \w+/, ''))
  const last = events.at(-2)
  assert.equal(last?.type, 'message_delta')
  assert.equal(last?.usage?.['output_tokens'], 12)
  assert.equal(last?.usage?.['input_tokens'], whole.usage['input_tokens'])
  assert.deepEqual(
    [events[0]?.type, events[1]?.type, events.at(-1)?.type],
    ['message_start', 'ping', 'message_stop'],
  )
})

test('stops at max_tokens', async () => {
  const message = await ask('output=50', { max_tokens: 5 })
  assert.equal(message.stop_reason, 'max_tokens')
  assert.equal(message.usage['output_tokens'], 5)
  const hidden = await ask('output=50; reasoning=3', { max_tokens: 5 })
  assert.equal(hidden.usage['output_tokens'], 5)
  assert.equal(hidden.content[0]?.text?.trim().split(' ').length, 2)
})

test('sends every kind of block and delta', async () => {
  const events = await stream('content=all')
  const blocks = events.map((event) => event.content_block?.type).filter((type) => type)
  assert.deepEqual(blocks, [
    'thinking',
    'redacted_thinking',
    'text',
    'server_tool_use',
    'web_search_tool_result',
    'text',
    'tool_use',
  ])
  assert.deepEqual(
    deltaTypes(events),
    new Set([
      'thinking_delta',
      'signature_delta',
      'text_delta',
      'input_json_delta',
      'citations_delta',
    ]),
  )
})

test('counts thinking that it does not show', async () => {
  const events = await stream('output=2', { thinking: { type: 'adaptive', display: 'omitted' } })
  assert.ok(deltaTypes(events).has('signature_delta'))
  assert.ok(!deltaTypes(events).has('thinking_delta'))
  assert.equal(events.at(-2)?.usage?.['output_tokens'], 7)
  assert.equal(sandbox.log.records.at(-1)?.usage?.reasoningTokens, 5)
})

test('calls an offered tool on request, with valid arguments, and not after a result', async () => {
  const tool = {
    name: 'weather',
    input_schema: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  }
  const body = prompt('please use the weather tool', { tools: [tool], stream: true })
  const received = await sendToVendor(sandbox.url + path, { body })
  const events = eventData(received.text) as readonly MessageEvent[]
  const input = events.map((event) => event.delta?.partial_json ?? '').join('')
  assert.match((JSON.parse(input) as { city: string }).city, /^simulated/)
  assert.equal(events.at(-2)?.delta?.stop_reason, 'tool_use')
  const result = { type: 'tool_result', tool_use_id: 'x', content: 'use the weather tool' }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'use the tool' }, result] }]
  const answer = await sendToVendor(sandbox.url + path, {
    body: { ...body, stream: false, messages },
  })
  assert.equal((JSON.parse(answer.text) as Message).stop_reason, 'end_turn')
})

test('refuses before any output, or in the middle of the answer', async () => {
  const empty = await ask('refusal=empty')
  assert.deepEqual(empty.content, [])
  assert.equal(empty.stop_reason, 'refusal')
  assert.equal(empty.stop_details?.type, 'refusal')
  const partial = await ask('refusal=partial; output=10')
  assert.equal(partial.stop_reason, 'refusal')
  assert.equal(partial.usage['output_tokens'], 5)
  const billed = sandbox.log.records.slice(-2).map((record) => billedParts(record).length)
  assert.deepEqual(billed, [0, 1])
})

test('reports cache classes, tier, speed and region, and logs the same', async () => {
  const directives =
    'input=10; cached=20; cache_write_5m=30; cache_write_1h=40; output=5; tier=priority; speed=fast; geo=us; web_search=2'
  const { usage } = await ask(directives)
  assert.equal(usage['input_tokens'], 10)
  assert.equal(usage['cache_creation_input_tokens'], 70)
  assert.deepEqual(usage['cache_creation'], {
    ephemeral_5m_input_tokens: 30,
    ephemeral_1h_input_tokens: 40,
  })
  assert.deepEqual([usage['service_tier'], usage['speed']], ['priority', 'fast'])
  assert.equal(usage['inference_geo'], 'us')
  const record = sandbox.log.records.at(-1)
  assert.deepEqual(record?.usage?.counts, {
    input: 10,
    output: usage['output_tokens'],
    cacheRead: 20,
    cacheWrite5m: 30,
    cacheWrite1h: 40,
    inputAudio: 0,
    outputAudio: 0,
    webSearch: 2,
  })
  assert.deepEqual(record?.wireUsage, usage)
})

test('serves the requested speed and region', async () => {
  const { usage } = await ask('output=1', { speed: 'fast', inference_geo: 'us' })
  assert.deepEqual([usage['speed'], usage['inference_geo']], ['fast', 'us'])
})

test('lists iterations with their models and marks the billed ones', async () => {
  await ask('iterations=fallback; output=4; input=9; other_model=small-1')
  const parts = sandbox.log.records.at(-1)?.usage?.parts ?? []
  assert.deepEqual(
    parts.map((part) => [part.type, part.model, part.counts.output, part.isBilled]),
    [
      ['message', undefined, 0, false],
      ['fallback_message', 'small-1', 4, true],
    ],
  )
  const { usage } = await ask('iterations=advisor; output=4')
  assert.equal((usage['iterations'] as unknown[]).length, 2)
  assert.equal(usage['output_tokens'], 4)
})

test('continues with content after a running count', async () => {
  const events = await stream('late_content; output=6')
  const deltas = events.filter((event) => event.type === 'message_delta')
  assert.deepEqual(
    deltas.map((event) => event.usage?.['output_tokens']),
    [6, 12],
  )
  const firstDelta = events.findIndex((event) => event.type === 'message_delta')
  assert.ok(events.slice(firstDelta).some((event) => event.type === 'content_block_delta'))
})

test('reports late cache writes only in the final count', async () => {
  const events = await stream('cache_write_5m=10; cache_write_late=5; output=2')
  assert.equal(events[0]?.message?.usage?.['cache_creation_input_tokens'], 10)
  assert.equal(events.at(-2)?.usage?.['cache_creation_input_tokens'], 15)
  assert.equal(sandbox.log.records.at(-1)?.usage?.counts.cacheWrite5m, 15)
})

test('reports wrong counts on request', async () => {
  const finals = async (directives: string) =>
    (await stream(`${directives}; output=3`)).filter((event) => event.type === 'message_delta')
  assert.equal((await finals('usage=none'))[0]?.usage, undefined)
  assert.equal((await finals('usage=null'))[0]?.usage, null)
  assert.equal((await finals('usage=negative'))[0]?.usage?.['output_tokens'], -4)
  assert.equal((await finals('usage=fractional'))[0]?.usage?.['output_tokens'], 3.5)
  assert.deepEqual(
    (await finals('usage=falling')).map((event) => event.usage?.['output_tokens']),
    [103, 3],
  )
  assert.equal((await finals('usage=twice')).length, 2)
  const received = await sendToVendor(sandbox.url + path, {
    body: prompt('[[sandbox: usage=huge]]'),
  })
  assert.match(received.text, /"output_tokens":9007199254740993/)
})

test('makes the vendor’s own checks', async () => {
  const status = async (body: unknown, headers: Record<string, string> = {}) =>
    (await sendToVendor(sandbox.url + path, { body, headers })).status
  assert.equal(await status('{"model":'), 400)
  assert.equal(await status({ ...prompt('x'), max_tokens: undefined }), 400)
  assert.equal(await status(prompt('x'), { 'anthropic-version': 'today' }), 400)
  const unnamed = { 'anthropic-version': '', 'alpha-version': '2023-06-01' }
  assert.equal(await status(prompt('x'), unnamed), 200)
  assert.equal(await status(prompt('x'), { authorization: '' }), 401)
  assert.equal(await status(prompt('x'), { authorization: '', 'x-api-key': 'any' }), 200)
  const sampled = prompt('x', { temperature: 1 })
  assert.equal(await status(sampled), 200)
  assert.equal(await status(sampled, { 'anthropic-version': '2026-10-21' }), 400)
})

test('counts tokens and lists models for free', async () => {
  const count = await sendToVendor(`${sandbox.url}${path}/count_tokens`, {
    body: { model: 'large-1', messages: [{ role: 'user', content: 'four' }] },
  })
  assert.equal(count.text, '{"input_tokens":1}')
  const list = await sendToVendor(`${sandbox.url}/alpha-main/v1/models?limit=1000`, {
    method: 'GET',
  })
  const { data, has_more: hasMore } = JSON.parse(list.text) as { data: object[]; has_more: boolean }
  assert.deepEqual([data.length, hasMore], [2, false])
  assert.equal(sandbox.log.records.at(-1)?.kind, 'free')
})
