/**
 * Request and answer bodies on their way through a whole gateway, compared to the byte. The vendor
 * is scripted, so that it can say anything in any pieces; requests go out over bare sockets, so that
 * they come in any pieces.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { connectRaw, post, type RawAnswer } from '../support/http-client.ts'
import { chatPath, messagesPath, responsesPath } from '../support/requests.ts'
import { cutAt, writePieces } from '../support/scripted-vendor.ts'
import { readTranscripts, type Transcript } from '../transcripts/replay.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const formats = {
  messages: { path: messagesPath, model: 'large-1' },
  chat: { path: chatPath, model: 'chat-1' },
  responses: { path: responsesPath, model: 'chat-1' },
} as const
type FormatName = keyof typeof formats
const formatNames = ['messages', 'chat', 'responses'] as const

/** What the request's fields for its limit and its prompt are called. */
const fieldNames = {
  messages: { limit: 'max_tokens', prompt: 'messages' },
  chat: { limit: 'max_tokens', prompt: 'messages' },
  responses: { limit: 'max_output_tokens', prompt: 'input' },
} as const

const plainAnswers: Readonly<Record<FormatName, string>> = {
  messages:
    '{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],' +
    '"usage":{"input_tokens":3,"output_tokens":1}}',
  chat:
    '{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",' +
    '"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}',
  responses:
    '{"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message",' +
    '"role":"assistant","content":[{"type":"output_text","text":"Hi"}]}],' +
    '"usage":{"input_tokens":3,"output_tokens":1}}',
}

function answerJson(format: FormatName, body: Buffer | string = plainAnswers[format]): void {
  const bytes = Buffer.from(body)
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
    response.end(bytes)
  })
}

function requestHead(format: FormatName, bodyBytes: number): string {
  return (
    `POST ${formats[format].path} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${account.key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${bodyBytes}\r\nconnection: close\r\n\r\n`
  )
}

/** Sends a body in pieces, each a write of its own, the first together with the head. */
async function postPieces(format: FormatName, pieces: readonly Buffer[]): Promise<RawAnswer> {
  const connection = await connectRaw(gateway.url)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const [first = Buffer.alloc(0), ...rest] = pieces
  await connection.writePieces([
    Buffer.concat([Buffer.from(requestHead(format, length)), first]),
    ...rest,
  ])
  const answer = await connection.next()
  connection.close()
  assert.ok(answer !== undefined, 'the gateway closed without an answer')
  return answer
}

// --- raw JSON text, as no serialiser writes it -----------------------------------------------------

const space = fc.constantFrom('', '', '', ' ', '\r\n', '\n\t', '  ')
const numberText = fc.constantFrom(
  '0',
  '-0',
  '1.0',
  '1e2',
  '1E+2',
  '0.10',
  '123456789012345678901234567890',
  '9007199254740993',
  '-1.50e-3',
  '1e-400',
)
const stringText = fc.oneof(
  fc.constantFrom(
    '"\\u0061\\/\\n\\ud83d\\ude00"',
    '"naïve 日本 🎉"',
    '"\\ud800 alone"',
    '"[DONE]"',
    '"\\"model\\":\\"x\\""',
    '""',
    '"data: \\n\\n"',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text)),
)
const { value: valueText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    numberText,
    stringText,
    fc.constantFrom('true', 'false', 'null'),
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    // Names repeat on purpose: inside a field that is not read, a body may contain anything.
    fc
      .array(fc.tuple(space, fc.constantFrom('a', 'model', 'a\\u0062'), space, tie('value')), {
        maxLength: 3,
      })
      .map((items) => {
        const members = items.map(([s1, name, s2, value]) => `${s1}"${name}"${s2}:${s1}${value}`)
        return `{${members.join(',')}}`
      }),
  ),
}))

const nameText = fc
  .tuple(fc.constantFrom('x_unknown', 'tool_choice', 'metadata', 'naïve', '__proto__'), fc.nat(99))
  .map(([name, number]) => `"${name}${number}"`)

/** Members of an object in any order, with any white space around them. */
function objectText(members: readonly (readonly [string, string])[], spaces: string): string {
  const text = members.map(([name, value]) => `${spaces}${name}${spaces}:${value}${spaces}`)
  return `${spaces}{${text.join(',')}}${spaces}`
}

const tools =
  '[{"name":"get_weather","description":"d","input_schema":{"type":"object",' +
  '"properties":{"city":{"type":"string","pattern":"^\\\\w+$"}},"required":["city"]}}, ' +
  '{"type":"function","function":{"name":"f","parameters":{"a":1.0,"a":1e2}}}]'
const toolTurns =
  '[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking",' +
  '"thinking":"hm","signature":"c2ln\\/=="},{"type":"tool_use","id":"t1","name":"get_weather",' +
  '"input":{"city":"\\u00dc","n":1.0}}]},{"role":"user","content":[{"type":"tool_result",' +
  '"tool_use_id":"t1","content":[{"type":"text","text":"12°"}]}]}]'

const requestText = (format: FormatName): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.uniqueArray(fc.tuple(nameText, valueText), { maxLength: 4, selector: ([name]) => name }),
      fc.constantFrom('16', '16.0', '1e2', '1.6E1'),
      fc.constantFrom(`"${formats[format].model}"`, `"\\u00${hexOf(formats[format].model)}"`),
      fc.constantFrom('[{"role":"user","content":"hi"}]', toolTurns),
      fc.boolean(),
      space,
    )
    .chain(([unknown, limit, model, messages, hasTools, spaces]) => {
      const members: [string, string][] = [
        ...unknown.map(([name, value]): [string, string] => [name, value]),
        ['"model"', model],
        [`"${fieldNames[format].limit}"`, limit],
        [`"${fieldNames[format].prompt}"`, messages],
        ...(hasTools ? [['"tools"', tools] as [string, string]] : []),
      ]
      return fc
        .shuffledSubarray(members, { minLength: members.length })
        .map((shuffled) => objectText(shuffled, spaces))
    })

/** The first letter as the digits of an escape, the rest as it stands. */
function hexOf(name: string): string {
  return name.charCodeAt(0).toString(16).padStart(2, '0') + name.slice(1)
}

for (const format of formatNames)
  test(`property: a ${format} request reaches the vendor to the byte, however it is cut`, async () => {
    answerJson(format)
    await fc.assert(
      fc.asyncProperty(
        requestText(format),
        fc.array(fc.nat(1_000), { maxLength: 6 }),
        async (text, places) => {
          const body = Buffer.from(text)
          const answer = await postPieces(format, cutAt(body, places))
          assert.equal(answer.status, 200, `${text} → ${answer.body.toString()}`)
          assert.equal(vendor.last?.body.toString('latin1'), body.toString('latin1'))
        },
      ),
      { numRuns: 60 },
    )
  })

test('a request that comes one byte per write reaches the vendor as it was', async () => {
  answerJson('messages')
  const text = `\r\n{ "max_tokens" : 1e1,\r\n"model":"large-1","messages":${toolTurns},"ü":"🎉" }\r\n`
  const body = Buffer.from(text)
  const answer = await postPieces(
    'messages',
    cutAt(
      body,
      [...body].map((_byte, index) => index),
    ),
  )
  assert.equal(answer.status, 200)
  assert.deepEqual(vendor.last?.body, body)
})

test('a request sent in HTTP chunks reaches the vendor with a content-length', async () => {
  answerJson('chat')
  const connection = await connectRaw(gateway.url)
  const head =
    `POST ${chatPath} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${account.key}\r\n` +
    'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  const body = '{"model":"chat-1","max_tokens":5,"messages":[{"role":"user","content":"ü"}]}'
  const pieces = cutAt(Buffer.from(body), [1, 2, 30, 73])
  connection.write(head)
  for (const piece of pieces)
    connection.write(
      Buffer.concat([Buffer.from(`${piece.length.toString(16)};x=y\r\n`), piece, crlf]),
    )
  connection.write('0\r\nx-trailer: dropped\r\n\r\n')
  assert.equal((await connection.next())?.status, 200)
  connection.close()
  assert.equal(vendor.last?.body.toString(), body)
  const headers = lowerCase(vendor.last?.rawHeaders ?? [])
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)))
  assert.equal(headers.has('transfer-encoding'), false)
  assert.equal(headers.has('x-trailer'), false)
})

const crlf = Buffer.from('\r\n')

function lowerCase(rawHeaders: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.set((rawHeaders[index] ?? '').toLowerCase(), rawHeaders[index + 1] ?? '')
  return headers
}

// --- answers -------------------------------------------------------------------------------------

const answerText = (format: FormatName): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.uniqueArray(fc.tuple(nameText, valueText), { maxLength: 4, selector: ([name]) => name }),
      space,
    )
    .map(([unknown, spaces]) => {
      const known = plainAnswers[format].slice(1, -1)
      const extra = unknown.map(([name, value]) => `${spaces}${name}:${spaces}${value}`)
      return `${spaces}{${[known, ...extra].join(',')}${spaces}}${spaces}`
    })

for (const format of formatNames)
  test(`property: a whole ${format} answer reaches the client to the byte, however it is cut`, async () => {
    await fc.assert(
      fc.asyncProperty(
        answerText(format),
        fc.array(fc.nat(600), { maxLength: 6 }),
        fc.boolean(),
        async (text, places, isChunked) => {
          const body = Buffer.from(text)
          vendor.answer(async (response) => {
            const length = isChunked ? {} : { 'content-length': body.length }
            response.writeHead(200, { 'content-type': 'application/json', ...length })
            await writePieces(response, cutAt(body, places))
            response.end()
          })
          const answer = await post(gateway.url + formats[format].path, account.key, {
            model: formats[format].model,
            [fieldNames[format].limit]: 16,
            [fieldNames[format].prompt]: [{ role: 'user', content: 'hi' }],
          })
          assert.equal(answer.status, 200)
          assert.ok(answer.isComplete)
          assert.equal(answer.body.toString('latin1'), body.toString('latin1'))
        },
      ),
      { numRuns: 40 },
    )
  })

function askStream(format: FormatName, fields: object = {}): ReturnType<typeof post> {
  return post(gateway.url + formats[format].path, account.key, {
    model: formats[format].model,
    [fieldNames[format].limit]: 4_096,
    stream: true,
    [fieldNames[format].prompt]: [{ role: 'user', content: 'hi' }],
    ...fields,
  })
}

function answerStream(pieces: readonly Buffer[]): void {
  vendor.answer(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    await writePieces(response, pieces)
    response.end()
  })
}

/** What a client must get of a transcript that ends as it should. */
function expectedText({ text, expected }: Transcript, lineEnd: string): string {
  let seen = text
  for (const frame of expected.dropped ?? []) seen = seen.replace(frame, '')
  return seen.replaceAll('\n', lineEnd)
}

for (const format of formatNames) {
  const whole = readTranscripts(format).filter(
    ({ expected }) => expected.isTerminated !== false && expected.error === undefined,
  )
  test(`property: every recorded ${format} stream reaches the client to the byte, however it is cut`, async () => {
    assert.ok(whole.length >= 8)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...whole),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(4_000), { maxLength: 40 }),
        async (transcript, lineEnd, places) => {
          answerStream(cutAt(Buffer.from(transcript.text.replaceAll('\n', lineEnd)), places))
          const asksUsage = transcript.expected.facts?.asksUsageChunk === true
          const answer = await askStream(
            format,
            asksUsage ? { stream_options: { include_usage: true } } : {},
          )
          assert.equal(answer.status, 200, transcript.name)
          assert.ok(answer.isComplete, transcript.name)
          assert.equal(answer.body.toString(), expectedText(transcript, lineEnd), transcript.name)
        },
      ),
      { numRuns: 60 },
    )
  })

  test(`every recorded ${format} stream survives one-byte writes, half characters included`, async () => {
    for (const transcript of whole) {
      const bytes = Buffer.from(transcript.text)
      answerStream(
        cutAt(
          bytes,
          [...bytes].map((_byte, index) => index),
        ),
      )
      const asksUsage = transcript.expected.facts?.asksUsageChunk === true
      const answer = await askStream(
        format,
        asksUsage ? { stream_options: { include_usage: true } } : {},
      )
      assert.equal(answer.body.toString(), expectedText(transcript, '\n'), transcript.name)
    }
  })
}

const messagesStream = (middle: string): string =>
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",' +
  '"role":"assistant","model":"large-1","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}\n\n' +
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,' +
  '"content_block":{"type":"text","text":""}}\n\n' +
  middle +
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' +
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},' +
  '"usage":{"output_tokens":5}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'

const chatStream = (middle: string): string =>
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":' +
  '{"role":"assistant","content":""}}]}\n\n' +
  middle +
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},' +
  '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

const responsesStream = (middle: string): string =>
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' +
  'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,' +
  '"item":{"type":"message","id":"msg_1"}}\n\n' +
  middle +
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","output":[],' +
  '"usage":{"input_tokens":3,"output_tokens":5}}}\n\n'

const streams: Readonly<Record<FormatName, (middle: string) => string>> = {
  messages: messagesStream,
  chat: chatStream,
  responses: responsesStream,
}

function responsesDelta(text: string): string {
  return (
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta",' +
    `"output_index":0,"delta":"${text}"}\n\n`
  )
}

const strangeMiddles: Readonly<Record<FormatName, Readonly<Record<string, Buffer>>>> = {
  messages: {
    'a comment and a ping': Buffer.from(': ping\n\n:\n\nevent: ping\ndata: {"type": "ping"}\n\n'),
    'an unknown event': Buffer.from(
      'event: brand_new\ndata: {"type":"brand_new","n":1.0,"u":"\\u00e9"}\n\n',
    ),
    'an event without data': Buffer.from('event: brand_new\n\n'),
    'ids and retries': Buffer.from(
      'id: 7\nretry: 100\nevent: ping\ndata: {"type":"ping"}\n\n\n\nfoo\n\n',
    ),
    'data over several lines': Buffer.from(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,\n' +
        'data: "delta":{"type":"text_delta","text":"a"}}\n\n',
    ),
    'bytes that are no UTF-8': Buffer.from(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":' +
        '{"type":"text_delta","text":"\xff\xc3("}}\n\n',
      'latin1',
    ),
    'an event of one megabyte': Buffer.from(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":' +
        `{"type":"text_delta","text":"${'🎉x'.repeat(200_000)}"}}\n\n`,
    ),
    'an event of three megabytes': Buffer.from(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":' +
        `{"type":"text_delta","text":"${'y'.repeat(3_000_000)}"}}\n\n`,
    ),
  },
  chat: {
    'a comment': Buffer.from(': ping\n\n: OPENROUTER PROCESSING\n\n:\n\n'),
    'an unknown chunk': Buffer.from('data: {"object":"brand.new","n":1.0,"u":"\\u00e9"}\n\n'),
    'a chunk without choices or counts': Buffer.from(
      'data: {"id":"c","choices":[],"prompt_filter_results":[{"index":0}],"usage":null}\n\n',
    ),
    'no space behind the colon': Buffer.from(
      'data:{"id":"c","choices":[{"index":0,"delta":{"content":"a"}}],"error":null}\n\n',
    ),
    'bytes that are no UTF-8': Buffer.from(
      'data: {"id":"c","choices":[{"index":0,"delta":{"content":"\xff\xc3("}}]}\n\n',
      'latin1',
    ),
    'a chunk of one megabyte': Buffer.from(
      `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${'🎉x'.repeat(200_000)}"}}]}\n\n`,
    ),
    'a chunk of three megabytes': Buffer.from(
      `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${'y'.repeat(3_000_000)}"}}]}\n\n`,
    ),
  },
  responses: {
    'a comment and a keepalive': Buffer.from(
      ': ping\n\n:\n\nevent: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n',
    ),
    'an unknown event': Buffer.from(
      'event: brand.new\ndata: {"type":"brand.new","n":1.0,"u":"\\u00e9"}\n\n',
    ),
    'an event without data': Buffer.from('event: response.brand_new\n\n'),
    'a mark of the end before it': Buffer.from('data: [DONE]\n\n'),
    'data over several lines': Buffer.from(
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta",\n' +
        'data: "output_index":0,"delta":"a"}\n\n',
    ),
    'bytes that are no UTF-8': Buffer.from(responsesDelta('\xff\xc3('), 'latin1'),
    'an event of one megabyte': Buffer.from(responsesDelta('🎉x'.repeat(200_000))),
    'an event of three megabytes': Buffer.from(responsesDelta('y'.repeat(3_000_000))),
  },
}

for (const format of formatNames)
  for (const [name, middle] of Object.entries(strangeMiddles[format]))
    test(`${name} in a ${format} stream passes as it came`, async () => {
      const mark = '%middle%'
      const text = streams[format](mark)
      const [start = '', end = ''] = text.split(mark)
      const bytes = Buffer.concat([Buffer.from(start), middle, Buffer.from(end)])
      const cuts = [start.length + 20, start.length + 100_001, bytes.length - 3]
      answerStream(cutAt(bytes, cuts))
      const answer = await askStream(format)
      assert.ok(answer.isComplete)
      assert.ok(answer.body.equals(bytes), `${answer.body.length} of ${bytes.length} bytes`)
    })

test('a byte order mark in front of a stream passes as it came', async () => {
  for (const format of formatNames) {
    const text = streams[format]('')
    const bytes = Buffer.from(`\uFEFF${text}`)
    answerStream(cutAt(bytes, [1, 2, 3, 10]))
    assert.deepEqual((await askStream(format)).body, bytes)
  }
})

test('a stream that the vendor cuts is passed on and does not look complete', async () => {
  for (const format of formatNames) {
    const bytes = Buffer.from(streams[format](''))
    const cut = bytes.subarray(0, 230)
    vendor.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await writePieces(response, [cut])
      response.socket?.resetAndDestroy()
    })
    const answer = await askStream(format)
    assert.equal(answer.isComplete, false)
    const text = answer.body.toString()
    const firstEvents = cut.toString().slice(0, cut.toString().lastIndexOf('\n\n') + 2)
    assert.ok(text.startsWith(firstEvents))
    assert.match(text, format === 'chat' ? /\ndata: \{"error"/ : /\nevent: error\ndata: \{/)
  }
})
