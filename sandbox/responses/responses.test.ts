/**
 * Responses as a client receives them: whole and streamed, every kind of item, numbers in order,
 * exact counts.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventData, sendToVendor } from '../../test/support/http-client.ts'
import { startSandbox } from '../sandbox.ts'
import type { Sandbox } from '../sandbox.ts'
import { scriptDirective } from '../script.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

interface Item {
  readonly id: string
  readonly type: string
  readonly status?: string
  readonly name?: string
  readonly namespace?: string
  readonly arguments?: string
  readonly input?: string
  readonly action?: object
  readonly operation?: object
  readonly encrypted_content?: string
  readonly summary?: readonly { readonly text: string }[]
  readonly content?: readonly {
    readonly type: string
    readonly text?: string
    readonly refusal?: string
    readonly annotations?: readonly unknown[]
    readonly logprobs?: readonly unknown[]
  }[]
}

interface Response {
  readonly id: string
  readonly status: string
  readonly service_tier: string
  readonly incomplete_details: unknown
  readonly error: unknown
  readonly output: readonly Item[]
  readonly tool_usage?: {
    readonly web_search: unknown
    readonly image_gen: { readonly output_tokens: number }
  }
  readonly usage: Readonly<Record<string, unknown>> | null
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly delta?: string
  readonly obfuscation?: string
  readonly item?: Item
  readonly response?: Response
}

const path = '/beta-main/v1/responses'

function prompt(directives: string, more: object = {}) {
  return { model: 'chat-1', input: `hello [[sandbox: ${directives}]]`, ...more }
}

async function ask(directives: string, more: object = {}): Promise<Response> {
  const received = await sendToVendor(sandbox.url + path, { body: prompt(directives, more) })
  assert.equal(received.status, 200, received.text)
  return JSON.parse(received.text) as Response
}

async function stream(directives: string, more: object = {}): Promise<readonly Event[]> {
  const body = prompt(directives, { stream: true, ...more })
  const received = await sendToVendor(sandbox.url + path, { body })
  assert.equal(received.status, 200, received.text)
  const events = eventData(received.text) as readonly Event[]
  const names = [...received.text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    names,
    events.map(({ type }) => type),
  )
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  )
  return events
}

/** The names of the events, repeated ones once. */
function order(events: readonly Event[]): readonly string[] {
  return events
    .map(({ type }) => type.replace('response.', ''))
    .filter((name, index, names) => name !== names[index - 1])
}

function textOf(response: Response | undefined): string {
  return response?.output.flatMap(({ content }) => content?.map(({ text }) => text)).join('') ?? ''
}

test('sends the events of a message in the order of the vendor', async () => {
  const events = await stream('output=3')
  assert.deepEqual(order(events), [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ])
  const deltas = events.filter(({ delta }) => delta !== undefined)
  assert.equal(deltas.length, 3)
  assert.ok(deltas.every(({ obfuscation }) => typeof obfuscation === 'string'))
  assert.equal(events[0]?.response?.usage, null)
  const last = events.at(-1)?.response
  assert.equal(textOf(last), deltas.map(({ delta }) => delta).join(''))
  assert.equal(last?.usage?.['output_tokens'], 3)
  const plain = await stream('output=3', { stream_options: { include_obfuscation: false } })
  assert.ok(plain.every((event) => !('obfuscation' in event)))
})

test('answers whole with the same text and counts as streamed', async () => {
  const whole = await ask('')
  assert.equal(whole.status, 'completed')
  assert.match(textOf(whole), /^\[simulated\].*Model chat-1 was sent 1 message/)
  const streamed = (await stream('')).at(-1)?.response
  assert.deepEqual(streamed?.usage, whole.usage)
  assert.notEqual(streamed?.id, whole.id)
})

test('counts cached, written, audio and reasoning tokens inside the totals', async () => {
  const counts =
    'input=10; cached=20; cache_write=5; audio_in=3; audio_out=2; reasoning=4; output=6'
  assert.deepEqual((await ask(counts)).usage, {
    input_tokens: 38,
    input_tokens_details: { cached_tokens: 20, cache_write_tokens: 5, audio_tokens: 3 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 4, audio_tokens: 2 },
    total_tokens: 50,
  })
  const own = sandbox.log.records.at(-1)?.usage
  assert.deepEqual(
    [own?.counts.input, own?.counts.cacheRead, own?.counts.output, own?.reasoningTokens],
    [10, 20, 10, 4],
  )
})

test('names the tier that served it at the end of the answer', async () => {
  const events = await stream('', { service_tier: 'auto' })
  assert.equal(events[0]?.response?.service_tier, 'auto')
  assert.equal(events.at(-1)?.response?.service_tier, 'default')
  assert.equal((await ask('', { service_tier: 'flex' })).service_tier, 'flex')
  assert.equal((await ask('tier=priority')).service_tier, 'priority')
})

test('answers in the form that the request asks for', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const form = { type: 'json_schema', name: 'count', schema }
  assert.deepEqual(JSON.parse(textOf(await ask('', { text: { format: form } }))), { n: 1 })
  const events = await stream('', { text: { format: form } })
  assert.deepEqual(JSON.parse(textOf(events.at(-1)?.response)), { n: 1 })
})

test('calls functions and custom tools in pieces', async () => {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const tools = [
    { type: 'function', name: 'add', parameters },
    { type: 'custom', name: 'patch' },
    { type: 'web_search' },
  ]
  const events = await stream('', { tools, tool_choice: 'required' })
  assert.deepEqual(order(events).slice(2, -1), [
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
  ])
  assert.deepEqual(JSON.parse(events.at(-1)?.response?.output[0]?.arguments ?? ''), { n: 1 })
  const custom = await stream('', { tools, tool_choice: { type: 'custom', name: 'patch' } })
  assert.ok(order(custom).includes('custom_tool_call_input.delta'))
  const [call] = custom.at(-1)?.response?.output ?? []
  assert.deepEqual([call?.type, call?.input], ['custom_tool_call', 'simulated custom input'])
  const space = { type: 'namespace', name: 'sums', tools: [{ type: 'function', name: 'double' }] }
  const { output } = await ask('', { tools: [space], tool_choice: 'required' })
  assert.deepEqual([output[0]?.name, output[0]?.namespace], ['double', 'sums'])
  const brought = { type: 'additional_tools', role: 'developer', tools: [space] }
  const input = [brought, { role: 'user', content: 'Double it.' }]
  const answer = await ask('', { input, tool_choice: 'required' })
  assert.deepEqual([answer.output[0]?.name, answer.output[0]?.namespace], ['double', 'sums'])
})

test('calls the tools that the vendor defines and the client runs', async () => {
  const types = ['local_shell', 'shell', 'apply_patch', 'computer_use_preview']
  const called: unknown[] = []
  for (const type of types) {
    const { output } = await ask('', { tools: [{ type }], tool_choice: { type } })
    called.push([output[0]?.type, Object.keys(output[0]?.action ?? output[0]?.operation ?? {})[0]])
  }
  assert.deepEqual(called, [
    ['local_shell_call', 'type'],
    ['shell_call', 'commands'],
    ['apply_patch_call', 'type'],
    ['computer_call', 'type'],
  ])
  const script = scriptDirective([{ name: 'shell', arguments: { commands: ['pwd'] } }])
  const { output } = await ask(script, { tools: [{ type: 'shell' }] })
  assert.deepEqual(output[0]?.action, { commands: ['pwd'] })
})

test('shows a summary of its reasoning, and hides it without being asked', async () => {
  const include = ['reasoning.encrypted_content']
  const reasoning = { effort: 'low', summary: 'auto' }
  const events = await stream('', { reasoning, include })
  assert.deepEqual(order(events).slice(2, 9), [
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
  ])
  const [item] = events.at(-1)?.response?.output ?? []
  assert.equal(item?.summary?.[0]?.text, 'Simulated reasoning about the request. ')
  assert.match(item?.encrypted_content ?? '', /^gAAAAAB/)
  const silent = await ask('', { reasoning: { effort: 'low' } })
  assert.deepEqual(silent.output[0]?.summary, [])
  assert.equal(silent.output[0]?.encrypted_content, undefined)
  const details = silent.usage?.['output_tokens_details'] as { reasoning_tokens: number }
  assert.equal(details.reasoning_tokens, 5)
})

test('runs tools of its own and counts how often', async () => {
  const tools = [
    { type: 'web_search' },
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'mcp', server_label: 'simulated', server_url: 'https://sandbox.example' },
  ]
  const forced = await ask('', { tools, tool_choice: { type: 'code_interpreter' } })
  assert.deepEqual(
    forced.output.map(({ type }) => type),
    ['code_interpreter_call', 'message'],
  )
  const events = await stream('web_search=2; content=search,mcp,image_generation,cited', { tools })
  assert.deepEqual(
    events.at(-1)?.response?.output.map(({ type }) => type),
    ['web_search_call', 'web_search_call', 'mcp_call', 'image_generation_call', 'message'],
  )
  const names = order(events)
  assert.deepEqual(names.slice(3, 6), [
    'web_search_call.in_progress',
    'web_search_call.searching',
    'web_search_call.completed',
  ])
  assert.ok(names.includes('image_generation_call.partial_image'))
  assert.ok(names.includes('output_text.annotation.added'))
  const counted = events.at(-1)?.response?.tool_usage
  assert.deepEqual(counted?.web_search, { num_requests: 2 })
  assert.equal(counted.image_gen.output_tokens, 196)
  const usage = sandbox.log.records.at(-1)?.usage
  assert.deepEqual(usage?.hostedCalls, { web_search: 2, mcp: 1, image_generation: 1 })
  assert.equal(usage.counts.webSearch, 2)
})

test('ends incomplete at the limit on output tokens, and by a refusal', async () => {
  const cut = await stream('output=50', { max_output_tokens: 16 })
  const last = cut.at(-1)
  assert.equal(last?.type, 'response.incomplete')
  assert.deepEqual(last.response?.incomplete_details, { reason: 'max_output_tokens' })
  assert.equal(last.response?.output[0]?.status, 'incomplete')
  assert.equal(last.response?.usage?.['output_tokens'], 16)
  const refused = await ask('content=refusal')
  assert.match(refused.output[0]?.content?.[0]?.refusal ?? '', /declines/)
  const partial = await ask('refusal=partial')
  assert.deepEqual(partial.incomplete_details, { reason: 'content_filter' })
  const empty = await ask('refusal=empty')
  assert.deepEqual([empty.output, empty.usage?.['output_tokens']], [[], 0])
  assert.equal(sandbox.log.records.at(-1)?.kind, 'empty_refusal')
  const failed = (await stream('stop=failed; output=4')).at(-1)
  assert.equal(failed?.type, 'response.failed')
  assert.deepEqual(
    [failed.response?.status, failed.response?.usage?.['output_tokens']],
    ['failed', 4],
  )
})

test('sends logprobs on request', async () => {
  const include = ['message.output_text.logprobs']
  const { output } = await ask('output=3', { include })
  assert.equal(output[0]?.content?.[0]?.logprobs?.length, 3)
})

test('makes the vendor’s own checks', async () => {
  const refuse = async (body: object) => {
    const received = await sendToVendor(sandbox.url + path, { body })
    const { error } = JSON.parse(received.text) as {
      error?: { code: string | null; param: string | null }
    }
    return [received.status, error?.code, error?.param]
  }
  const model = 'chat-1'
  assert.deepEqual(await refuse({ input: 'x' }), [400, 'missing_required_parameter', 'model'])
  assert.deepEqual(await refuse({ model }), [400, 'missing_required_parameter', 'input'])
  assert.deepEqual(await refuse({ model, messages: [] }), [
    400,
    'unsupported_parameter',
    'messages',
  ])
  const input = 'x'
  assert.deepEqual(await refuse({ model, prompt: { id: 'pmpt_none' } }), [404, null, null])
  assert.deepEqual(await refuse({ model, input, max_output_tokens: 15 }), [
    400,
    'integer_below_min_value',
    'max_output_tokens',
  ])
  const options = { include_usage: true }
  assert.deepEqual(await refuse({ model, input, stream: true, stream_options: options }), [
    400,
    'unknown_parameter',
    'stream_options.include_usage',
  ])
  assert.deepEqual(await refuse({ model, input: [{ type: 'item_reference', id: 'msg_none' }] }), [
    404,
    null,
    'input',
  ])
})
