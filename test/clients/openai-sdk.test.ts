import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  type ClientOptions,
} from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { guardedFaults } from './support/catalogue.ts'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import {
  arrangeRefusal,
  finalRefusals,
  refusalCases,
  type RefusalCase,
} from './support/refusals.ts'

let rig: ClientRig
before(async () => {
  rig = await startClientRig()
})
after(() => rig.close())

function connect(caller: Caller, options: ClientOptions = {}): OpenAI {
  return new OpenAI({
    baseURL: rig.chatUrl,
    apiKey: caller.key,
    defaultHeaders: caller.headers,
    ...options,
  })
}

/** Directives to the vendors for one attempt. */
const told = (directives: string) => ({ headers: { 'x-sandbox': directives } })

const messagesOf = (content: string) => ({ messages: [{ role: 'user' as const, content }] })
const prompt = (content: string) => ({ model: 'chat-1', max_tokens: 200, ...messagesOf(content) })

const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a place.',
    parameters: {
      type: 'object',
      properties: { place: { type: 'string' } },
      required: ['place'],
    },
  },
}

test('gets an answer, its usage and its request id', async () => {
  const caller = await rig.caller()
  const completion = await connect(caller).chat.completions.create(prompt('Good morning'))
  const [choice] = completion.choices
  assert.equal(choice?.finish_reason, 'stop')
  assert.match(choice.message.content ?? '', /simulated.*Good morning/s)
  const [record] = rig.served(caller)
  assert.equal(completion.usage?.prompt_tokens, record?.usage?.counts.input)
  assert.equal(completion.usage?.completion_tokens, record?.usage?.counts.output)
  assert.match(completion._request_id ?? '', /^req_/)
  await rig.assertChargedAsServed(caller)
})

test('accepts max_completion_tokens in place of max_tokens', async () => {
  const caller = await rig.caller()
  const { max_tokens, ...rest } = prompt('New name')
  const params = { ...rest, max_completion_tokens: max_tokens }
  const completion = await connect(caller).chat.completions.create(params)
  assert.equal(completion.choices.length, 1)
  await rig.assertChargedAsServed(caller)
})

const recipe = z.object({
  title: z.string(),
  minutes: z.int().min(5).max(90),
  kind: z.enum(['soup', 'bread']),
  steps: z.array(z.object({ text: z.string(), tool: z.string().nullable() })),
})

test('gets structured output, without a limit of its own', async () => {
  const caller = await rig.caller()
  const params = { model: 'open-1', ...messagesOf('A recipe') }
  const format = zodResponseFormat(recipe, 'recipe')
  const { chat } = connect(caller, { baseURL: rig.chatUrl.replace('/beta/', '/open/') })
  const parsed = await chat.completions.parse({ ...params, response_format: format })
  assert.equal(parsed.choices[0]?.message.parsed?.kind, 'soup')
  const stream = chat.completions.stream({ ...params, response_format: format, stream: true })
  const streamed = (await stream.finalChatCompletion()).choices[0]?.message.parsed
  assert.deepEqual(streamed, parsed.choices[0]?.message.parsed)
  const any = { type: 'json_object' as const }
  const plain = await chat.completions.create({ ...params, response_format: any })
  assert.equal(typeof JSON.parse(plain.choices[0]?.message.content ?? ''), 'object')
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 3)
})

test('two choices cost one prompt and both outputs', async () => {
  const caller = await rig.caller()
  const completion = await connect(caller).chat.completions.create({ ...prompt('Twice'), n: 2 })
  assert.equal(completion.choices.length, 2)
  await rig.assertChargedAsServed(caller)
})

describe('streams', () => {
  test('raw chunks end; the usage chunk that the gateway asks for is removed', async () => {
    const caller = await rig.caller()
    const stream = await connect(caller).chat.completions.create({ ...prompt('Raw'), stream: true })
    let text = ''
    for await (const chunk of stream) {
      assert.equal(chunk.choices.length, 1)
      text += chunk.choices[0]?.delta.content ?? ''
    }
    assert.match(text, /Raw/)
    await rig.assertChargedAsServed(caller)
  })

  test('a client that asks for usage gets its chunk', async () => {
    const caller = await rig.caller()
    const stream = await connect(caller).chat.completions.create({
      ...prompt('Raw'),
      stream: true,
      stream_options: { include_usage: true },
    })
    const usages = []
    for await (const chunk of stream)
      if (chunk.usage !== undefined && chunk.usage !== null) usages.push(chunk.usage)
    assert.equal(usages.length, 1)
    assert.equal(usages[0]?.completion_tokens, rig.served(caller)[0]?.usage?.counts.output)
    await rig.assertChargedAsServed(caller)
  })

  test('the streaming helper collects the whole completion', async () => {
    const caller = await rig.caller()
    const stream = connect(caller).chat.completions.stream(prompt('Helper'))
    let text = ''
    stream.on('content', (piece) => (text += piece))
    const completion = await stream.finalChatCompletion()
    assert.equal(text, completion.choices[0]?.message.content)
    assert.match(text, /Helper/)
    await rig.assertChargedAsServed(caller)
  })
})

for (const isStream of [false, true]) {
  const way = isStream ? 'streamed' : 'whole'
  const ask = (
    client: OpenAI,
    params: OpenAI.ChatCompletionCreateParamsNonStreaming,
    options: OpenAI.RequestOptions = {},
  ) =>
    isStream
      ? client.chat.completions.stream({ ...params, stream: true }, options).finalChatCompletion()
      : client.chat.completions.create(params, options)

  test(`a tool call and its result pass in both directions (${way})`, async () => {
    const caller = await rig.caller()
    const client = connect(caller)
    const first = { ...prompt('Call the weather tool.'), tools: [weatherTool] }
    const asked = await ask(client, first)
    assert.equal(asked.choices[0]?.finish_reason, 'tool_calls')
    const { message } = asked.choices[0]
    const call = message.tool_calls?.[0]
    assert.ok(call?.type === 'function')
    assert.equal(call.function.name, 'weather')
    assert.match(call.function.arguments, /^\{"place":".*"\}$/)
    const answered = await ask(client, {
      ...first,
      messages: [
        ...first.messages,
        message,
        { role: 'tool', tool_call_id: call.id, content: 'Sunny.' },
      ],
    })
    assert.equal(answered.choices[0]?.finish_reason, 'stop')
    assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
  })

  test(`hidden reasoning and cached tokens are visible and charged (${way})`, async () => {
    const caller = await rig.caller()
    const params = isStream
      ? { ...prompt('Think'), stream_options: { include_usage: true } }
      : prompt('Think')
    const completion = await ask(connect(caller), params, told('reasoning=30; cached=500'))
    assert.equal(completion.usage?.completion_tokens_details?.reasoning_tokens, 30)
    assert.equal(completion.usage?.prompt_tokens_details?.cached_tokens, 500)
    assert.equal((await rig.assertChargedAsServed(caller)).cache_tokens, 500)
  })

  test(`a refusal in words is a normal answer (${way})`, async () => {
    const caller = await rig.caller()
    const completion = await ask(connect(caller), prompt('Do it'), told('content=refusal'))
    assert.match(completion.choices[0]?.message.refusal ?? '', /declines/)
    assert.equal((await rig.assertChargedAsServed(caller)).requests, 1)
  })

  test(`an answer that was filtered before any output costs nothing (${way})`, async () => {
    const caller = await rig.caller()
    const completion = await ask(connect(caller), prompt('Do it'), told('refusal=empty'))
    assert.equal(completion.choices[0]?.finish_reason, 'content_filter')
    await rig.assertNotCharged(caller)
  })
}

test('the tool runner of the SDK handles a tool call by itself', async () => {
  const caller = await rig.caller()
  const places: unknown[] = []
  const runner = connect(caller).chat.completions.runTools({
    ...prompt('Use the weather tool.'),
    tools: [
      {
        type: 'function',
        function: {
          ...weatherTool.function,
          parse: (text: string) => JSON.parse(text) as { place: string },
          function(input: { place: string }) {
            places.push(input.place)
            return 'Sunny.'
          },
        },
      },
    ],
  })
  assert.match((await runner.finalContent()) ?? '', /simulated/)
  assert.equal(places.length, 1)
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
})

test('lists the models and finds one, for free', async () => {
  const caller = await rig.caller()
  const client = connect(caller)
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  assert.ok(ids.includes('chat-1') && ids.includes('chat-mini-1') && !ids.includes('large-1'))
  assert.equal((await client.models.retrieve('chat-1')).object, 'model')
  await assert.rejects(client.models.retrieve('no-such-model'), NotFoundError)
  await rig.assertNotCharged(caller)
})

describe('raises our errors as its own classes', () => {
  /** The SDK has no separate class for 402 and 413. */
  const errorClasses: Readonly<Record<RefusalCase['status'], { readonly name: string }>> = {
    400: BadRequestError,
    401: AuthenticationError,
    402: APIError,
    403: PermissionDeniedError,
    404: NotFoundError,
    413: APIError,
    429: RateLimitError,
    503: InternalServerError,
  }

  async function failureOf(promise: PromiseLike<unknown>): Promise<APIError> {
    const error = await Promise.resolve(promise).then(
      () => assert.fail('The call was answered.'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof APIError, String(error))
    return error
  }

  /** Provokes one refusal; the SDK retries only with retries enabled. */
  async function provoke(refusal: RefusalCase, options: ClientOptions = {}) {
    const arranged = await arrangeRefusal(rig, refusal, 'beta')
    const { caller, secret, model, content, maxTokens } = arranged
    const params = { model, max_tokens: maxTokens, ...messagesOf(content) }
    const client = connect(caller, { apiKey: secret, ...options })
    // A test may leave out what the types require.
    const call = client.chat.completions.create(params as ReturnType<typeof prompt>)
    return { caller, error: await failureOf(call) }
  }

  for (const refusal of refusalCases) {
    const errorClass = errorClasses[refusal.status]
    test(`${refusal.name}: ${refusal.status}, of class ${errorClass.name}`, async () => {
      const { caller, error } = await provoke(refusal, { maxRetries: 0 })
      assert.equal(error.constructor, errorClass)
      assert.equal(error.status, refusal.status)
      assert.equal(error.code, refusal.chatCode)
      assert.match(error.message, refusal.says)
      assert.match(error.requestID ?? '', /^ex_/)
      await rig.assertUntouched(caller)
    })
  }

  for (const refusal of finalRefusals)
    test(`${refusal.name} is one attempt, though the SDK would make three`, async () => {
      const { caller, error } = await provoke(refusal)
      assert.equal(error.status, refusal.status)
      assert.equal(rig.attempts(caller).length, 1)
    })

  test('waits for retry-after at the rate limit, then gets its answer', async () => {
    const caller = await rig.caller({ rpm: 1 })
    const client = connect(caller)
    await client.chat.completions.create(prompt('first'))
    rig.clock.advance(59_500)
    rig.advanceOn(429, 500)
    await client.chat.completions.create(prompt('second'))
    const [, refused, served] = rig.attempts(caller)
    assert.deepEqual([refused?.status, served?.status], [429, 200])
    // The SDK's own back-off would be half a second at most.
    assert.ok((served?.atMs ?? 0) - (refused?.atMs ?? 0) >= 950)
    assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
  })

  test("a vendor's own 400 keeps the vendor's message and code", async () => {
    const caller = await rig.caller()
    const call = connect(caller).chat.completions.create(
      prompt('x'),
      told('error=400_context_length_exceeded'),
    )
    const error = await failureOf(call)
    assert.equal(error.constructor, BadRequestError)
    assert.equal(error.code, 'context_length_exceeded')
    assert.match(error.message, /maximum context length is 128000 tokens/)
    assert.equal(rig.attempts(caller).length, 1)
    await rig.assertNotCharged(caller)
  })
})

describe('when a vendor fails', () => {
  const lone = (content: string) => ({ ...prompt(content), model: 'lone-beta-1' })

  test('raises a cut in the middle of a stream, and nothing is charged', async () => {
    const caller = await rig.caller()
    const stream = await connect(caller).chat.completions.create(
      { ...lone('Cut'), stream: true },
      told('cut_event=6'),
    )
    let count = 0
    await assert.rejects(async () => {
      for await (const _ of stream) count++
    }, /broke off/)
    assert.ok(count > 0)
    assert.equal(rig.attempts(caller).length, 1)
    await rig.assertNotCharged(caller)
  })

  test('raises a cut response as an error of the API, and nothing is charged', async () => {
    const caller = await rig.caller()
    const ask = { model: 'lone-beta-1', input: 'Cut', max_output_tokens: 200 } as const
    const cut = told('output=8; cut_event=8')
    const stream = await connect(caller).responses.create({ ...ask, stream: true }, cut)
    const types: string[] = []
    await assert.rejects(
      async () => {
        for await (const { type } of stream) types.push(type)
      },
      (error) => error instanceof APIError && /broke off/.test(error.message),
    )
    assert.ok(types.includes('response.output_text.delta'))
    await assert.rejects(connect(caller).responses.stream(ask, cut).finalResponse(), /broke off/)
    await rig.assertNotCharged(caller)
  })

  test('the streaming helper raises a cut too', async () => {
    const caller = await rig.caller()
    const stream = connect(caller).chat.completions.stream(lone('Cut'), told('cut_event=6'))
    await assert.rejects(stream.finalChatCompletion(), /broke off/)
    await rig.assertNotCharged(caller)
  })

  test("an error event in the middle of a stream is raised as the vendor's", async () => {
    const caller = await rig.caller()
    const stream = await connect(caller).chat.completions.create(
      { ...lone('Error'), stream: true },
      told('error_at=6; event_error=503'),
    )
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      (error) =>
        error instanceof APIError &&
        error.code === 'server_is_overloaded' &&
        error.message.includes('The server is overloaded.'),
    )
    await rig.assertNotCharged(caller)
  })

  test('an error as the first event has the status of its type', async () => {
    const caller = await rig.caller()
    const call = connect(caller, { maxRetries: 0 }).chat.completions.create(
      { ...lone('x'), stream: true },
      told('error_first=503'),
    )
    await assert.rejects(Promise.resolve(call), InternalServerError)
    await rig.assertNotCharged(caller)
  })

  for (const [index, fault] of guardedFaults.entries())
    test(`a reserve answers for a main channel with ${fault}, unnoticed`, async () => {
      const caller = await rig.caller()
      const guarded = { ...prompt('Still there?'), model: `guarded-beta-${index}` }
      const { completions } = connect(caller, { maxRetries: 0 }).chat
      const streamed = await completions.stream(guarded).finalChatCompletion()
      assert.match(streamed.choices[0]?.message.content ?? '', /Still there/)
      const whole = await completions.create(guarded)
      assert.match(whole.choices[0]?.message.content ?? '', /Still there/)
      rig.assertFailedOver(caller, { vendor: 'beta', index, answers: 2 })
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })
})

test('charges the prompt and the delivered output when the client leaves a stream', async () => {
  const caller = await rig.caller()
  const charged = rig.nextCharge()
  const stream = await connect(caller).chat.completions.create(
    { ...prompt('A long story'), max_tokens: 4_000, stream: true },
    told('output=3000; stall_event=20'),
  )
  for await (const chunk of stream) if ((chunk.choices[0]?.delta.content ?? '') !== '') break
  await charged
  const figures = await rig.figures(caller)
  assert.equal(figures.requests, 1)
  // The vendor sent no counts: both are estimates, of little text.
  assert.ok(figures.input_tokens >= 1 && figures.input_tokens < 50)
  assert.ok(figures.output_tokens >= 1 && figures.output_tokens < 100)
  const cost = (figures.input_tokens * 2 + figures.output_tokens * 10) / 1e6
  assert.equal(figures.cost_usd, Number(cost.toFixed(12)))
})

test('continues, shows and deletes its own stored responses, and no others', async () => {
  const [caller, stranger] = [await rig.caller(), await rig.caller()]
  const { responses } = connect(caller)
  const question = { model: 'chat-1', input: 'Good morning', max_output_tokens: 200 }
  const first = await responses.create(question)
  const next = { ...question, previous_response_id: first.id }
  assert.equal((await responses.create(next)).previous_response_id, first.id)
  assert.equal((await responses.retrieve(first.id)).output_text, first.output_text)
  assert.equal((await Array.fromAsync(responses.inputItems.list(first.id))).length, 1)
  await assert.rejects(responses.cancel(first.id), BadRequestError)

  const { responses: others } = connect(stranger)
  await assert.rejects(
    others.create(next),
    (error) => error instanceof BadRequestError && error.code === 'previous_response_not_found',
  )
  for (const refused of [
    others.retrieve(first.id),
    others.delete(first.id),
    others.cancel(first.id),
    others.inputItems.list(first.id),
  ])
    await assert.rejects(refused, NotFoundError)

  await responses.delete(first.id)
  await assert.rejects(responses.retrieve(first.id), NotFoundError)
  await rig.assertNotCharged(stranger)
  assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
})
