/** Completions as a client receives them: whole and streamed, all forms of prompt, exact counts. */
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

interface Completion {
  readonly object: string
  readonly choices: readonly {
    readonly text: string
    readonly index: number
    readonly finish_reason: string | null
  }[]
  readonly usage?: Readonly<Record<string, unknown>> | null
}

const url = () => `${sandbox.url}/beta-main/v1/completions`

function body(directives: string, more: object) {
  return {
    model: 'chat-1',
    prompt: `once upon [[sandbox: ${directives}]]`,
    max_tokens: 100,
    ...more,
  }
}

async function ask(directives: string, more: object = {}): Promise<Completion> {
  const received = await sendToVendor(url(), { body: body(directives, more) })
  assert.equal(received.status, 200, received.text)
  return JSON.parse(received.text) as Completion
}

async function stream(directives: string, more: object = {}): Promise<readonly Completion[]> {
  const received = await sendToVendor(url(), { body: body(directives, { stream: true, ...more }) })
  assert.equal(received.status, 200, received.text)
  assert.ok(received.text.endsWith('data: [DONE]\n\n'))
  return eventData(received.text) as readonly Completion[]
}

test('answers whole and in chunks', async () => {
  const whole = await ask('')
  assert.equal(whole.object, 'text_completion')
  assert.match(whole.choices[0]?.text ?? '', /^\[simulated\]/)
  assert.equal(whole.choices[0]?.finish_reason, 'stop')
  const chunks = await stream('')
  const text = chunks.map(({ choices }) => choices[0]?.text).join('')
  assert.match(text, /^\[simulated\]/)
  assert.ok(chunks.every((chunk) => !('usage' in chunk)))
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
})

test('sends usage in a chunk of its own, and only on request', async () => {
  const chunks = await stream('output=5', { stream_options: { include_usage: true } })
  assert.deepEqual(chunks.at(-1)?.choices, [])
  assert.equal(chunks.at(-1)?.usage?.['completion_tokens'], 5)
  assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null))
})

test('counts prompts and choices, also those that it does not return', async () => {
  assert.deepEqual((await ask('output=3', { prompt: [1, 2, 3, 4] })).usage?.['prompt_tokens'], 4)
  const two = await ask('', {
    prompt: ['abcd', 'efgh [[sandbox: output=3]]'],
    n: 2,
    best_of: 3,
  })
  assert.deepEqual(
    two.choices.map(({ index }) => index),
    [0, 1, 2, 3],
  )
  assert.equal(two.usage?.['completion_tokens'], 18)
  const cached = await ask('input=10; cached=4; output=2')
  assert.deepEqual(cached.usage?.['prompt_tokens'], 14)
  assert.equal(sandbox.log.records.at(-1)?.usage?.counts.cacheRead, 4)
})

test('repeats the prompt on request, and ends at the limit', async () => {
  const echoed = await ask('output=2; piece=x', { echo: true, suffix: 'the end' })
  assert.equal(echoed.choices[0]?.text, 'once upon [[sandbox: output=2; piece=x]]xx')
  assert.equal(echoed.usage?.['completion_tokens'], 2)
  const short = await ask('output=50', { max_tokens: undefined })
  assert.deepEqual(
    [short.choices[0]?.finish_reason, short.usage?.['completion_tokens']],
    ['length', 16],
  )
})

test('makes the vendor’s own checks', async () => {
  const status = async (more: object) =>
    (await sendToVendor(url(), { body: body('', more) })).status
  assert.equal(await status({ n: 3, best_of: 2 }), 400)
  assert.equal(await status({ best_of: 2, stream: true }), 400)
  assert.equal(await status({ stream_options: { include_usage: true } }), 400)
  assert.equal(await status({ prompt: { a: 1 } }), 400)
  assert.equal(await status({ model: undefined }), 400)
})
