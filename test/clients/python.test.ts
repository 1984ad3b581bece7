/**
 * The vendors' Python SDKs of two generations. Where the machine has no usable python3, they are
 * reported as not run, and nothing here fails.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startClientRig, type Caller, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runLines, type Printed } from './support/example.ts'
import {
  preparePython,
  PythonDriver,
  type PythonReport,
  type ReadyPython,
} from './support/python.ts'
import { pythonResponseTests } from './support/python-responses.ts'
import {
  arrangeRefusal,
  finalRefusals,
  refusalCases,
  type RefusalCase,
} from './support/refusals.ts'
import { variants } from '../support/variants.ts'

interface Generation {
  readonly list: 'earlier' | 'newest'
  readonly title: string
  readonly credentialHeader: 'authorization' | 'x-api-key'
  readonly version: string
  readonly messagesClasses: Readonly<Record<RefusalCase['status'], string>>
}

const commonClasses = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  429: 'RateLimitError',
} as const

const generations: readonly Generation[] = [
  {
    list: 'earlier',
    title: 'Python anthropic 1.13.0 and openai 3.22.1',
    credentialHeader: 'x-api-key',
    version: '2023-06-01',
    messagesClasses: {
      ...commonClasses,
      402: 'APIStatusError',
      413: 'RequestTooLargeError',
      503: 'InternalServerError',
    },
  },
  {
    list: 'newest',
    title: 'Python anthropic 2.11.0 and openai 3.52.0',
    credentialHeader: 'authorization',
    version: '2026-10-21',
    messagesClasses: {
      ...commonClasses,
      402: 'PaymentRequiredError',
      413: 'ContentTooLargeError',
      503: 'ServiceUnavailableError',
    },
  },
]

const chatClasses: Readonly<Record<RefusalCase['status'], string>> = {
  ...commonClasses,
  402: 'APIStatusError',
  413: 'APIStatusError',
  503: 'InternalServerError',
}

const properties = { place: { type: 'string' } }
const schema = { type: 'object', properties, required: ['place'] }

/** The differences between the two formats that a test of both needs. */
const formats = {
  messages: {
    vendor: 'alpha',
    model: 'large-1',
    ends: 'end_turn',
    tool: { name: 'weather', description: 'The weather of a place.', input_schema: schema },
  },
  chat: {
    vendor: 'beta',
    model: 'chat-1',
    ends: 'stop',
    tool: {
      type: 'function',
      function: { name: 'weather', description: 'The weather of a place.', parameters: schema },
    },
  },
} as const
type Format = keyof typeof formats

for (const generation of variants(generations, ({ list }) => list === 'newest')) {
  const environment = await preparePython(generation.list)
  if (environment.kind === 'ready') describeGeneration(generation, environment)
  else process.stdout.write(`not run: ${generation.title}, because ${environment.reason}\n`)
}

function describeGeneration(generation: Generation, environment: ReadyPython): void {
  const { folder, python } = environment
  let rig: ClientRig
  let driver: PythonDriver

  interface Asked {
    readonly content: string
    readonly body?: Readonly<Record<string, unknown>>
    readonly directives?: string
    readonly secret?: string
    readonly retries?: number
  }

  function ask(
    format: Format,
    action: string,
    caller: Caller,
    asked: Asked,
  ): Promise<PythonReport> {
    const { content, body = {}, directives, secret = caller.key, retries } = asked
    const told = directives === undefined ? {} : { 'x-sandbox': directives }
    return driver.call({
      format,
      action,
      base_url: format === 'messages' ? rig.messagesUrl : rig.chatUrl,
      secret,
      headers: { ...caller.headers, ...told },
      body: {
        model: formats[format].model,
        max_tokens: 200,
        messages: [{ role: 'user', content }],
        ...body,
      },
      ...(retries === undefined ? {} : { max_retries: retries }),
    })
  }

  describe(generation.title, () => {
    before(async () => {
      rig = await startClientRig()
      driver = new PythonDriver(python)
    })
    after(async () => {
      await driver.close()
      await rig.close()
    })

    test('messages: sends key and version in its own headers', async () => {
      const caller = await rig.caller()
      await ask('messages', 'whole', caller, { content: 'Hi' })
      const [attempt] = rig.attempts(caller)
      assert.ok(String(attempt?.headers[generation.credentialHeader]).endsWith(caller.key))
      assert.equal(attempt?.headers['anthropic-version'], generation.version)
      const headers = rig.served(caller)[0]?.rawHeaders ?? []
      assert.equal(headers[headers.indexOf('anthropic-version') + 1], generation.version)
    })

    test('messages: raw events go from message_start to message_stop', async () => {
      const caller = await rig.caller()
      const { types, text } = await ask('messages', 'raw', caller, { content: 'Raw' })
      assert.equal(types?.[0], 'message_start')
      assert.equal(types.at(-1), 'message_stop')
      assert.match(text ?? '', /Raw/)
      await rig.assertChargedAsServed(caller)
    })

    test('messages: thinking and refusals keep their types', async () => {
      const caller = await rig.caller()
      const body = { max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } }
      const thought = await ask('messages', 'helper', caller, { content: 'Think', body })
      assert.deepEqual(thought.kinds, ['thinking', 'text'])
      const directives = 'refusal=empty'
      const refused = await ask('messages', 'whole', caller, { content: 'Do it', directives })
      assert.equal(refused.stop_reason, 'refusal')
      assert.equal((await rig.figures(caller)).requests, 1)
    })

    test('chat: the usage chunk that the gateway asks for is removed', async () => {
      const caller = await rig.caller()
      const report = await ask('chat', 'raw', caller, { content: 'Raw' })
      assert.ok(report.choice_counts?.every((count) => count === 1))
      assert.match(report.text ?? '', /Raw/)
      await rig.assertChargedAsServed(caller)
    })

    for (const action of ['responses_raw', 'responses_helper'])
      test(`chat: a response is charged as served, and raised where it is cut (${action})`, async () => {
        const caller = await rig.caller()
        const body = {
          max_tokens: undefined,
          messages: undefined,
          max_output_tokens: 200,
          input: 'Hi',
        }
        const report = await ask('chat', action, caller, { content: '', body })
        assert.equal(report.error, undefined)
        assert.match(report.text ?? '', /simulated.*Hi/s)
        await rig.assertChargedAsServed(caller)
        const cut = await rig.caller()
        const { error } = await ask('chat', action, cut, {
          content: '',
          body: { ...body, model: 'lone-beta-1' },
          directives: 'output=8; cut_event=8',
        })
        assert.match(error?.message ?? '', /broke off/)
        assert.equal(error?.is_sdk_error, true)
        await rig.assertNotCharged(cut)
      })

    test('chat: a refusal in words keeps its type', async () => {
      const caller = await rig.caller()
      const directives = 'content=refusal'
      const report = await ask('chat', 'whole', caller, { content: 'Do it', directives })
      assert.match(report.refusal ?? '', /declines/)
      await rig.assertChargedAsServed(caller)
    })

    for (const format of ['messages', 'chat'] as const) describeFormat(format)
    for (const [title, run] of Object.entries(pythonResponseTests))
      test(title, () => run({ rig, driver }))

    const chat = ['whole', 'stream', 'tool'] as const
    const examples: Readonly<Record<string, readonly Printed[]>> = {
      'ask-anthropic.py': ['whole', 'stream', 'usage', 'tool'],
      'ask-openai.py': [...chat, 'response', 'continued', 'embeddings'],
    }
    for (const [file, lines] of Object.entries(examples)) {
      const command = `.venv/bin/python ${file}`
      const example = { name: 'python', command, links: { '.venv': folder } }

      test(`every part of the example ${file} is answered and charged as served`, () =>
        runLines(rig, example, lines))

      test(`the example ${file} shows what is wrong with a wrong key`, () =>
        refuseExample(rig, example))
    }
  })

  function describeFormat(format: Format): void {
    const { vendor, ends } = formats[format]

    for (const action of ['whole', 'async_whole', 'helper', 'async_helper'])
      test(`${format}: answers are charged as served (${action})`, async () => {
        const caller = await rig.caller()
        const report = await ask(format, action, caller, { content: 'Good morning' })
        assert.equal(report.error, undefined)
        assert.match(report.text ?? '', /simulated.*Good morning/s)
        assert.equal(report.stop_reason, ends)
        if (action.endsWith('helper')) assert.equal(report.pieces, report.text)
        else assert.match(report.request_id ?? '', /^req_/)
        await rig.assertChargedAsServed(caller)
      })

    test(`${format}: a tool call and its result pass in both directions`, async () => {
      const caller = await rig.caller()
      const body = { tools: [formats[format].tool] }
      const report = await ask(format, 'tools', caller, { content: 'Use the weather tool.', body })
      assert.equal(report.tool, 'weather')
      assert.equal(typeof report.input?.['place'], 'string')
      assert.equal(report.stop_reason, ends)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    test(`${format}: start-up calls are free`, async () => {
      const caller = await rig.caller()
      const { ids, input_tokens } = await ask(format, 'free', caller, { content: 'How long?' })
      assert.ok(ids?.includes(formats[format].model))
      if (format === 'messages') assert.ok((input_tokens ?? 0) > 0)
      await rig.assertNotCharged(caller)
    })

    for (const refusal of refusalCases) {
      const classes = format === 'messages' ? generation.messagesClasses : chatClasses
      const className = classes[refusal.status]
      test(`${format}: ${refusal.name}: ${refusal.status}, a ${className}`, async () => {
        const { caller, error } = await provoke(refusal, 0)
        assert.equal(error.class, className)
        assert.equal(error.status, refusal.status)
        assert.match(error.message, refusal.says)
        assert.match(error.request_id ?? '', /^ex_/)
        if (format === 'chat') assert.equal(error.code, refusal.chatCode)
        await rig.assertUntouched(caller)
      })
    }

    for (const refusal of finalRefusals)
      test(`${format}: ${refusal.name} is one attempt`, async () => {
        const { caller, error } = await provoke(refusal)
        assert.equal(error.status, refusal.status)
        assert.equal(rig.attempts(caller).length, 1)
      })

    async function provoke(refusal: RefusalCase, retries?: number) {
      const arranged = await arrangeRefusal(rig, refusal, vendor)
      const { caller, secret, model, maxTokens, content } = arranged
      // The SDK requires the field; it sends additional body members unchecked.
      const body = { model, ...(maxTokens === undefined && { extra_body: { max_tokens: null } }) }
      const { error } = await ask(format, 'whole', caller, {
        content,
        secret,
        body,
        ...(retries === undefined ? {} : { retries }),
      })
      assert.ok(error !== undefined)
      return { caller, error }
    }

    test(`${format}: waits for retry-after at the rate limit`, async () => {
      const caller = await rig.caller({ rpm: 1 })
      await ask(format, 'whole', caller, { content: 'first' })
      rig.clock.advance(59_500)
      rig.advanceOn(429, 500)
      const { error } = await ask(format, 'whole', caller, { content: 'second' })
      assert.equal(error, undefined)
      const [, refused, served] = rig.attempts(caller)
      assert.deepEqual([refused?.status, served?.status], [429, 200])
      // The SDK's own back-off would be half a second at most.
      assert.ok((served?.atMs ?? 0) - (refused?.atMs ?? 0) >= 950)
      assert.equal((await rig.assertChargedAsServed(caller)).requests, 2)
    })

    for (const action of ['raw', 'helper', 'async_helper'])
      test(`${format}: a cut in the middle of a stream is raised (${action})`, async () => {
        const caller = await rig.caller()
        const { error } = await ask(format, action, caller, {
          content: 'Cut',
          body: { model: `lone-${vendor}-1` },
          directives: 'cut_event=6',
        })
        assert.match(error?.message ?? '', /broke off/)
        assert.equal(error?.is_sdk_error, true)
        assert.equal(rig.attempts(caller).length, 1)
        await rig.assertNotCharged(caller)
      })

    test(`${format}: an error event in the middle of a stream is raised`, async () => {
      const caller = await rig.caller()
      const preset = format === 'messages' ? '529' : '503'
      const { error } = await ask(format, 'raw', caller, {
        content: 'Error',
        body: { model: `lone-${vendor}-1` },
        directives: `error_at=6; event_error=${preset}`,
      })
      assert.match(error?.message ?? '', /overloaded/i)
      assert.equal(error?.is_sdk_error, true)
      await rig.assertNotCharged(caller)
    })

    test(`${format}: a reserve answers for an overloaded main channel, unnoticed`, async () => {
      const caller = await rig.caller()
      const body = { model: `guarded-${vendor}-0` }
      const report = await ask(format, 'helper', caller, { content: 'There?', body, retries: 0 })
      assert.match(report.text ?? '', /There/)
      rig.assertFailedOver(caller, { vendor, index: 0, answers: 1 })
      await rig.assertChargedAsServed(caller)
    })

    test(`${format}: charges the delivered output when the client leaves a stream`, async () => {
      const caller = await rig.caller()
      const charged = rig.nextCharge()
      const report = await ask(format, 'leave', caller, {
        content: 'A long story',
        body: { max_tokens: 4_000 },
        directives: 'output=3000; stall_event=20',
      })
      assert.ok(report.left_at !== undefined)
      await charged
      const figures = await rig.figures(caller)
      assert.equal(figures.requests, 1)
      assert.ok(figures.output_tokens >= 1 && figures.output_tokens < 100)
    })
  }
}
