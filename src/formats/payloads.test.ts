/**
 * What prompts come to, likely and at most: images, documents, audio and whatever else bytes do not bound, at
 * every place where some vendor reads it. The tricks are those by which accounts went far below zero.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ForwardedOperation, PromptTokens } from './format.ts'
import { operatorFeatures } from './format.ts'
import { chatCompletions } from './chat/index.ts'
import { messagesCreate } from './messages/index.ts'
import { responsesCreate } from './responses/index.ts'

const allowedFeatures = new Set(operatorFeatures)

function promptOf(operation: ForwardedOperation, fields: object): PromptTokens {
  const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, ...fields }))
  const facts = operation.readRequest(body, { requireMaxTokens: false, allowedFeatures })
  assert.ok('prompt' in facts, JSON.stringify(facts))
  return facts.prompt
}

const say = (content: unknown): object => ({ messages: [{ role: 'user', content }] })
const sayItem = (content: unknown): object => ({ input: [{ role: 'user', content }] })
const formats = [
  ['messages', messagesCreate, say],
  ['chat', chatCompletions, say],
  ['responses', responsesCreate, sayItem],
] as const

const address = 'https://site.example/a'
const base64 = 'QUJD'.repeat(250_000)
const png = `data:image/png;base64,${base64}`
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'QUJD'.repeat(2_000) }

function isBetween(value: number, low: number, high: number): void {
  assert.ok(value >= low && value <= high, `${value} is not within ${low} and ${high}`)
}

describe('a prompt of text', () => {
  test('is at most a token per byte of the body and what vendors add', () => {
    for (const [, operation, sayThis] of formats) {
      const fields = sayThis('é'.repeat(3_000))
      const bytes = Buffer.byteLength(JSON.stringify({ model: 'm', max_tokens: 9, ...fields }))
      const { likely, ...rest } = promptOf(operation, fields)
      assert.equal(likely, Math.ceil(6_000 / 4.2))
      assert.deepEqual(rest, { audioLikely: 0, most: bytes + 2_000, images: 0, audioMost: 0 })
    }
  })

  test('is more with tools of the vendor that the client runs', () => {
    const added = (tools: object[]): number =>
      promptOf(messagesCreate, { ...say('Hi'), tools }).most -
      JSON.stringify({ model: 'm', max_tokens: 9, ...say('Hi'), tools }).length
    assert.equal(
      added([
        { name: 'f', input_schema: {} },
        { type: 'custom', name: 'g' },
      ]),
      2_000,
    )
    assert.equal(added([{ type: 'bash_20250124', name: 'bash' }]), 5_000)
  })

  test('is text under any field name', () => {
    const source = { type: 'text', media_type: 'text/plain', data: base64 }
    const input = { type: 'tool_use', id: 'x', name: 'f', input: { type: 'base64', data: base64 } }
    for (const block of [{ type: 'document', source }, input])
      isBetween(promptOf(messagesCreate, say([block])).most, 1e6, 1e6 + 2_400)
    const odd = { type: 'text', data: base64, text: '' }
    isBetween(promptOf(chatCompletions, say([odd])).most, 1e6, 1e6 + 2_400)
  })

  test('is bounded in every part that clients send back', () => {
    const result = [{ type: 'text', text: 'x' }]
    const blocks = [
      { type: 'thinking', thinking: 'x', signature: 'y' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use', id: 'x', name: 'f', input: {} },
      { type: 'tool_result', tool_use_id: 'x', content: result },
      { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', content: [{ type: 'web_search_result', url: address }] },
      { type: 'mcp_tool_result', content: result },
      { type: 'search_result', source: address, title: 't', content: result },
      { type: 'compaction', content: 'a summary' },
    ]
    for (const block of blocks)
      assert.ok(promptOf(messagesCreate, say([block])).most < 3_000, block.type)
    const spoken = [
      { type: 'text', text: 'x' },
      { type: 'refusal', refusal: 'x' },
    ]
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: spoken, tool_calls: [call], audio: null }
    assert.ok(promptOf(chatCompletions, { messages: [message] }).most < 3_000)
    const items = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'y' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
      { type: 'local_shell_call', action: { type: 'exec', command: ['ls'] } },
      { type: 'compaction', encrypted_content: 'x' },
    ]
    for (const item of items)
      assert.ok(promptOf(responsesCreate, { input: [item] }).most < 3_000, item.type)
  })
})

describe('an image', () => {
  const inPlaces: readonly [ForwardedOperation, object][] = [
    [
      messagesCreate,
      say([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }]),
    ],
    [messagesCreate, say([{ type: 'image', source: { type: 'url', url: address } }])],
    [
      messagesCreate,
      say([
        {
          type: 'tool_result',
          tool_use_id: 'x',
          content: [{ type: 'image', source: { type: 'url', url: address } }],
        },
      ]),
    ],
    [chatCompletions, say([{ type: 'image_url', image_url: { url: png } }])],
    [chatCompletions, say([{ type: 'image_url', image_url: address }])],
    [
      chatCompletions,
      {
        messages: [
          {
            role: 'assistant',
            content: 'x',
            images: [{ type: 'image_url', image_url: { url: png } }],
          },
        ],
      },
    ],
    [responsesCreate, sayItem([{ type: 'input_image', image_url: png }])],
    [responsesCreate, { input: [{ type: 'image_generation_call', result: base64 }] }],
  ]
  test('is counted as one, wherever it is, and its base64 is no text', () => {
    for (const [operation, fields] of inPlaces) {
      const { likely, most, images } = promptOf(operation, fields)
      const where = JSON.stringify(fields).slice(0, 90)
      assert.equal(images, 1, where)
      isBetween(likely, 1_500, 1_501)
      assert.ok(most < 2_400, where)
    }
  })
})

describe('audio', () => {
  const heard = (format: unknown, data = base64): PromptTokens =>
    promptOf(chatCompletions, say([{ type: 'input_audio', input_audio: { data, format } }]))

  test('is bounded by its bytes, and likely to be what is usual', () => {
    for (const format of ['wav', 'pcm16']) {
      const { audioLikely, audioMost, most } = heard(format)
      assert.deepEqual([audioLikely, audioMost], [157, 7_500])
      assert.ok(most < 2_400)
    }
    for (const format of ['mp3', undefined]) {
      const { audioLikely, audioMost } = heard(format)
      assert.deepEqual([audioLikely, audioMost], [469, 750_000])
    }
    assert.equal(heard('wav', `data:audio/wav;base64,${base64}`).audioMost, 7_501)
  })
})

/** Each of them let a body of a few bytes cost what it liked. */
const unbounded: readonly [ForwardedOperation, string, object][] = [
  ...formats.flatMap(([name, operation, sayThis]) =>
    [
      { text: 'no type' },
      { type: 'no_such_part', text: 'x' },
      { type: 'video', source: { type: 'url', url: address } },
      { type: 'video_url', video_url: { url: address } },
      { type: 'input_video', input_video: { data: 'QUJD' } },
      { type: 'audio_url', audio_url: address },
      { type: 'document_url', document_url: address },
      { type: name === 'responses' ? 'input_text' : 'text', text: 'x', video_url: address },
      {
        type: name === 'responses' ? 'input_text' : 'text',
        text: 'x',
        file: { file_url: address },
      },
    ].map((part): [ForwardedOperation, string, object] => [
      operation,
      `${name} ${JSON.stringify(part)}`,
      sayThis([part]),
    ]),
  ),
  ...[address, `ftp://site.example/a`, ' site.example/a.wav', undefined].map(
    (data): [ForwardedOperation, string, object] => [
      chatCompletions,
      `audio at ${data}`,
      say([{ type: 'input_audio', input_audio: { data, format: 'wav' } }]),
    ],
  ),
  [
    chatCompletions,
    'an earlier spoken answer',
    { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] },
  ],
  [chatCompletions, 'a file', say([{ type: 'file', file: { file_data: 'QUJD' } }])],
  [
    chatCompletions,
    'a document as an image',
    say([{ type: 'image_url', image_url: { url: 'data:application/pdf;base64,QUJD' } }]),
  ],
  [
    chatCompletions,
    'a document in a bucket as an image',
    say([{ type: 'image_url', image_url: { url: 'gs://bucket/a.pdf' } }]),
  ],
  ...['image_url', 'input_audio'].map((name): [ForwardedOperation, string, object] => [
    messagesCreate,
    `${name} in a text`,
    say([{ type: 'text', text: 'x', [name]: address }]),
  ]),
  [messagesCreate, 'a document', say([{ type: 'document', source: pdf }])],
  [messagesCreate, 'a document as an image', say([{ type: 'image', source: pdf }])],
  [
    messagesCreate,
    'a document that a tool has fetched',
    say([
      {
        type: 'web_fetch_tool_result',
        content: { type: 'web_fetch_result', content: { type: 'document', source: pdf } },
      },
    ]),
  ],
  [messagesCreate, 'a thread', { ...say('Hi'), thread: { id: 't' } }],
  [
    messagesCreate,
    'compaction',
    { ...say('Hi'), context_management: { edits: [{ type: 'compact_20260112' }] } },
  ],
  [
    responsesCreate,
    'compaction',
    { input: 'Hi', context_management: [{ type: 'compaction', compact_threshold: 9 }] },
  ],
  [responsesCreate, 'compaction as an item', { input: [{ type: 'compaction_trigger' }] }],
  [responsesCreate, 'an earlier answer', { input: 'Hi', previous_response_id: 'resp_1' }],
  [responsesCreate, 'an item by its id', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  [responsesCreate, 'a file', sayItem([{ type: 'input_file', file_data: 'QUJD' }])],
  [responsesCreate, 'a file by address', sayItem([{ type: 'input_file', file_url: address }])],
  [
    messagesCreate,
    'a tool that the vendor runs',
    { ...say('Hi'), tools: [{ type: 'web_fetch_1' }] },
  ],
]

describe('bytes do not bound', () => {
  for (const [operation, name, fields] of unbounded)
    test(name, () => {
      const { likely, most } = promptOf(operation, fields)
      assert.equal(most, Infinity)
      assert.ok(likely < 40_000)
    })

  test('audio where it can be anything', () => {
    const ids = { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }
    const { likely, audioMost } = promptOf(chatCompletions, ids)
    assert.deepEqual([likely, audioMost], [2_000, Infinity])
    assert.equal(promptOf(messagesCreate, say([{ type: 'document', source: pdf }])).audioMost, 0)
    const file = { type: 'input_file', file_url: address }
    assert.equal(promptOf(responsesCreate, sayItem([file])).audioMost, 0)
    const both = { ...file, audio_url: address }
    for (const [, operation, sayThis] of formats)
      assert.equal(promptOf(operation, sayThis([both])).audioMost, Infinity)
  })
})

test('a document is likely to be 3,000 tokens for each 20 KB', () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: base64 }
  isBetween(promptOf(messagesCreate, say([{ type: 'document', source }])).likely, 114_000, 114_001)
  const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64}` }
  isBetween(promptOf(chatCompletions, say([{ type: 'file', file }])).likely, 114_000, 114_001)
  const remote = { type: 'document', source: { type: 'url', url: address } }
  assert.equal(promptOf(messagesCreate, say([remote])).likely, 3_000)
})
