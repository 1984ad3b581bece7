/**
 * Any whole answer of any operation has the same reading, whether JSON.parse has read all of it or only the
 * members that the operation names were read, wherever its bytes were cut.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { chatCompletions } from './chat/index.ts'
import { embeddingsMembers } from './embeddings/answer.ts'
import type { RequestFacts, VendorOperation } from './format.ts'
import { JsonExtract } from './json-extract.ts'
import { parseBody, parseJson, type WantedJson } from './json.ts'
import { messagesCreate } from './messages/index.ts'
import { outputTextBytesMax } from './output.ts'
import { formatOf } from './registry.ts'
import { responsesCreate } from './responses/index.ts'
import { errorMembers, readVendorError } from './vendor-error.ts'

/** One of those that read the same members. */
const operations: readonly VendorOperation[] = [
  ...new Map(
    [formatOf('chat'), formatOf('messages')]
      .flatMap((format) => format.operations)
      .filter((operation) => operation.kind === 'forwarded' || operation.kind === 'stored')
      .map((operation) => [operation.answerMembers, operation]),
  ).values(),
]

const facts: RequestFacts = { ...plainFacts, storesAnswer: true, cacheWrite: 'long' }

function extract(wanted: WantedJson, bytes: Buffer, cuts: readonly number[]): unknown {
  const extracted = new JsonExtract(wanted)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? bytes.length))
    extracted.push(bytes, at, end)
    at = end
  }
  return extracted.end()
}

/** The reading as plain values. */
function readingOf(operation: VendorOperation, answer: unknown): unknown {
  const read = operation.readAnswer(answer, facts)
  if (read.kind !== 'answer') return read
  const { text, bytes, audioBytes } = read.reading.output
  return { ...read.reading, output: { text, bytes, audioBytes } }
}

function assertSame(bytes: Buffer, cuts: readonly number[], read = operations): void {
  const parsed = parseBody(bytes)
  for (const operation of read) {
    const extracted = extract(operation.answerMembers, bytes, cuts)
    assert.deepEqual(readingOf(operation, extracted), readingOf(operation, parsed), operation.name)
  }
  if (read !== operations) return
  const error = readVendorError(extract(errorMembers, bytes, cuts))
  assert.deepEqual(error, readVendorError(parsed))
}

const members = [...new Set(operations.flatMap(({ answerMembers }) => [...answerMembers.names]))]
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n')
const plainText = fc.constantFrom(
  '',
  'a',
  'Hellö',
  '👋',
  '\u2028',
  '{}[],:',
  'message',
  'reasoning',
  'text',
  'fallback',
  'stop',
  'content_filter',
  'error',
  'refusal',
  'failed',
  'search',
  'web_search_call',
  'standard',
)
const escapes = fc.constantFrom(
  ...String.raw`\n \" \\ \/ \u0000 \u00e9 \u0061 \ud83d\ude00 \ud83d \ude00 \ud83dx \uD83D\n`.split(
    ' ',
  ),
)
/** The contents of a string, spelled with escapes or without. */
const spelled = fc
  .array(fc.oneof(plainText, escapes), { maxLength: 4 })
  .map((parts) => parts.join('').replaceAll(/(?<!\\)"/g, ''))
const numbers = fc.constantFrom(
  '0',
  '1',
  '7',
  '12',
  '300',
  '-1',
  '-0',
  '1.5',
  '1e2',
  '1E-2',
  '9007199254740991',
  '9007199254740993',
  '1e400',
  '-1e400',
  '5e-324',
  '0.1e1',
  '123456789012345678901234567890',
)
const words = fc.constantFrom('true', 'false', 'null')
const broken = fc.constantFrom(
  '01',
  '+1',
  '1.',
  '.5',
  '1e',
  'nul',
  'NaN',
  "'a'",
  '"\t"',
  '"\\x"',
  '"\\u00g0"',
  '[1,]',
  '{,}',
  '{"a":1,}',
  '[}',
  '{"a"}',
  '{"a" 1}',
  '{1:2}',
  '"a',
  ',',
  ':',
  '1 2',
  '\ufeff1',
  '\u00a0',
)

/** JSON texts that are not what JSON.stringify writes: names twice, in any order and any spelling. */
const { value, object } = fc.letrec<{
  value: string
  object: string
  list: string
  member: string
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    { arbitrary: numbers, weight: 4 },
    words,
    { arbitrary: spelled.map((text) => `"${text}"`), weight: 4 },
    { arbitrary: broken, weight: 0 },
    { arbitrary: tie('object'), weight: 6 },
    { arbitrary: tie('list'), weight: 4 },
  ),
  member: fc
    .tuple(
      fc.oneof(
        { arbitrary: fc.constantFrom(...members), weight: 12 },
        fc.constantFrom('__proto__', '1', '0', 'x_groq', 'constructor', String.raw`\u0075sage`),
        spelled,
      ),
      space,
      tie('value'),
    )
    .map(([name, gap, one]) => `"${name}"${gap}:${gap}${one}`),
  object: fc
    .tuple(fc.array(tie('member'), { maxLength: 7 }), space)
    .map(([list, gap]) => `{${gap}${list.join(`${gap},${gap}`)}${gap}}`),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
    .map(([list, gap]) => `[${gap}${list.join(`${gap},${gap}`)}${gap}]`),
}))

const cuts = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 })

/** Members that make an answer one of its format, before and behind any others. */
const answer = fc
  .tuple(fc.array(object, { maxLength: 4 }), fc.array(object, { maxLength: 4 }), object, object)
  .chain(([list, parts, usage, rest]) => {
    const content = `[${parts.join(',')}]`
    const choices = list.map((one) => `{"message":{"content":${content}},${one.slice(1)}`)
    const items = list.map((one) => `{"type":"message","content":${content},${one.slice(1)}`)
    const joined = (all: readonly string[]): string => all.join(',').replaceAll(/,\s*\}/g, '}')
    const beginning = fc.constantFrom(
      `"choices":[${joined(choices)}],"usage":${usage}`,
      `"content":[${list.join(',')}],"usage":${usage}`,
      `"output":[${joined(items)}],"usage":${usage}`,
      `"data":${content},"usage":${usage}`,
      `"input_tokens":5,"error":${usage}`,
    )
    return fc
      .tuple(beginning, fc.boolean())
      .map(([own, isFirst]) =>
        isFirst ? `{${own},${rest.slice(1)}` : `${rest.slice(0, -1)},${own}}`,
      )
      .map((text) => text.replaceAll(/,\s*\}/g, '}').replaceAll(/\{\s*,/g, '{'))
  })

const chatUsage = {
  prompt_tokens: 900,
  completion_tokens: 70,
  total_tokens: 1_000,
  reasoning_tokens: 30,
  prompt_tokens_details: {
    cached_tokens: 50,
    audio_tokens: 20,
    cache_write_tokens: 40,
    cached_tokens_details: { audio_tokens: 10 },
    cache_write_tokens_details: { ttl_12h_tokens: 9 },
  },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 8 },
  any: { web_search_requests: 2 },
}
const call = { function: { name: 'f', arguments: '{}' }, custom: { name: 'g', input: 'i' } }
const choice = {
  index: 4,
  finish_reason: 'stop',
  text: 'written',
  message: {
    content: [{ text: 'a' }, 'b'],
    refusal: 'no',
    reasoning: 'because',
    tool_calls: [call, { custom: call.custom }],
    function_call: call.function,
    audio: { data: 'QUJD', transcript: 'said' },
  },
}
const rates = {
  input_tokens: 9,
  output_tokens: 5,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 6,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
  service_tier: 'priority',
  speed: 'fast',
  inference_geo: 'us',
}
const item = {
  id: 'i',
  status: 'completed',
  content: [
    { type: 'output_text', text: 't', encrypted_content: 'inner' },
    { type: 'output_audio', data: 'QUJD', transcript: 'said', refusal: 'no' },
  ],
  summary: [{ text: 's' }],
  name: 'n',
  arguments: 'a',
  input: 'i',
  code: 'c',
  operation: { diff: 'd' },
  action: { type: 'search', commands: ['ls', 'rm'] },
  encrypted_content: 'secret',
  container_id: 'cntr',
}
const response = {
  id: 'r',
  store: true,
  status: 'completed',
  model: 'm',
  service_tier: 'flex',
  usage: { ...rates, input_tokens_details: { cached_tokens: 3 }, output_tokens_details: {} },
}
const calls = ['web_search', 'file_search', 'image_generation', 'code_interpreter']
/** Answers that have each member that is read. */
const samples: readonly object[] = [
  {
    model: 'm',
    service_tier: 'flex',
    choices: [choice, { ...choice, index: 5 }],
    usage: chatUsage,
  },
  { choices: [{ ...choice, usage: chatUsage }] },
  {
    choices: [choice],
    x_groq: { usage: chatUsage },
    x_other: { usage: {} },
    x_list: [{ usage: {} }],
  },
  { choices: [{ message: { reasoning_content: 'r', content: 'c' }, finish_reason: 'error' }] },
  {
    type: 'message',
    model: 'm',
    stop_reason: 'tool_use',
    stop_sequence: 'A',
    content: [
      { type: 'text', text: 't' },
      { type: 'thinking', thinking: 'h', signature: 's' },
      {
        type: 'tool_use',
        name: 'f',
        input: parseJson('{"any":[1,"a",{"b":null}],"__proto__":2}'),
      },
      { type: 'web_search_tool_result', content: [] },
      { type: 'fallback', to: { model: 'o' } },
    ],
    usage: { ...rates, server_tool_use: { web_search_requests: 3 } },
  },
  {
    content: [],
    usage: {
      iterations: [{ ...rates, type: 'message', model: 'n' }, { type: 'fallback_message' }],
    },
  },
  { type: 'error', content: [], error: { type: 'api_error', message: 'm', code: 'c' } },
  {
    ...response,
    output: [item, ...calls.map((name) => ({ ...item, type: `${name}_call`, id: name }))],
    tool_usage: { web_search: { num_requests: 2 } },
  },
  { ...response, output: [], incomplete_details: { reason: 'content_filter' } },
  { ...response, output: [], error: { message: { any: [1] }, type: 't', param: ['p'], code: 5 } },
  { ...response, output: [item], status: 'failed' },
  { data: [{ embedding: [1] }], model: 'e', usage: { total_tokens: 7 } },
  { data: [], error: { message: 'm' } },
  { error: { type: 't', code: 5, param: 'p', details: { error_code: 'd' }, message: 'm' } },
  { input_tokens: 5 },
]

test('an answer with each member is read as JSON.parse reads it', () => {
  for (const sample of samples) assertSame(Buffer.from(JSON.stringify(sample)), [7, 1_000])
})

test('so is any answer like one with each member', () => {
  const like = fc
    .tuple(fc.constantFrom(...samples), fc.nat(), value, fc.boolean())
    .map(([sample, place, other, isTwice]) => {
      const text = JSON.stringify(sample)
      const members = [...text.matchAll(/"\w+":/g)]
      const chosen = members[place % members.length]
      const at = (chosen?.index ?? 0) + (chosen?.[0].length ?? 1)
      const name = chosen?.[0] ?? ''
      // The member comes a second time, before or behind the first; or it is another value's.
      return isTwice
        ? `${text.slice(0, at - name.length)}${name}${other},${text.slice(at - name.length)}`
        : `${text.slice(0, at)}${other},${name}${text.slice(at)}`
    })
  fc.assert(
    fc.property(like, cuts, (text, parts) => {
      assertSame(Buffer.from(text), parts)
    }),
    { numRuns: 400 },
  )
})

test('the last of two members of any name counts', () => {
  for (const second of ['5', '{}', '[]', '"a"', '{"usage":{"prompt_tokens":2}}'])
    for (const third of ['5', '{}', '[]', '"a"', '{"usage":{"prompt_tokens":3}}']) {
      const any = '{"usage":{"prompt_tokens":1}}'
      assertSame(Buffer.from(`{"choices":[],"a":${any},"b":${second},"a":${third}}`), [9])
    }
})

test('any answer is read as JSON.parse reads it', () => {
  const property = fc.property(fc.oneof(answer, object, value), cuts, (text, parts) => {
    assertSame(Buffer.from(text), parts)
  })
  fc.assert(property, { numRuns: 500 })
})

test('any bytes are an answer where JSON.parse says so', () => {
  const damaged = fc.tuple(
    answer,
    fc.nat(),
    fc.oneof(broken, fc.uint8Array({ maxLength: 3 })),
    cuts,
  )
  const property = fc.property(damaged, ([text, place, other, parts]) => {
    const bytes = Buffer.from(text)
    const at = place % (bytes.length + 1)
    const inserted = Buffer.from(other)
    assertSame(Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]), parts)
    assertSame(bytes.subarray(0, at), parts)
    assertSame(Buffer.concat([bytes, inserted]), parts)
  })
  fc.assert(property, { numRuns: 200 })
  const mark = Buffer.from([0xef, 0xbb, 0xbf])
  assertSame(Buffer.concat([mark, Buffer.from('{"choices":[]}')]), [4])
  for (const text of [
    '',
    ' ',
    '1',
    '"a"',
    'null',
    '[]',
    '[{"error":{"message":"m"}}]',
    '{} {}',
    '{} 1',
  ])
    assertSame(Buffer.from(text), [1])
})

test('long texts, long lists and deep nesting change no reading', () => {
  const units = ['x', 'é', '👋', 'a\\n', '\\u00e9', '\\ud83d\\ude00', '\\ud83d', '\\\\']
  const large = units.map((unit) => {
    const { length } = Buffer.from(String(parseJson(`"${unit}"`)))
    return unit.repeat(Math.ceil((outputTextBytesMax * 1.2) / length))
  })
  const audio = `"audio":{"data":"${'QUJD'.repeat(100_000)}","transcript":"t"}`
  for (const text of large) {
    const message = `{"message":{"content":"a${text}","refusal":"${text}",${audio}},"finish_reason":"stop"}`
    const item = `{"type":"reasoning","id":"r","encrypted_content":"${text}","content":[{"text":"${text}"}]}`
    const parts = [1_003, 65_537]
    assertSame(Buffer.from(`{"choices":[${message},${message}]}`), parts, [chatCompletions])
    const block = `{"type":"text","text":"${text}"}`
    assertSame(Buffer.from(`{"content":[${block},{"text":"b"}]}`), parts, [messagesCreate])
    assertSame(Buffer.from(`{"output":[${item},${item}]}`), parts, [responsesCreate])
  }
  const tools = Array(2_000).fill('{"type":"tool_use","name":"f","input":{"a":[1,{"b":null}]}}')
  assertSame(Buffer.from(`{"content":[${tools.join(',')}],"extra":${nested(100_000)}}`), [65_536])
  assertSame(
    Buffer.from(`{"choices":[],"extra":${nested(100_000)},"usage":{"prompt_tokens":5}}`),
    [65_536],
  )
  const choices = Array.from({ length: 9_000 }, (_, at) => `{"index":${at},"finish_reason":"stop"}`)
  assertSame(Buffer.from(`{"choices":[${choices.join(',')}],"data":[]}`), [65_536])
})

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

test('what a large answer leaves out takes no memory', () => {
  const vectors = Buffer.from(
    `{"data":[{"embedding":[${Array(200_000).fill('0.0123').join(',')}]}]}`,
  )
  assert.deepEqual(extract(embeddingsMembers, vectors, [65_536]), { data: [{}] })
})
