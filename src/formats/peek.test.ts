import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { chatCompletions } from './chat/index.ts'
import { noExtras } from './fields.ts'
import {
  operatorFeatures,
  type ForwardedOperation,
  type OperatorFeature,
  type RequestExtras,
  type RequestFacts,
} from './format.ts'
import { countTokens, messagesCreate } from './messages/index.ts'

interface Reading {
  readonly requireMaxTokens?: boolean
  readonly allowed?: readonly OperatorFeature[]
}

function read(operation: ForwardedOperation, body: string | Buffer, reading: Reading = {}) {
  return operation.readRequest(Buffer.from(body), {
    requireMaxTokens: reading.requireMaxTokens ?? true,
    allowedFeatures: new Set(reading.allowed),
  })
}

function factsOf(
  operation: ForwardedOperation,
  body: object | string,
  reading?: Reading,
): RequestFacts {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const facts = read(operation, text, reading)
  if ('kind' in facts) assert.fail(facts.message)
  return facts
}

function faultOf(
  operation: ForwardedOperation,
  body: object | string | Buffer,
  reading?: Reading,
): string {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const facts = read(operation, text, reading)
  if (!('kind' in facts)) assert.fail('the body was accepted')
  return facts.message
}

const plain = { model: 'large-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
const both = [messagesCreate, chatCompletions]

describe('a body', () => {
  const refused: readonly [string, string | Buffer, RegExp][] = [
    ['nothing', '', /empty/],
    ['no JSON', '{"model":', /not valid JSON/],
    ['a byte order mark', '\ufeff' + JSON.stringify(plain), /byte order mark/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), /UTF-8/],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
    ['an array', '[1]', /JSON object/],
    ['a string', '"model"', /JSON object/],
    ['null', 'null', /JSON object/],
    ['something behind the object', JSON.stringify(plain) + 'x', /not valid JSON/],
    ['too many levels', '{"a":' + '['.repeat(512) + ']'.repeat(512) + '}', /512 levels/],
    ['very many levels', '['.repeat(1_000_000), /512 levels/],
    ['a number out of range', '{"model":"m","temperature":1e999}', /out of range/],
  ]
  for (const [name, body, message] of refused) {
    test(`${name} is refused`, () => {
      for (const operation of both) assert.match(faultOf(operation, body), message)
    })
  }

  test('may name a hundred other models and have few stream options', () => {
    const named = (count: number): object => ({ ...plain, fallbacks: Array(count).fill('m') })
    factsOf(messagesCreate, named(100))
    assert.match(faultOf(messagesCreate, named(101)), /more than 100 other models/)
    const streamed = (length: number): object => ({
      ...plain,
      stream: true,
      stream_options: { padding: 'x'.repeat(length) },
    })
    factsOf(chatCompletions, streamed(4_000))
    assert.match(faultOf(chatCompletions, streamed(4_096)), /stream_options.*4096 bytes/)
  })

  test('a fault never quotes the body', () => {
    for (const body of ['{"secret word": oops}', '{"secret" oops}', '{"secret": "oops', 'secret']) {
      assert.doesNotMatch(faultOf(chatCompletions, body), /secret|oops/)
    }
    assert.match(faultOf(chatCompletions, '{"é" 1}'), /at byte 6/)
  })

  /** Values as in the well-known JSON test suites; each is a value in the body. */
  const values: readonly string[] = [
    ['[]', '[1,]', '[,1]', '[1 2]', '[1', '{"a":1,}', '{"a" 1}', '{"a":}', '{1:1}', "{'a':1}"],
    ['{"a":1,"a":2}', '{"":0}', '{"__proto__":{"model":"x"}}', '{"constructor":1}', '{a:1}'],
    ['-0', '-', '+1', '01', '-01', '1.', '.5', '1e', '1e+', '1E5', '0x1', '1_0', 'NaN', '1.5e-3'],
    ['Infinity', '-Infinity', '123123e100', '9007199254740993', '1e-999', '--1', '- 1'],
    ['true', 'True', 'nul', 'null', 'truefalse', 'undefined', '//c\n1', '/*c*/1', '1;'],
    ['"\\u0000"', '"\\u00G0"', '"\\x41"', '"\\ud800"', '"\\uD83D\\uDE00"', '"\\"', '"\\\\"'],
    ['"\n"', '"\t"', '"\u0000"', '"\u007f"', '"\u2028"', '"é"', '"\\/"', '"\\a"', '"', 'a"'],
    ['\u00a01', '\ufeff1', '\f1', '\v1', ' \t\r\n1', '1\u2003', '[[]]]', '{}}', '"a" "b"', ''],
  ].flat()

  test('is JSON exactly if JSON.parse accepts it', () => {
    for (const value of values) {
      const body = `{"model":"m","max_tokens":1,"messages":[0],"x":${value}}`
      let isJson = true
      try {
        JSON.parse(body)
      } catch {
        // Not being JSON is the outcome looked for.
        isJson = false
      }
      for (const operation of both) assert.equal(!('kind' in read(operation, body)), isJson, value)
    }
  })

  test('is accepted on random text exactly if JSON.parse accepts it', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\"',
      '1',
      '-',
      'null',
      ' ',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const value = tokens.join('')
        const body = `{"x":${value},"model":"m","max_tokens":1,"messages":[0]}`
        const facts = read(messagesCreate, body)
        let parsed: unknown
        try {
          parsed = JSON.parse(body)
        } catch {
          // Not being JSON is the outcome looked for.
          parsed = undefined
        }
        const isAccepted = !('kind' in facts)
        if (parsed === undefined) assert.equal(isAccepted, false)
        else if (isAccepted) assert.equal(facts.model, 'm')
      }),
    )
  })
})

describe('a field twice', () => {
  const fields = [
    'model',
    'max_tokens',
    'stream',
    'messages',
    'system',
    'tools',
    'n',
    'service_tier',
    'temperature',
  ]
  const rest = JSON.stringify(plain).slice(1)
  for (const field of fields) {
    test(`${field} is refused`, () => {
      for (const operation of both) {
        const body = `{"${field}":1,"x":{"${field}":2},"${field}":3,${rest}`
        assert.match(faultOf(operation, body), new RegExp(`\`${field}\`.*twice`))
      }
    })
  }

  test('an escaped name counts as the name it spells', () => {
    assert.match(faultOf(chatCompletions, `{"mod\\u0065l":"other",${rest}`), /`model`.*twice/)
    assert.match(
      faultOf(chatCompletions, `{"\\u006d\\u006F\\u0064el":"other",${rest}`),
      /`model`.*twice/,
    )
    const once = '{"mod\\u0065l":"large-1","max_tokens":5,"messages":[1]}'
    assert.equal(factsOf(chatCompletions, once).model, 'large-1')
  })

  test('include_usage is refused within stream_options', () => {
    const body = `{"stream_options":{"include_usage":true,"include_us\\u0061ge":false},${rest}`
    assert.match(faultOf(chatCompletions, body), /`include_usage`.*twice/)
  })

  test('a field that the gateway does not read passes, and so does a nested one', () => {
    for (const operation of both) {
      const body = `{"top_p":1,"top_p":2,"metadata":{"model":1,"model":2},${rest}`
      assert.equal(factsOf(operation, body).model, 'large-1')
    }
  })
})

describe('a field in another letter case', () => {
  const rest = JSON.stringify(plain).slice(1)
  for (const [name, field] of [
    ['Model', 'model'],
    ['MAX_TOKENS', 'max_tokens'],
    ['max_to\u212aens', 'max_tokens'],
    ['\\u0053tream', 'stream'],
    ['me\u017fsages', 'messages'],
    ['service_Tier', 'service_tier'],
    ['N', 'n'],
  ] as const) {
    test(`${name} is refused, with ${field} beside it or without`, () => {
      for (const operation of both)
        for (const members of [rest, rest.replace(`"${field}":`, '"x":')]) {
          const body = `{"${name}":1,${members}`
          assert.match(faultOf(operation, body), new RegExp(`\`${field}\`.*in another letter case`))
        }
    })
  }

  test('include_usage is refused within stream_options', () => {
    const body = `{"stream":true,"stream_options":{"Include_Usage":true},${rest}`
    assert.match(
      faultOf(chatCompletions, body),
      /`include_usage`.*`stream_options` in another letter case/,
    )
  })

  test('passes if it is nested, or if its letters differ', () => {
    const members = '"X":1,"Größe":1,"Modelle":1,"Max-Tokens":1,"metadata":{"Model":1}'
    for (const operation of both)
      assert.equal(factsOf(operation, `{${members},${rest}`).model, 'large-1')
  })
})

describe('the rules of the fields', () => {
  const refused: readonly [object, RegExp][] = [
    [{ model: undefined }, /`model` is required/],
    [{ model: '' }, /`model` must not be empty/],
    [{ model: 5 }, /`model` is required/],
    [{ model: null }, /`model` is required/],
    [{ max_tokens: undefined }, /`max_tokens` is required: set it/],
    [{ max_tokens: null }, /`max_tokens` is required/],
    [{ max_tokens: 0 }, /`max_tokens` must be an integer/],
    [{ max_tokens: -1 }, /`max_tokens` must be an integer/],
    [{ max_tokens: 1.5 }, /`max_tokens` must be an integer/],
    [{ max_tokens: '100' }, /`max_tokens` must be an integer/],
    [{ max_tokens: 1e300 }, /`max_tokens` must be an integer/],
    [{ messages: undefined }, /`messages` is required/],
    [{ messages: [] }, /`messages` is required/],
    [{ messages: 'Hi' }, /`messages` is required/],
    [{ messages: { 0: 'Hi' } }, /`messages` is required/],
    [{ temperature: 'hot' }, /`temperature` must be a number/],
    [{ stream: 'true' }, /`stream` must be true or false/],
    [{ stream: 1 }, /`stream` must be true or false/],
  ]
  for (const [fields, message] of refused) {
    test(`${JSON.stringify(fields)} is refused`, () => {
      for (const operation of both)
        assert.match(faultOf(operation, { ...plain, ...fields }), message)
    })
  }

  const refusedInChat: readonly [object, RegExp][] = [
    [{ max_completion_tokens: 0 }, /`max_completion_tokens` must be an integer/],
    [{ n: 0 }, /`n` must be/],
    [{ n: 129 }, /`n` must be/],
    [{ n: 1.5 }, /`n` must be/],
    [{ n: '2' }, /`n` must be/],
    [{ stream_options: true }, /`stream_options` must be an object/],
    [{ stream_options: [] }, /`stream_options` must be an object/],
    [{ stream_options: { include_usage: 'yes' } }, /include_usage` must be true or false/],
  ]
  for (const [fields, message] of refusedInChat) {
    test(`${JSON.stringify(fields)} is refused in chat and ignored in messages`, () => {
      assert.match(faultOf(chatCompletions, { ...plain, ...fields }), message)
      assert.equal(factsOf(messagesCreate, { ...plain, ...fields }).choiceCount, 1)
    })
  }

  test('a number with a zero fraction is an integer', () => {
    const body = JSON.stringify(plain).replace('100', '64.0')
    for (const operation of both)
      assert.deepEqual(factsOf(operation, body).outputLimits, { max_tokens: 64 })
  })

  test('chat accepts either limit, or both', () => {
    const limits = (fields: object) =>
      factsOf(chatCompletions, { ...plain, ...fields }).outputLimits
    const alone = { max_completion_tokens: 7 }
    assert.deepEqual(limits({ max_tokens: undefined, ...alone }), alone)
    assert.deepEqual(limits({ max_tokens: null, ...alone }), alone)
    assert.deepEqual(limits(alone), { max_tokens: 100, max_completion_tokens: 7 })
    assert.match(faultOf(messagesCreate, { ...plain, max_tokens: null }), /required/)
  })

  test('the limit may be absent if the vendor does not require it', () => {
    for (const operation of both) {
      const facts = factsOf(
        operation,
        { ...plain, max_tokens: undefined },
        { requireMaxTokens: false },
      )
      assert.deepEqual(facts.outputLimits, {})
    }
  })

  test('a prompt is plain text unless there are tools or other data beside it', () => {
    const isPlain = (fields: object): boolean =>
      factsOf(messagesCreate, { ...plain, ...fields }).isPlainText
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    assert.equal(isPlain({}), true)
    assert.equal(isPlain({ system: 'Be brief.', temperature: 1 }), true)
    assert.equal(isPlain({ tools: [{ name: 'a', input_schema: {} }] }), false)
    assert.equal(
      isPlain({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] }),
      false,
    )
  })

  test('counting tokens needs no limit and never streams', () => {
    const facts = factsOf(countTokens, { ...plain, max_tokens: undefined, stream: true })
    assert.equal(facts.isStream, false)
    assert.deepEqual(facts.outputLimits, {})
  })

  test('null means "not given" in chat, where the vendor says so, and nothing in messages', () => {
    const nulls = { ...plain, temperature: null, stream: null, n: null, stream_options: null }
    const facts = factsOf(chatCompletions, nulls)
    assert.equal(facts.isStream, false)
    assert.equal(facts.choiceCount, 1)
    assert.match(faultOf(messagesCreate, { ...plain, stream: null }), /`stream` must be/)
  })

  test('a model name outside ASCII is read as written', () => {
    for (const operation of both) {
      assert.equal(factsOf(operation, { ...plain, model: 'größe-你-🎉' }).model, 'größe-你-🎉')
      const escaped = JSON.stringify(plain).replace('large-1', 'gr\\u00f6\\u00DFe-é')
      assert.equal(factsOf(operation, escaped).model, 'größe-é')
    }
  })

  test('keys such as __proto__ are harmless', () => {
    const body = `{"__proto__":{"model":"x","stream":true},"constructor":1,${JSON.stringify(plain).slice(1)}`
    for (const operation of both) {
      const facts = factsOf(operation, body)
      assert.equal(facts.model, 'large-1')
      assert.equal(facts.isStream, false)
    }
    assert.match(faultOf(chatCompletions, '{"__proto__":{"model":"x"}}'), /`model` is required/)
  })
})

describe('the facts', () => {
  test('stream, choices and the usage chunk', () => {
    const body = { ...plain, stream: true, n: 3, stream_options: { include_usage: true } }
    const facts = factsOf(chatCompletions, body)
    assert.deepEqual([facts.isStream, facts.choiceCount, facts.asksUsageChunk], [true, 3, true])
    const without = factsOf(chatCompletions, { ...body, stream_options: { include_usage: false } })
    assert.equal(without.asksUsageChunk, false)
  })

  test('stream_options without a stream are left to the vendor', () => {
    const facts = factsOf(chatCompletions, { ...plain, stream_options: { include_usage: true } })
    assert.equal(facts.isStream, false)
  })

  test('the spans are byte offsets, also behind text outside ASCII', () => {
    const text = ' {"é🎉":"\\"model\\":1", "model" : "lärge" ,"stream_options": {"a" : [1]} ,'
    const body = Buffer.from(text + JSON.stringify({ max_tokens: 1, messages: [1] }).slice(1))
    const facts = factsOf(chatCompletions, body.toString())
    const { model, streamOptions, firstMember } = facts.spans
    assert.equal(body.toString('utf8', model.start, model.end), '"lärge"')
    assert.equal(body.toString('utf8', streamOptions?.start, streamOptions?.end), '{"a" : [1]}')
    assert.equal(firstMember, 2)
  })

  test('the requested tier, speed and region', () => {
    const asked = { service_tier: 'auto', speed: 'fast', inference_geo: 'us' }
    assert.deepEqual(factsOf(messagesCreate, { ...plain, ...asked }).service, {
      tier: 'auto',
      speed: 'fast',
      geo: 'us',
    })
    assert.deepEqual(factsOf(chatCompletions, { ...plain, service_tier: 'fast' }).service, {
      tier: 'priority',
    })
    assert.equal(factsOf(chatCompletions, plain).service, undefined)
  })

  test('a one-hour cache write is found anywhere in the body, in any spacing', () => {
    const control = { type: 'ephemeral', ttl: '1h' }
    const body = { ...plain, system: [{ type: 'text', text: 'x', cache_control: control }] }
    assert.equal(factsOf(messagesCreate, body).cacheWrite, 'long')
    const spaced = JSON.stringify(body, undefined, 2)
    assert.equal(factsOf(messagesCreate, spaced).cacheWrite, 'long')
    const fiveMinutes = JSON.stringify(body).replace('1h', '5m')
    assert.equal(factsOf(messagesCreate, fiveMinutes).cacheWrite, 'short')
    const quoted = { ...plain, system: '"ttl":"1h"' }
    assert.equal(factsOf(messagesCreate, quoted).cacheWrite, undefined)
    const spelled = JSON.stringify(body).replace('"ttl":"1h"', '"\\u0074tl":"1\\u0068"')
    assert.equal(factsOf(messagesCreate, spelled).cacheWrite, 'long')
    assert.equal(factsOf(messagesCreate, spelled.replace('1\\u', '5\\u')).cacheWrite, 'short')
  })
})

describe('what a request asks for beyond text', () => {
  const extrasOf = (operation: ForwardedOperation, fields: object): Partial<RequestExtras> => {
    const { extras } = factsOf(operation, { ...plain, ...fields }, { allowed: operatorFeatures })
    const usual = new Map<string, unknown>(Object.entries(noExtras))
    const isUnusual = ([name, value]: [string, unknown]): boolean =>
      !isDeepStrictEqual(value, usual.get(name))
    return Object.fromEntries(Object.entries(extras).filter(isUnusual))
  }

  test('is nothing for text, and for tools that the client runs', () => {
    const named = { name: 'f', input_schema: { type: 'object' } }
    const types = ['custom', 'bash_20250124', 'text_editor_20250728', 'computer_20250124']
    const tools = [named, ...types.map((type) => ({ ...named, type })), { type: 'memory_20250818' }]
    assert.deepEqual(extrasOf(messagesCreate, { tools, mcp_servers: [], fallbacks: null }), {})
    const functions = [{ type: 'function', function: { name: 'f' } }, { type: 'custom' }]
    assert.deepEqual(extrasOf(chatCompletions, { tools: functions, modalities: ['text'] }), {})
  })

  test('includes tools that the vendor runs', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const fetch = { type: 'web_fetch_20250910', name: 'web_fetch' }
    const asked = (tools: object[]): object => extrasOf(messagesCreate, { tools })
    const unlimited = (uses: number): object => ({ serverTools: { uses, isLimited: false } })
    assert.deepEqual(asked([fetch]), unlimited(10))
    assert.deepEqual(asked([search]), { ...unlimited(10), webSearchesMax: 10 })
    const few = { ...search, max_uses: 3 }
    assert.deepEqual(asked([few, fetch]), { ...unlimited(13), webSearchesMax: 3 })
    assert.deepEqual(asked([few]), { serverTools: { uses: 3, isLimited: true }, webSearchesMax: 3 })
    for (const max_uses of [1e15, 199.5])
      assert.deepEqual(asked([{ ...search, max_uses }]), {
        serverTools: { uses: 200, isLimited: true },
        webSearchesMax: 200,
      })
    const servers = [{ type: 'url', url: 'https://tools.example', name: 't' }]
    assert.deepEqual(extrasOf(messagesCreate, { mcp_servers: servers }), unlimited(10))
    assert.deepEqual(extrasOf(chatCompletions, { tools: [{ type: 'mcp' }] }), unlimited(10))
  })

  test('includes other models, wherever it names them', () => {
    const fallbacks = [{ model: 'large-2' }, 'small-2']
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'large-3' }]
    assert.deepEqual(extrasOf(messagesCreate, { fallbacks }).otherModels, ['large-2', 'small-2'])
    assert.deepEqual(extrasOf(messagesCreate, { tools }).otherModels, ['large-3'])
  })

  test('includes audio in the answer', () => {
    const modalities = ['text', 'audio']
    const spoken = (format?: string): object =>
      extrasOf(chatCompletions, { modalities, audio: { voice: 'a', format } })
    for (const format of [undefined, 'pcm16', 'wav'])
      assert.deepEqual(spoken(format), { asksAudioOutput: true })
    assert.deepEqual(spoken('mp3'), { asksAudioOutput: true, isSpeechCompressed: true })
  })

  test('estimates a usual prompt by its text alone, however the JSON around it is written', () => {
    const usual = (operation: ForwardedOperation, fields: object): number =>
      factsOf(operation, { model: 'm', max_tokens: 9, ...fields }).prompt.likely
    const say = (content: unknown): object => ({ messages: [{ role: 'user', content }] })
    for (const operation of [messagesCreate, chatCompletions]) {
      assert.equal(usual(operation, say('hello')), 2)
      assert.equal(usual(operation, say([{ type: 'text', text: 'hello' }])), 2)
      const more = { stream: true, metadata: { user: 'x'.repeat(500) }, stop: ['y'.repeat(90)] }
      assert.equal(usual(operation, { ...more, ...say('hello') }), 2)
      assert.equal(usual(operation, say('hello'.repeat(420))), 500)
    }
    assert.equal(usual(messagesCreate, { system: 'x'.repeat(415), ...say('hello') }), 100)
    const result = { type: 'tool_result', tool_use_id: 'id', content: 'x'.repeat(42) }
    assert.equal(usual(messagesCreate, say([result])), 10)
    const input = { path: 'x'.repeat(32), size: [1, true] }
    const use = { type: 'tool_use', id: 'id', name: 'f', input }
    assert.equal(usual(messagesCreate, say([use])), 11)
    const source = { type: 'text', media_type: 'text/plain', data: 'x'.repeat(42) }
    assert.equal(usual(messagesCreate, say([{ type: 'document', source }])), 10)
    const call = { id: 'id', type: 'function', function: { name: 'f', arguments: 'x'.repeat(28) } }
    const called = { messages: [{ role: 'assistant', content: null, tool_calls: [call] }] }
    assert.equal(usual(chatCompletions, called), 10)
    const tools = [{ name: 'f', description: 'x'.repeat(500) }]
    const defined = Math.ceil((JSON.stringify(tools).length + 5) / 4.2)
    assert.equal(usual(chatCompletions, { tools, ...say('hello') }), defined)
    assert.equal(usual(messagesCreate, { tools, ...say('hello') }), defined)
  })

  test('may not occur twice', () => {
    for (const field of ['modalities', 'fallbacks', 'mcp_servers']) {
      const body = JSON.stringify({ ...plain, [field]: [] }).replace('{', `{"${field}":[],`)
      for (const operation of both)
        assert.match(faultOf(operation, body), new RegExp(`${field}.*twice`))
    }
  })
})

describe('a feature that acts on the operator’s account', () => {
  const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } }
  const asking: readonly [ForwardedOperation, object, RegExp][] = [
    [messagesCreate, { container: 'container_1' }, /`container`/],
    [messagesCreate, { thread: { id: 'thread_1' } }, /`thread`/],
    [messagesCreate, { messages: [{ role: 'user', content: [file] }] }, /by id/],
    [
      messagesCreate,
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
      /by id/,
    ],
    [
      messagesCreate,
      { messages: [{ role: 'user', content: [{ type: 'web_fetch_tool_result', content: file }] }] },
      /by id/,
    ],
    [messagesCreate, { tools: [{ type: 'code_execution_20260120', name: 'c' }] }, /code execution/],
    ...both.flatMap((operation): [ForwardedOperation, object, RegExp][] => [
      [
        operation,
        { messages: [{ role: 'user', content: [{ type: 'brand_new', file_id: 'f' }] }] },
        /by id/,
      ],
      [operation, { models: ['small-1'] }, /`models`/],
      [operation, { plugins: [{ id: 'web' }] }, /`plugins`/],
      [operation, { search_parameters: { mode: 'on' } }, /`search_parameters`/],
      [operation, { enable_search: true }, /`enable_search`/],
      [operation, { route: 'fallback' }, /`route`/],
    ]),
    [chatCompletions, { store: true }, /`store`/],
    [chatCompletions, { web_search_options: {} }, /`web_search_options`/],
    [chatCompletions, { moderation: { model: 'm' } }, /`moderation`/],
    [
      chatCompletions,
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      /by id/,
    ],
  ]
  for (const [operation, fields, message] of asking) {
    test(`${operation.name} ${JSON.stringify(fields)} is refused unless the operator allows it`, () => {
      const body = { ...plain, ...fields }
      assert.match(faultOf(operation, body), message)
      factsOf(operation, body, { allowed: operatorFeatures })
    })
  }

  test('passes if it requests nothing', () => {
    const search = { tools: [{ type: 'web_search_20250305' }] }
    factsOf(chatCompletions, { ...plain, store: false, moderation: null, enable_search: false })
    factsOf(messagesCreate, { ...plain, container: null, ...search })
  })

  test('of an aggregator counts as work of the vendor, and names models that may answer', () => {
    for (const operation of both) {
      const extras = (fields: object) =>
        factsOf(operation, { ...plain, ...fields }, { allowed: operatorFeatures }).extras
      assert.deepEqual(extras({ models: ['a', 1, 'b'] }).otherModels, ['a', 'b'])
      assert.equal(extras({ models: ['a'] }).serverTools, undefined)
      for (const fields of [{ plugins: [] }, { search_parameters: {} }, { enable_search: true }])
        assert.equal(extras(fields).serverTools?.uses, 10)
    }
  })

  test('is refused if the operator allows another one', () => {
    const body = { ...plain, store: true }
    assert.match(faultOf(chatCompletions, body, { allowed: ['threads'] }), /`store`/)
  })
})
