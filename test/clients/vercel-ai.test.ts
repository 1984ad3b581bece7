/**
 * Vercel's AI SDK with its kinds of provider: the messages format, chat completions and responses of the
 * vendor's own package, and the generic chat one. Unlike the vendors' SDKs it knows no
 * `x-should-retry` and asks the gateway for usage only in one of its three.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateText,
  RetryError,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
} from 'ai'
import { z } from 'zod'
import { scriptDirective } from '../../sandbox/script.ts'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import { arrangeRefusal, refusalCases, type RefusalCase } from './support/refusals.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

interface Way {
  readonly name: string
  readonly vendor: 'alpha' | 'beta'
  readonly model: (caller: Caller, options?: { id?: string; apiKey?: string }) => LanguageModel
}

const ways: readonly Way[] = [
  {
    name: '@ai-sdk/anthropic',
    vendor: 'alpha',
    // This package needs the version in its base address.
    model: (caller, { id = 'large-1', apiKey = caller.key } = {}) =>
      createAnthropic({ baseURL: `${rig.messagesUrl}/v1`, apiKey, headers: caller.headers })(id),
  },
  {
    name: '@ai-sdk/openai .chat()',
    vendor: 'beta',
    model: (caller, { id = 'chat-1', apiKey = caller.key } = {}) =>
      createOpenAI({ baseURL: rig.chatUrl, apiKey, headers: caller.headers }).chat(id),
  },
  {
    // The default of the package: responses.
    name: '@ai-sdk/openai',
    vendor: 'beta',
    model: (caller, { id = 'chat-1', apiKey = caller.key } = {}) =>
      createOpenAI({ baseURL: rig.chatUrl, apiKey, headers: caller.headers })(id),
  },
  {
    name: '@ai-sdk/openai-compatible',
    vendor: 'beta',
    model: (caller, { id = 'chat-1', apiKey = caller.key } = {}) =>
      createOpenAICompatible({
        name: 'turnpike',
        baseURL: rig.chatUrl,
        apiKey,
        headers: caller.headers,
      }).chatModel(id),
  },
]

const told = (directives: string) => ({ headers: { 'x-sandbox': directives } })

const weather = (places: string[]) =>
  tool({
    description: 'The weather of a place.',
    inputSchema: z.object({ place: z.string() }),
    execute({ place }) {
      places.push(place)
      return 'Sunny.'
    },
  })

async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(promise).then(
    () => assert.fail('The call was answered.'),
    (reason: unknown) => reason,
  )
}

for (const { name, vendor, model } of ways)
  describe(name, () => {
    test('gets an answer and its usage', async () => {
      const caller = await rig.caller()
      const answer = await generateText({
        model: model(caller),
        prompt: 'Good morning',
        maxOutputTokens: 200,
      })
      assert.match(answer.text, /simulated.*Good morning/s)
      assert.equal(answer.finishReason, 'stop')
      const counts = rig.served(caller)[0]?.usage?.counts
      assert.equal(answer.usage.inputTokens, counts?.input)
      assert.equal(answer.usage.outputTokens, counts?.output)
      await rig.assertChargedAsServed(caller)
    })

    test('streams text to its end', async () => {
      const caller = await rig.caller()
      const stream = streamText({ model: model(caller), prompt: 'Stream', maxOutputTokens: 200 })
      let text = ''
      for await (const piece of stream.textStream) text += piece
      assert.match(text, /simulated.*Stream/s)
      assert.equal(await stream.finishReason, 'stop')
      await rig.assertChargedAsServed(caller)
    })

    for (const isStream of [false, true])
      test(`handles a tool call (${isStream ? 'streamed' : 'whole'})`, async () => {
        const caller = await rig.caller()
        const places: string[] = []
        const request = {
          model: model(caller),
          prompt: 'Use the weather tool.',
          maxOutputTokens: 200,
          tools: { weather: weather(places) },
          stopWhen: stepCountIs(3),
        }
        const text = isStream ? await streamText(request).text : (await generateText(request)).text
        assert.match(text, /simulated/)
        assert.equal(places.length, 1)
        assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
      })

    for (const refusal of refusalCases.filter(hasMaxTokens))
      test(`${refusal.name}: an APICallError with status ${refusal.status}`, async () => {
        const arranged = await arrangeRefusal(rig, refusal, vendor)
        const { caller, secret, content } = arranged
        const error = await failureOf(
          generateText({
            model: model(caller, { id: arranged.model, apiKey: secret }),
            prompt: content,
            maxOutputTokens: 200,
            maxRetries: 0,
          }),
        )
        assert.ok(APICallError.isInstance(error), String(error))
        assert.equal(error.statusCode, refusal.status)
        assert.match(error.message, refusal.says)
        await rig.assertUntouched(caller)
      })

    test('an exhausted balance is one attempt', async () => {
      const caller = await rig.caller({ balance_usd: '0.0001' })
      const call = generateText({ model: model(caller), prompt: 'x', maxOutputTokens: 200 })
      assert.ok(APICallError.isInstance(await failureOf(call)))
      assert.equal(rig.attempts(caller).length, 1)
    })

    test('waits at the rate limit, then gets its answer', async () => {
      const caller = await rig.caller({ rpm: 1 })
      const request = { model: model(caller), prompt: 'x', maxOutputTokens: 200 }
      await generateText(request)
      rig.clock.advance(59_500)
      rig.advanceOn(429, 500)
      await generateText(request)
      const [, refused, served] = rig.attempts(caller)
      assert.deepEqual([refused?.status, served?.status], [429, 200])
      assert.ok((served?.atMs ?? 0) - (refused?.atMs ?? 0) >= 950)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    test('reports a cut in the middle of a stream, and nothing is charged', async () => {
      const caller = await rig.caller()
      const errors: unknown[] = []
      const stream = streamText({
        model: model(caller, { id: `lone-${vendor}-1` }),
        prompt: 'Cut',
        maxOutputTokens: 200,
        ...told('cut_event=6'),
        onError: ({ error }) => void errors.push(error),
      })
      await stream.consumeStream()
      assert.match(JSON.stringify(errors, errorText), /broke off/)
      await rig.assertNotCharged(caller)
    })

    test('a reserve answers for a main channel that is overloaded, unnoticed', async () => {
      const caller = await rig.caller()
      const guarded = model(caller, { id: `guarded-${vendor}-0` })
      const request = { model: guarded, prompt: 'Still there?', maxOutputTokens: 200 }
      assert.match((await generateText({ ...request, maxRetries: 0 })).text, /Still there/)
      const channels = rig.served(caller).map(({ channel }) => channel)
      assert.equal(channels.at(-1), `${vendor}-guard-0`)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 1)
    })
  })

/** The SDK itself sends the field. */
function hasMaxTokens({ lacksMaxTokens }: RefusalCase): boolean {
  return lacksMaxTokens !== true
}

/** Errors have no members that JSON would show. */
function errorText(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value
}

test('messages: thinking arrives as reasoning', async () => {
  const caller = await rig.caller()
  const { reasoningText, text } = await generateText({
    model: (ways[0] as Way).model(caller),
    prompt: 'Think',
    maxOutputTokens: 200,
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
  })
  assert.match(reasoningText ?? '', /Simulated thinking/)
  assert.match(text, /simulated/)
  await rig.assertChargedAsServed(caller)
})

test('a base address without its /v1 works as well', async () => {
  const caller = await rig.caller()
  const anthropic = createAnthropic({ baseURL: rig.messagesUrl, apiKey: caller.key })
  const { text } = await generateText({
    model: anthropic('large-1'),
    prompt: 'x',
    headers: caller.headers,
  })
  assert.match(text, /^\[simulated\]/)
  await rig.assertChargedAsServed(caller)
})

test('this SDK retries at the daily limit, because it ignores x-should-retry', async () => {
  const caller = await rig.caller({ daily_usd: '0.0001' })
  const model = (ways[0] as Way).model(caller)
  const error = await failureOf(generateText({ model, prompt: 'x', maxRetries: 1 }))
  assert.ok(RetryError.isInstance(error))
  assert.match(error.message, /daily limit/)
  assert.equal(rig.attempts(caller).length, 2)
  await rig.assertUntouched(caller)
})

/** Of a request to the responses endpoint. */
interface SentItem {
  readonly type?: string
  readonly id?: string
}

test('responses: a loop with tools refers to stored items on the channel that has them', async () => {
  const caller = await rig.caller()
  const places: string[] = []
  const model = createOpenAI({
    baseURL: rig.chatUrl,
    apiKey: caller.key,
    headers: caller.headers,
  })('chat-1')
  const named = ['Oslo', 'Lima', 'Rome']
  const calls = named.map((place) => ({ name: 'weather', arguments: { place } }))
  const question = { role: 'user' as const, content: 'Three places' }
  const settings = {
    model,
    maxOutputTokens: 2_000,
    tools: { weather: weather(places) },
    stopWhen: stepCountIs(5),
    // The SDK refers to stored reasoning by its id.
    providerOptions: { openai: { forceReasoning: true, reasoningEffort: 'low' } },
  }
  const looped = await generateText({
    ...settings,
    messages: [question],
    headers: { 'x-sandbox': scriptDirective(calls) },
  })
  assert.deepEqual(places, named)
  const followUp = { role: 'user' as const, content: 'And tomorrow?' }
  const messages = [question, ...looped.response.messages, followUp]
  assert.match((await generateText({ ...settings, messages })).text, /tomorrow/)

  const served = rig.served(caller)
  assert.equal(served.length, 5)
  assert.equal(new Set(served.map(({ channel }) => channel)).size, 1)
  const references = served.map((record) => {
    const { input } = JSON.parse(String(record.requestBody)) as { input: readonly SentItem[] }
    return input.filter(({ type }) => type === 'item_reference').length
  })
  assert.ok(references.at(-1) !== 0, String(references))
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 5)

  const other = await rig.caller()
  const foreign = createOpenAI({ baseURL: rig.chatUrl, apiKey: other.key, headers: other.headers })
  const error = await failureOf(
    generateText({ ...settings, messages, model: foreign('chat-1'), maxRetries: 0 }),
  )
  assert.ok(APICallError.isInstance(error))
  assert.equal(error.statusCode, 404)
  await rig.assertUntouched(other)
})
