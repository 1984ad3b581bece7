/**
 * The official JavaScript SDK of the messages format, in the two generations that are in use. The
 * tests are typed by the newer one; the older has every call that is made here.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as newest from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import * as older from 'anthropic-sdk-0'
import { z } from 'zod'
import { guardedFaults } from './support/catalogue.ts'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import {
  arrangeRefusal,
  finalRefusals,
  refusalCases,
  type RefusalCase,
} from './support/refusals.ts'

type Sdk = typeof newest
type Client = InstanceType<Sdk['default']>

interface AnthropicGeneration {
  readonly name: string
  readonly sdk: Sdk
  /** How this generation presents its key. */
  readonly credentialHeader: 'authorization' | 'x-api-key'
  readonly version: string
  /** The class of each status in this generation; the older one has fewer. */
  readonly errorClasses: Readonly<Record<RefusalCase['status'], keyof Sdk>>
}

interface MessagesErrorBody {
  readonly error: { readonly type: string; readonly message: string }
  readonly request_id: string
}

const messagesOf = (content: string) => ({ messages: [{ role: 'user' as const, content }] })
const prompt = (content: string) => ({ model: 'large-1', max_tokens: 200, ...messagesOf(content) })

const weatherTool = {
  name: 'weather',
  description: 'The weather of a place.',
  input_schema: {
    type: 'object' as const,
    properties: { place: { type: 'string' } },
    required: ['place'],
  },
}

const recipe = z.object({
  title: z.string(),
  kind: z.enum(['soup', 'bread']),
  steps: z.array(z.object({ text: z.string(), minutes: z.int() })),
})

/** What both generations have in common. */
const commonClasses = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  429: 'RateLimitError',
} as const

function describeAnthropicSdk(generation: AnthropicGeneration): void {
  const { sdk } = generation
  let rig: ClientRig

  function connect(caller: Caller, options: { apiKey?: string; maxRetries?: number } = {}): Client {
    return new sdk.default({
      baseURL: rig.messagesUrl,
      apiKey: caller.key,
      defaultHeaders: caller.headers,
      ...options,
    })
  }

  /** Directives to the vendors for one attempt. */
  const told = (directives: string) => ({ headers: { 'x-sandbox': directives } })

  describe(generation.name, () => {
    before(async () => {
      rig = await startClientRig()
    })
    after(() => rig.close())

    test('gets an answer, its usage and its request id', async () => {
      const caller = await rig.caller()
      const message = await connect(caller).messages.create(prompt('Good morning'))
      assert.equal(message.role, 'assistant')
      assert.equal(message.stop_reason, 'end_turn')
      assert.match(textOf(message), /simulated.*Good morning/s)
      const [record] = rig.served(caller)
      assert.equal(message.usage.input_tokens, record?.usage?.counts.input)
      assert.equal(message.usage.output_tokens, record?.usage?.counts.output)
      assert.match(message._request_id ?? '', /^req_/)
      await rig.assertChargedAsServed(caller)
    })

    test('sends key and version in its own headers; the vendor gets its own key', async () => {
      const caller = await rig.caller()
      const { response } = await connect(caller).messages.create(prompt('Hi')).withResponse()
      assert.match(response.headers.get('x-turnpike-request-id') ?? '', /^ex_/)
      const [attempt] = rig.attempts(caller)
      assert.ok(String(attempt?.headers[generation.credentialHeader]).endsWith(caller.key))
      assert.equal(attempt?.headers['anthropic-version'], generation.version)
      const [record] = rig.served(caller)
      const headers = record?.rawHeaders ?? []
      assert.equal(headers[headers.indexOf('anthropic-version') + 1], generation.version)
      assert.deepEqual(record?.credential, { header: 'x-api-key', head: 'sandbox…' })
      assert.ok(!headers.join('\n').includes(caller.key.slice(0, 10)))
    })

    test('gets structured output', async () => {
      const caller = await rig.caller()
      const format = zodOutputFormat(recipe)
      const params = { ...prompt('A recipe'), output_config: { format } }
      const message = await connect(caller).messages.parse(params)
      assert.equal(message.parsed_output?.kind, 'soup')
      assert.equal(message.stop_reason, 'end_turn')
      await rig.assertChargedAsServed(caller)
    })

    test('streams raw events from message_start to message_stop', async () => {
      const caller = await rig.caller()
      const stream = await connect(caller).messages.create({ ...prompt('Raw'), stream: true })
      const types: string[] = []
      let text = ''
      for await (const event of stream) {
        types.push(event.type)
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          text += event.delta.text
      }
      assert.equal(types[0], 'message_start')
      assert.equal(types.at(-1), 'message_stop')
      assert.match(text, /Raw/)
      await rig.assertChargedAsServed(caller)
    })

    test('its streaming helper collects the whole message', async () => {
      const caller = await rig.caller()
      const stream = connect(caller).messages.stream(prompt('Helper'))
      let text = ''
      stream.on('text', (piece) => (text += piece))
      const message = await stream.finalMessage()
      assert.equal(text, textOf(message))
      assert.equal(message.usage.output_tokens, rig.served(caller)[0]?.usage?.counts.output)
      assert.match(stream.request_id ?? '', /^req_/)
      await rig.assertChargedAsServed(caller)
    })

    for (const isStream of [false, true]) {
      const way = isStream ? 'streamed' : 'whole'
      const ask = (client: Client, params: newest.Anthropic.MessageCreateParamsNonStreaming) =>
        isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params)

      test(`a tool call and its result pass in both directions (${way})`, async () => {
        const caller = await rig.caller()
        const client = connect(caller)
        const first = { ...prompt('Call the weather tool.'), tools: [weatherTool] }
        const asked = await ask(client, first)
        assert.equal(asked.stop_reason, 'tool_use')
        const call = asked.content.find((block) => block.type === 'tool_use')
        assert.ok(call !== undefined)
        assert.equal(call.name, 'weather')
        assert.equal(typeof (call.input as { place?: unknown }).place, 'string')
        const answered = await ask(client, {
          ...first,
          messages: [
            ...first.messages,
            { role: 'assistant', content: asked.content },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Sunny.' }],
            },
          ],
        })
        assert.equal(answered.stop_reason, 'end_turn')
        assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
      })

      test(`thinking arrives with its signature and can be sent back (${way})`, async () => {
        const caller = await rig.caller()
        const client = connect(caller)
        const first = {
          ...prompt('Think first.'),
          max_tokens: 2_000,
          thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
        }
        const thought = await ask(client, first)
        const [block] = thought.content
        assert.ok(block?.type === 'thinking')
        assert.match(block.thinking, /Simulated thinking/)
        assert.ok(block.signature.length > 0)
        const messages = [
          ...first.messages,
          { role: 'assistant' as const, content: thought.content },
          { role: 'user' as const, content: 'Go on.' },
        ]
        await ask(client, { ...first, messages })
        const sent = JSON.parse(String(rig.served(caller)[1]?.requestBody)) as typeof first
        assert.deepEqual(sent.messages, JSON.parse(JSON.stringify(messages)))
        await rig.assertChargedAsServed(caller)
      })

      test(`a refusal is an answer; charged only after some output (${way})`, async () => {
        const caller = await rig.caller()
        const client = (directives: string) =>
          new sdk.default({
            baseURL: rig.messagesUrl,
            apiKey: caller.key,
            defaultHeaders: { ...caller.headers, 'x-sandbox': directives },
          })
        const empty = await ask(client('refusal=empty'), prompt('Do it'))
        assert.equal(empty.stop_reason, 'refusal')
        await rig.assertNotCharged(caller)
        const partial = await ask(client('refusal=partial'), prompt('Do it'))
        assert.equal(partial.stop_reason, 'refusal')
        assert.ok(textOf(partial).length > 0)
        assert.equal((await rig.figures(caller)).requests, 1)
      })
    }

    test('the tool runner of the SDK handles a tool call by itself', async () => {
      const caller = await rig.caller()
      const places: unknown[] = []
      const runner = connect(caller).beta.messages.toolRunner({
        ...prompt('Use the weather tool.'),
        tools: [
          {
            ...weatherTool,
            parse: (input: unknown) => input,
            run(input: unknown) {
              places.push(input)
              return 'Sunny.'
            },
          },
        ],
      })
      const message = await runner.runUntilDone()
      assert.equal(message.stop_reason, 'end_turn')
      assert.equal(places.length, 1)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    test('cache reads and writes of both lifetimes are visible and charged', async () => {
      const caller = await rig.caller()
      const message = await connect(caller).messages.create(
        prompt('Cached'),
        told('cached=1000; cache_write_5m=300; cache_write_1h=20'),
      )
      assert.equal(message.usage.cache_read_input_tokens, 1_000)
      assert.equal(message.usage.cache_creation_input_tokens, 320)
      assert.equal((await rig.assertChargedAsServed(caller)).cache_tokens, 1_320)
    })

    test('lists the models page by page, finds one, counts tokens, all for free', async () => {
      const caller = await rig.caller()
      const client = connect(caller)
      const ids: string[] = []
      for await (const model of client.models.list({ limit: 1000 })) ids.push(model.id)
      assert.ok(ids.includes('large-1') && ids.includes('small-1') && !ids.includes('chat-1'))
      const model = await client.models.retrieve('large-1')
      assert.equal(model.type, 'model')
      await assert.rejects(client.models.retrieve('no-such-model'), sdk.NotFoundError)
      const { max_tokens: _, ...countable } = prompt('How long is this?')
      const counted = await client.messages.countTokens(countable)
      assert.ok(counted.input_tokens > 0)
      await rig.assertNotCharged(caller)
    })

    describe('raises our errors as its own classes', () => {
      async function failureOf(promise: PromiseLike<unknown>) {
        const error = await Promise.resolve(promise).then(
          () => assert.fail('The call was answered.'),
          (reason: unknown) => reason,
        )
        assert.ok(error instanceof sdk.APIError, String(error))
        return error
      }

      /** Provokes one refusal; the SDK retries only with retries enabled. */
      async function provoke(refusal: RefusalCase, options: { maxRetries?: number } = {}) {
        const arranged = await arrangeRefusal(rig, refusal, 'alpha')
        const { caller, secret, model, content, maxTokens } = arranged
        const params = { model, max_tokens: maxTokens, ...messagesOf(content) }
        const client = connect(caller, { apiKey: secret, ...options })
        // A test may leave out what the types require.
        const error = await failureOf(client.messages.create(params as ReturnType<typeof prompt>))
        return { caller, error }
      }

      for (const refusal of refusalCases) {
        const className = generation.errorClasses[refusal.status]
        test(`${refusal.name}: ${refusal.status}, a ${className}`, async () => {
          const { caller, error } = await provoke(refusal, { maxRetries: 0 })
          assert.equal(error.constructor, sdk[className])
          assert.equal(error.status, refusal.status)
          const body = error.error as MessagesErrorBody
          assert.equal(body.error.type, refusal.messagesType)
          assert.match(body.error.message, refusal.says)
          // The SDK prints the whole body.
          assert.deepEqual(JSON.parse(error.message.slice(4)), body)
          assert.match(error.requestID ?? '', /^ex_/)
          assert.equal(body.request_id, error.requestID)
          await rig.assertUntouched(caller)
        })
      }

      for (const refusal of finalRefusals)
        test(`${refusal.name} is one attempt, though the SDK would make three`, async () => {
          const { caller, error } = await provoke(refusal)
          assert.equal(error.status, refusal.status)
          assert.equal(rig.attempts(caller).length, 1)
        })

      test('the 404 for an unknown endpoint names the existing ones', async () => {
        const caller = await rig.caller()
        const error = await failureOf(connect(caller).messages.batches.list())
        assert.equal(error.constructor, sdk.NotFoundError)
        assert.match(error.message, /\/v1\/messages/)
      })

      test('a base address with /v1 works too', async () => {
        const caller = await rig.caller()
        const client = new sdk.default({ baseURL: `${rig.messagesUrl}/v1`, apiKey: caller.key })
        const answer = await client.messages.create(prompt('x'))
        assert.equal(answer.type, 'message')
      })

      test('waits for retry-after at the rate limit, then gets its answer', async () => {
        const caller = await rig.caller({ rpm: 1 })
        const client = connect(caller)
        await client.messages.create(prompt('first'))
        rig.clock.advance(59_500)
        rig.advanceOn(429, 500)
        await client.messages.create(prompt('second'))
        const [, refused, served] = rig.attempts(caller)
        assert.deepEqual([refused?.status, served?.status], [429, 200])
        // The SDK's own back-off would be half a second at most.
        assert.ok((served?.atMs ?? 0) - (refused?.atMs ?? 0) >= 950)
        assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
      })

      test("a vendor's own 400 keeps the vendor's message", async () => {
        const caller = await rig.caller()
        const call = connect(caller).messages.create(prompt('x'), told('error=400_context'))
        const error = await failureOf(call)
        assert.equal(error.constructor, sdk.BadRequestError)
        assert.match(error.message, /prompt is too long: 210000 tokens > 200000 maximum/)
        assert.match(error.requestID ?? '', /^req_/)
        assert.equal(rig.attempts(caller).length, 1)
        await rig.assertNotCharged(caller)
      })
    })

    describe('when a vendor fails', () => {
      const lone = (content: string) => ({ ...prompt(content), model: 'lone-alpha-1' })

      test('raises a cut in the middle of a stream, and nothing is charged', async () => {
        const caller = await rig.caller()
        const stream = await connect(caller).messages.create(
          { ...lone('Cut'), stream: true },
          told('cut_event=6'),
        )
        let count = 0
        await assert.rejects(async () => {
          for await (const _ of stream) count++
        }, sdk.APIError)
        assert.ok(count > 0)
        assert.equal(rig.attempts(caller).length, 1)
        await rig.assertNotCharged(caller)
      })

      test('the streaming helper raises a cut too', async () => {
        const caller = await rig.caller()
        const stream = connect(caller).messages.stream(lone('Cut'), told('cut_event=6'))
        await assert.rejects(stream.finalMessage(), /broke off/)
        await rig.assertNotCharged(caller)
      })

      test("an error event in the middle of a stream is raised as the vendor's", async () => {
        const caller = await rig.caller()
        const stream = await connect(caller).messages.create(
          { ...lone('Error'), stream: true },
          told('error_at=6; event_error=529'),
        )
        await assert.rejects(
          async () => {
            for await (const _ of stream);
          },
          (error) =>
            error instanceof sdk.APIError && /overloaded_error.*Overloaded/s.test(error.message),
        )
        await rig.assertNotCharged(caller)
      })

      test('an error as the first event has the status of its type', async () => {
        const caller = await rig.caller()
        const client = connect(caller, { maxRetries: 0 })
        const call = client.messages.create({ ...lone('x'), stream: true }, told('error_first=529'))
        await assert.rejects(Promise.resolve(call), sdk.InternalServerError)
        await rig.assertNotCharged(caller)
      })

      for (const [index, fault] of guardedFaults.entries())
        test(`a reserve answers for a main channel with ${fault}, unnoticed`, async () => {
          const caller = await rig.caller()
          const guarded = { ...prompt('Still there?'), model: `guarded-alpha-${index}` }
          const client = connect(caller, { maxRetries: 0 })
          const streamed = await client.messages.stream(guarded).finalMessage()
          assert.match(textOf(streamed), /Still there/)
          assert.match(textOf(await client.messages.create(guarded)), /Still there/)
          rig.assertFailedOver(caller, { vendor: 'alpha', index, answers: 2 })
          assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
        })
    })

    test('charges the prompt and the delivered output when the client leaves a stream', async () => {
      const caller = await rig.caller()
      const charged = rig.nextCharge()
      const stream = await connect(caller).messages.create(
        { ...prompt('A long story'), max_tokens: 4_000, stream: true },
        told('output=3000; stall_event=20'),
      )
      for await (const event of stream) if (event.type === 'content_block_delta') break
      await charged
      const figures = await rig.figures(caller)
      assert.equal(figures.requests, 1)
      assert.equal(figures.input_tokens, rig.served(caller)[0]?.usage?.counts.input)
      assert.ok(figures.output_tokens >= 1 && figures.output_tokens < 100)
      const cost = (figures.input_tokens * 3 + figures.output_tokens * 15) / 1e6
      assert.equal(figures.cost_usd, Number(cost.toFixed(12)))
    })
  })
}

function textOf(message: { readonly content: readonly { readonly type: string }[] }): string {
  return message.content
    .map((block) => ('text' in block && typeof block.text === 'string' ? block.text : ''))
    .join('')
}

describeAnthropicSdk({
  name: '@anthropic-ai/sdk 1.x',
  sdk: newest,
  credentialHeader: 'authorization',
  version: '2026-10-21',
  errorClasses: {
    ...commonClasses,
    402: 'PaymentRequiredError',
    413: 'ContentTooLargeError',
    503: 'ServiceUnavailableError',
  },
})

describeAnthropicSdk({
  name: '@anthropic-ai/sdk 0.x',
  sdk: older as unknown as typeof newest,
  credentialHeader: 'x-api-key',
  version: '2023-06-01',
  errorClasses: { ...commonClasses, 402: 'APIError', 413: 'APIError', 503: 'InternalServerError' },
})
