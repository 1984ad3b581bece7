/** Scripts: the calls of a whole task in turn, in every format, with functions and custom tools. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'
import { scriptDirective } from './script.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

const command = { name: 'shell', arguments: { command: ['bash', '-lc', 'cat a.txt; echo "]]"'] } }
const patch = { name: 'apply_patch', input: '*** Begin Patch\n*** Update File: a.txt\n+x; y\n' }
const list = [
  { name: 'shell', arguments: { command: ['ls'] } },
  { name: 'shell', arguments: { command: ['pwd'] } },
]
const text = `[[sandbox: ${scriptDirective([command, patch, list])}; output=1; piece=Done.]] Go on.`

async function post(path: string, body: object): Promise<unknown> {
  const received = await sendToVendor(sandbox.url + path, { body })
  assert.equal(received.status, 200, received.text)
  return JSON.parse(received.text)
}

const parse = (text = ''): unknown => JSON.parse(text)

interface Item {
  readonly type: string
  readonly name: string
  readonly call_id: string
  readonly arguments?: string
  readonly input?: string
  readonly content?: readonly { readonly text: string }[]
}

const parameters = { type: 'object', properties: {} }
const responsesTools = [
  { type: 'function', name: 'shell', parameters },
  { type: 'custom', name: 'apply_patch' },
]

/** Answers every call, and returns what the model called in each step, and its last words. */
async function runResponses(tools: readonly object[], hasState: boolean) {
  const steps: unknown[] = []
  const input: object[] = [{ role: 'user', content: text }]
  let sent = input
  let previous: string | undefined
  for (;;) {
    const state = previous === undefined ? {} : { previous_response_id: previous }
    const body = { model: 'chat-1', tools, input: sent, ...(hasState ? state : {}) }
    const answer = (await post('/beta-main/v1/responses', body)) as { id: string; output: Item[] }
    const calls = answer.output.filter(({ type }) => type !== 'message')
    if (calls.length === 0) return { steps, text: answer.output[0]?.content?.[0]?.text }
    steps.push(calls.map((call) => [call.name, call.input ?? parse(call.arguments)]))
    const results = calls.map(({ type, call_id }) => ({
      type: `${type}_output`,
      call_id,
      output: 'ok',
    }))
    // Agents tell the model in the user's name what happened.
    const note = { role: 'user', content: 'Warning: use the other tool.' }
    input.push(...answer.output, ...results, note)
    sent = hasState ? [...results, note] : [...input]
    previous = answer.id
  }
}

const expected = [
  [['shell', command.arguments]],
  [['apply_patch', patch.input]],
  list.map((call) => ['shell', call.arguments]),
]

test('plays a task through responses, with its context sent again or kept by the vendor', async () => {
  for (const hasState of [false, true]) {
    const played = await runResponses(responsesTools, hasState)
    assert.deepEqual(played, { steps: expected, text: 'Done.' })
  }
})

test('gives a function the text of a custom tool as its input', async () => {
  const tools = responsesTools.map(({ name }) => ({ type: 'function', name, parameters }))
  const { steps } = await runResponses(tools, false)
  assert.deepEqual(steps[1], [['apply_patch', { input: patch.input }]])
})

interface ChatMessage {
  readonly content: string | null
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function?: { readonly name: string; readonly arguments: string }
    readonly custom?: { readonly name: string; readonly input: string }
  }[]
}

test('plays a task through chat', async () => {
  const tools = [
    { type: 'function', function: { name: 'shell', parameters } },
    { type: 'custom', custom: { name: 'apply_patch' } },
  ]
  const messages: object[] = [{ role: 'user', content: text }]
  const steps: unknown[] = []
  for (;;) {
    const body = { model: 'chat-1', tools, messages }
    const answer = await post('/beta-main/v1/chat/completions', body)
    const { message } = (answer as { choices: [{ message: ChatMessage }] }).choices[0]
    if (message.tool_calls === undefined) {
      assert.equal(message.content, 'Done.')
      break
    }
    const calls = message.tool_calls.map((call) => [
      call.custom?.name ?? call.function?.name,
      call.custom?.input ?? parse(call.function?.arguments),
    ])
    steps.push(calls)
    const results = message.tool_calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'ok',
    }))
    messages.push(message, ...results)
  }
  assert.deepEqual(steps, expected)
})

test('plays a task through messages', async () => {
  const tools = ['shell', 'apply_patch'].map((name) => ({ name, input_schema: parameters }))
  const messages: object[] = [{ role: 'user', content: 'Go on.' }]
  sandbox.faults.set('alpha-main', `${scriptDirective([command, patch, list])}; output=1`)
  const steps: unknown[] = []
  for (;;) {
    const body = { model: 'large-1', max_tokens: 999, tools, messages }
    const { content } = (await post('/alpha-main/v1/messages', body)) as {
      content: { type: string; id: string; name: string; input: unknown }[]
    }
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) break
    steps.push(calls.map(({ name, input }) => [name, input]))
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
  assert.deepEqual(
    steps.map((step) => (step as unknown[]).length),
    [1, 1, 2],
  )
  assert.deepEqual((steps as unknown[][])[0]?.[0], ['shell', command.arguments])
})

test('refuses a script that is not one', async () => {
  const body = { model: 'chat-1', input: '[[sandbox: script=%5B1%5D]]' }
  const received = await sendToVendor(`${sandbox.url}/beta-main/v1/responses`, { body })
  assert.equal(received.status, 400)
  assert.match(received.text, /needs a list of calls/)
})
