import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { plainFacts, plainReading, replay } from '../../../test/transcripts/replay.ts'
import { chatFormat } from '../chat/index.ts'
import type { RequestFacts } from '../format.ts'
import { parseJson } from '../json.ts'
import { passedFrameBytesMax, readableFrameBytesMax } from '../stream.ts'
import { readVendorError } from '../vendor-error.ts'
import { responsesCreate } from './index.ts'

const facts: RequestFacts = { ...plainFacts, storesAnswer: true }
const usage = { input_tokens: 12, output_tokens: 7 }

function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

const created = event('response.created', { response: { id: 'resp_1', status: 'in_progress' } })

function textDelta(delta: string, output_index = 0): string {
  return event('response.output_text.delta', { output_index, delta })
}

function completed(output: readonly object[], fields: object = {}): string {
  const response = { id: 'resp_1', model: 'm', output, store: true, usage, ...fields }
  return event('response.completed', { response })
}

function message(text: string) {
  return { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] }
}

function cutInto(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('a whole answer', () => {
  function readWhole(body: object | string, read = facts) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return responsesCreate.readAnswer(parseJson(text), read)
  }

  test('that is none is not of the format', () => {
    for (const body of ['', '[]', '{}', { error: 'x' }, { choices: [] }, { output: 'x' }])
      assert.equal(readWhole(body).kind, 'not_the_format')
  })

  test('that failed is an error in the form of the vendor’s error bodies', () => {
    const failed = {
      status: 'failed',
      output: [],
      error: { code: 'invalid_prompt', message: 'No.' },
    }
    const answer = readWhole(failed)
    assert.ok(answer.kind === 'error')
    assert.deepEqual(answer.error, { type: undefined, code: 'invalid_prompt', message: 'No.' })
    assert.deepEqual(chatFormat.classifyEvent(answer.error), { fault: 'client', status: 400 })
    const error = { message: 'No.', type: 'server_error', param: null, code: 'invalid_prompt' }
    assert.deepEqual(JSON.parse(answer.errorEnvelope ?? ''), { error })
    assert.equal(readWhole({ status: 'failed', output: [], error: null }).kind, 'error')
  })

  const item = fc.oneof(
    fc.record({
      type: fc.constant('message'),
      content: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant('output_text'), text: fc.string({ unit: 'grapheme' }) }),
          fc.record({ type: fc.constant('refusal'), refusal: fc.string() }),
        ),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      type: fc.constant('reasoning'),
      summary: fc.array(fc.record({ text: fc.string() }), { maxLength: 2 }),
      encrypted_content: fc.option(fc.base64String()),
    }),
    fc.record({ type: fc.constant('function_call'), name: fc.string(), arguments: fc.string() }),
    fc.record({ type: fc.constant('custom_tool_call'), name: fc.string(), input: fc.string() }),
    fc.record({
      type: fc.constant('code_interpreter_call'),
      code: fc.string(),
      container_id: fc.constant('c'),
    }),
    fc.constant({ type: 'web_search_call', status: 'completed', action: { type: 'search' } }),
    fc.constant({ type: 'image_generation_call', status: 'completed', result: 'QUFB' }),
  )

  test('and the same answer streamed, in any pieces, have the same reading', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), fc.boolean(), sizes, (bare, store, cuts) => {
        const output = bare.map((one, index) => ({ id: `i${index}`, ...one }))
        const response = { id: 'resp_1', model: 'm', status: 'completed', output, store, usage }
        const whole = readWhole(response)
        assert.ok(whole.kind === 'answer')
        const stream = [created, ...output.flatMap(eventsOf), completed(output, response)].join('')
        const replayed = replay(responsesCreate, facts, cutInto(Buffer.from(stream), cuts))
        assert.equal(replayed.passed + replayed.held, stream)
        assert.deepEqual(replayed.reading, plainReading(whole.reading))
      }),
    )
  })

  function eventsOf(whole: Record<string, unknown>, output_index: number): string[] {
    const { type, id, name, status } = whole
    const pieces = piecesOf(whole).flatMap(([kind, text]) =>
      text === '' ? [] : [event(`response.${kind}.delta`, { output_index, delta: text })],
    )
    return [
      event('response.output_item.added', { output_index, item: { type, id, name, status } }),
      ...pieces,
      event('response.output_item.done', { output_index, item: whole }),
    ]
  }

  function piecesOf(whole: Record<string, unknown>): [string, string][] {
    const parts = (whole['content'] ?? whole['summary'] ?? []) as Record<string, string>[]
    const texts = whole as Record<string, string | undefined>
    return [
      ...parts.map((part): [string, string] =>
        part['refusal'] === undefined
          ? ['output_text', part['text'] ?? '']
          : ['refusal', part['refusal']],
      ),
      ['function_call_arguments', texts['arguments'] ?? ''],
      ['custom_tool_call_input', texts['input'] ?? ''],
      ['code_interpreter_call_code', texts['code'] ?? ''],
    ]
  }
})

describe('the beginning', () => {
  test('is not an answer while the vendor only says that it works', () => {
    const meter = responsesCreate.openMeter(facts)
    const working = ['response.queued', 'response.created', 'response.in_progress'] as const
    for (const type of working) meter.push(Buffer.from(event(type, { response: {} })))
    meter.push(Buffer.from(event('keepalive') + ': comment\n\n' + event('codex.rate_limits')))
    assert.deepEqual([meter.hasStarted, meter.eventCount], [false, 4])
    meter.push(Buffer.from(event('response.output_item.added', { item: { type: 'reasoning' } })))
    assert.deepEqual([meter.hasStarted, meter.reading().hasOutput], [true, true])
  })

  test('is an answer where it repeats more than is kept in memory', () => {
    const instructions = 'x'.repeat(300_000)
    const working = Buffer.from(event('response.created', { response: { instructions } }))
    const meter = responsesCreate.openMeter(facts)
    meter.push(working)
    assert.equal(meter.hasStarted, false)
    meter.push(working)
    assert.equal(meter.hasStarted, true)
    const longer = 'x'.repeat(readableFrameBytesMax)
    const large = event('response.created', { response: { id: 'resp_9', instructions: longer } })
    const replayed = replay(responsesCreate, facts, cutInto(Buffer.from(large), [65_536]))
    assert.equal(replayed.passed, large)
    assert.deepEqual(replayed.reading['made'], ['response resp_9'])
  })
})

describe('an answer of many megabytes', () => {
  const text = 'Lorem "ipsum" 👋\n'.repeat(300_000)
  const content = 'gAAAA'.repeat(400_000)
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: content }
  const image = { type: 'image_generation_call', id: 'ig_1', result: 'A'.repeat(3_000_000) }
  const output = [reasoning, image, message(text)]
  const piece = text.slice(0, text.length / 4)
  const stream = [
    created,
    event('response.output_item.done', { output_index: 0, item: reasoning }),
    event('response.output_item.done', { output_index: 1, item: image }),
    ...[1, 2, 3, 4].map(() => textDelta(piece, 2)),
    event('response.output_text.done', { output_index: 2, text }),
    completed(output),
  ].join('')
  const bytes = Buffer.from(stream)
  const expected = {
    usage: {
      parts: [{ model: 'm', counts: { input: 12, output: 7 }, promptTokens: 12 }],
      reported: { inputTokens: 12, outputTokens: 7, cacheTokens: 0 },
    },
    made: [
      'response resp_1',
      'item rs_1',
      `encrypted ${hash('sha256', content, 'base64url')}`,
      'item ig_1',
      'item msg_1',
    ],
  }

  test('has its counts and its state, and passes byte for byte, however it is cut', () => {
    assert.ok(bytes.length > 15 * readableFrameBytesMax)
    for (const size of [bytes.length, 65_536, 1_000_003, 16_384]) {
      const replayed = replay(responsesCreate, facts, cutInto(bytes, [size]))
      const { usage: counted, made, isFinal, vendorToolUses } = replayed.reading
      assert.ok(replayed.passed + replayed.held === stream, `cut to ${size}`)
      assert.ok(replayed.isTerminated && isFinal === true)
      assert.deepEqual({ usage: counted, made }, expected)
      assert.deepEqual(vendorToolUses, { image_generation: 1 })
    }
  })

  test('has the counts that a smaller one has, under the names of any vendor', () => {
    const counted = {
      input_tokens: 31,
      output_tokens: 7,
      total_tokens: 1_400,
      num_cached_tokens: 900,
      cache_creation_input_tokens: 400,
      cache_creation: { ephemeral_1h_input_tokens: 300 },
      reasoning_tokens: 62,
      server_tool_use_details: { web_search_requests: 2 },
    }
    const countsOf = (text: string) => {
      const meter = responsesCreate.openMeter(facts)
      const last = Buffer.from(completed([message(text)], { usage: counted }))
      for (const chunk of cutInto(last, [65_536])) meter.push(chunk)
      return meter.reading().usage?.parts[0]?.counts
    }
    assert.deepEqual(countsOf('x'), {
      input: 31,
      cache_read: 900,
      cache_write_5m: 100,
      cache_write_1h: 300,
      output: 69,
      web_search: 2,
    })
    assert.deepEqual(countsOf('x'.repeat(2_000_000)), countsOf('x'))
  })

  test('has its end held, and never all of the last event', () => {
    for (const size of [bytes.length, 65_536, 7]) {
      const meter = responsesCreate.openMeter(facts)
      const large = Buffer.from(completed([message('x'.repeat(2_000_000))]))
      let passed = 0
      for (const chunk of cutInto(large, [size]))
        for (const one of meter.push(chunk)) passed += one.length
      assert.equal(Buffer.concat(meter.held).length, 1_024)
      assert.equal(passed, large.length - 1_024)
    }
  })

  test('is cut where the vendor cuts it, and ends where it is an error', () => {
    const part = replay(responsesCreate, facts, cutInto(bytes.subarray(0, -10), [65_536]))
    assert.deepEqual([part.isTerminated, part.held], [false, ''])
    const error = { code: 'server_error', message: 'Sorry.' }
    const failed = event('response.failed', { response: { error, output: [message(text)] } })
    const replayed = replay(responsesCreate, facts, cutInto(Buffer.from(failed), [65_536]))
    assert.deepEqual(replayed.error, error)
    assert.ok(replayed.passed === failed)
    const endless = cutInto(Buffer.alloc(passedFrameBytesMax, 'x'), [1_048_576])
    assert.equal(
      replay(responsesCreate, facts, [Buffer.from('data: {"a":"'), ...endless]).isOverflown,
      true,
    )
    const unreadable = Buffer.from(`data: ${'x'.repeat(2_000_000)}\n\n`)
    assert.equal(replay(responsesCreate, facts, [unreadable]).isTerminated, false)
  })
})

test('state is remembered up to a bound, and only what the vendor keeps', () => {
  const items = Array.from({ length: 2_000 }, (_, index) => ({
    type: 'message',
    id: `msg_${index}`,
  }))
  const madeBy = (fields: object, read = facts): unknown =>
    replay(responsesCreate, read, [Buffer.from(completed(items, fields))]).reading['made']
  assert.equal((madeBy({}) as string[]).length, 1_000)
  assert.equal(madeBy({ store: false }), undefined)
  const notKept = { ...facts, storesAnswer: false }
  assert.equal(madeBy({ store: undefined }, notKept), undefined)
  assert.equal((madeBy({ store: undefined }) as string[]).length, 1_000)
})

test('encrypted content in a part is remembered, however long it is', () => {
  for (const content of ['c', 'c'.repeat(2_000_000)]) {
    const part = { type: 'encrypted_content', encrypted_content: content }
    const item = { type: 'agent_message', id: 'am_1', content: [part] }
    const bytes = Buffer.from(completed([item], { store: false }))
    const { made } = replay(responsesCreate, facts, [bytes]).reading
    assert.deepEqual(made, [`encrypted ${hash('sha256', content, 'base64url')}`])
  }
})

test('a gateway error is an event that every client reads as one', () => {
  const shown = {
    code: 'relay.upstream_failed',
    status: 502,
    message: 'a\nb',
    exchangeId: 'ex_1',
    requestId: 'req_1',
  } as const
  const bytes = responsesCreate.errorEvent(shown, 17)
  assert.match(bytes.toString(), /^\n\nevent: error\ndata: \{[^\n]*\}\n\n$/)
  const data: unknown = JSON.parse(/data: (.*)/.exec(bytes.toString())?.[1] ?? '')
  const id = { request_id: 'ex_1' }
  const error = { message: 'a\nb', type: 'server_error', param: null, code: null, ...id }
  assert.deepEqual(data, {
    type: 'error',
    code: null,
    message: 'a\nb',
    param: null,
    ...id,
    sequence_number: 17,
    error,
  })
})

test('an endpoint that a server lacks is not offered, in the words of several servers', () => {
  const answers: readonly [number, string][] = [
    [404, '{"detail":"Not Found"}'],
    [404, '404 page not found'],
    [404, ''],
    [404, '{"error":{"code":"404","message":"Resource not found"}}'],
    [404, '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'],
    [
      404,
      '{"error":{"message":"Unknown request URL: POST /v1/responses.","type":"invalid_request_error"}}',
    ],
    [
      404,
      '{"error":{"message":"Invalid URL (POST /v1/responses)","type":"invalid_request_error"}}',
    ],
    [405, '{"detail":"Method Not Allowed"}'],
    [501, ''],
  ]
  for (const [status, body] of answers) {
    const error = readVendorError(parseJson(body))
    const fault = responsesCreate.classify({ status }, error)
    assert.equal(fault, 'not_offered', `${status} ${body}`)
  }
  const others: readonly [number, string, string][] = [
    [
      404,
      '{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}',
      'model_missing',
    ],
    [404, '{"error":{"message":"Item with id \'rs_1\' not found."}}', 'model_dependent'],
    [400, '{"error":{"message":"No.","code":"previous_response_not_found"}}', 'client'],
    [401, '{}', 'config'],
  ]
  for (const [status, body, expected] of others) {
    const error = readVendorError(parseJson(body))
    assert.equal(responsesCreate.classify({ status }, error), expected, body)
  }
})

const long = 'x'.repeat(readableFrameBytesMax)

/** Pushes these frames in one piece, or in pieces of this size. */
function opened(frames: readonly string[], size?: number) {
  const meter = responsesCreate.openMeter(facts)
  const bytes = Buffer.from(frames.join(''))
  const passed = cutInto(bytes, [size ?? bytes.length]).flatMap((piece) => meter.push(piece))
  return { meter, passed: Buffer.concat(passed).toString() }
}

describe('an event that cannot be read', () => {
  test('is an error only as the first one, and where it has data', () => {
    for (const empty of [
      'data:\n\n',
      ': x\n\n',
      'data: [DONE] \n\n',
      'event: ping\ndata: x\n\n',
      'event: heartbeat\ndata: x\n\n',
    ])
      assert.equal(opened([empty]).meter.error, undefined, empty)
    assert.notEqual(opened(['data: {broken\n\n']).meter.error, undefined)
    assert.equal(opened([textDelta('a'), 'data: {broken\n\n']).meter.error, undefined)
  })

  test('and any other behind the end change nothing', () => {
    const { meter } = opened([completed([message('a')]), 'data: {broken\n\n', textDelta('b')])
    assert.deepEqual([meter.error, meter.reading().output.text], [undefined, 'a'])
    const later = completed([message(long)], { usage: { input_tokens: 99, output_tokens: 9 } })
    const { usage: counted } = opened([completed([message('a')]), later]).meter.reading()
    assert.equal(counted?.reported.inputTokens, 12)
  })
})

describe('an event with an error', () => {
  test('is one by its type, or by its member where it has no type', () => {
    const error = { code: 'server_error', message: 'x' }
    for (const data of [{ type: 'error', ...error }, { type: 'error', error }, { error }]) {
      const { meter } = opened([`data: ${JSON.stringify(data)}\n\n`])
      assert.equal(meter.error?.message, 'x')
      assert.equal(meter.error?.code, 'server_error')
    }
    for (const data of [{ a: 1 }, { error: null }, { type: 'response.in_progress', error }]) {
      const { meter } = opened([`data: ${JSON.stringify(data)}\n\n`, textDelta('a')])
      assert.equal(meter.error, undefined)
    }
  })

  test('may be the last one, which the client does not get', () => {
    const error = { code: 'server_error', message: 'x' }
    const failed = completed([], { status: 'failed', error })
    const { meter, passed } = opened([textDelta('a'), failed])
    assert.deepEqual([meter.error?.code, meter.error?.message], ['server_error', 'x'])
    assert.deepEqual([meter.isTerminated, passed], [false, textDelta('a')])
    const cut = completed([], { incomplete_details: { reason: 'error' } })
    assert.notEqual(opened([textDelta('a'), cut]).meter.error, undefined)
    const ended = completed([], { incomplete_details: { reason: 'max_output_tokens' } })
    assert.equal(opened([textDelta('a'), ended]).meter.error, undefined)
  })
})

describe('the output of a stream', () => {
  const outputOf = (...frames: readonly string[]) => {
    const { hasOutput, output } = opened(frames).meter.reading()
    return [hasOutput, output.text, output.audioBytes]
  }
  const done = (item: object) => event('response.output_item.done', { output_index: 0, item })

  test('is the pieces of its deltas, and of items whose text came in none', () => {
    assert.deepEqual(outputOf(textDelta('a'), done(message('a'))), [true, 'a', 0])
    assert.deepEqual(outputOf(done(message('a'))), [true, 'a', 0])
    const none = event('response.output_text.delta', { output_index: 0, delta: 5 })
    assert.deepEqual(outputOf(none, done(message('a'))), [true, 'a', 0])
    const other = event('response.output_text.done', { output_index: 1, delta: 'b' })
    assert.deepEqual(outputOf(other, done(message('a'))), [true, 'a', 0])
  })

  test('is audio where the pieces are audio', () => {
    const audio = event('response.audio.delta', { output_index: 0, delta: 'QUJD' })
    assert.deepEqual(outputOf(audio, audio), [true, '', 8])
  })

  test('is an item that has begun, unless it is a message', () => {
    const added = (item: object) => event('response.output_item.added', { output_index: 0, item })
    assert.deepEqual(outputOf(added({ type: 'message', name: 'f' })), [false, '', 0])
    assert.deepEqual(outputOf(added({ type: 'function_call', name: 'f' })), [true, 'f', 0])
  })

  test('is none where the end lists none', () => {
    assert.deepEqual(outputOf(event('response.completed', { response: {} })), [false, '', 0])
  })

  test('is read the short way where an event differs in its text alone', () => {
    const bytes = Buffer.from(textDelta('b'))
    const { meter } = opened([textDelta('a'), textDelta('a')])
    assert.equal(meter.passRepeats(bytes, 0, bytes.length), bytes.length)
  })
})

test('an answer without its last event is cut, even where its body ends as announced', () => {
  const { meter } = opened([textDelta('a'), event('response.output_text.done', { text: 'a' })])
  meter.end(true)
  assert.deepEqual([meter.isTerminated, meter.reading().isFinal], [false, false])
  assert.equal(opened([completed([message('a')])]).meter.reading().isFinal, true)
})

test('events of other kinds do not begin an answer, however large they are', () => {
  const padding = 'x'.repeat(300_000)
  const other = event('codex.rate_limits', { padding })
  assert.equal(opened([other, other]).meter.hasStarted, false)
  const untyped = `data: ${JSON.stringify({ padding })}\n\n`
  assert.equal(opened([untyped, untyped]).meter.hasStarted, false)
})

describe('an event that is too large to be kept', () => {
  const response = { id: 'resp_1', model: 'm', output: [message('a')], store: true, usage }
  const last = JSON.stringify({ type: 'response.completed', response: { ...response, long } })

  test('is read as it passes, wherever it begins and however it is cut', () => {
    const small = textDelta('a'.repeat(3_000))
    for (const head of ['', 'event: response.completed\n'])
      for (const name of ['data: ', 'data:'])
        for (const before of [[], [small], [small, small]]) {
          const large = `${head}${name}${last}\n\n`
          for (const size of [undefined, 700_000]) {
            const { meter, passed } = opened([...before, large], size)
            assert.deepEqual([meter.isTerminated, meter.isOverflown], [true, false])
            assert.equal(meter.reading().usage?.reported.inputTokens, 12)
            const held = Buffer.concat(meter.held).toString()
            assert.equal(held.length, 1_024)
            assert.ok(passed + held === before.join('') + large)
          }
        }
  })

  test('begins the answer, and counts with its text', () => {
    const created = event('response.created', { response: { id: 'r' }, long })
    const begun = opened([created]).meter
    assert.deepEqual([begun.hasStarted, begun.eventCount > 0], [true, true])
    const { hasOutput, output } = opened([textDelta(long)]).meter.reading()
    assert.deepEqual([hasOutput, output.bytes], [true, long.length])
  })

  test('may have no data, or none that can be read', () => {
    for (const frame of [`event: ${long}\n\n`, `data: ${long}\n\n`]) {
      const { meter, passed } = opened([frame, textDelta('a')])
      assert.deepEqual([meter.isOverflown, meter.reading().output.text], [false, 'a'])
      assert.ok(passed === frame + textDelta('a'))
    }
  })

  test('breaks the answer off where it may be an error or no event', () => {
    for (const head of [
      'event: error\ndata: {"a":"',
      'event:error\ndata: {"a":"',
      'data: {"error":"',
      'data:{ "error": "',
      'data: {"type":"error","a":"',
      'data: {"type": "error","a":"',
      ': event: x data: {"a":"',
    ])
      assert.equal(opened([created, `${head}${long}"}\n\n`]).meter.isOverflown, true, head)
    for (const head of [
      'data: {"a":"event: error',
      'data: {"sequence_number":1,"type":"error","a":"',
      'event: response.x\ndata: {"type":"error_like","a":"',
    ]) {
      const { meter } = opened([created, `${head}${long}"}\n\n`])
      assert.deepEqual([meter.isOverflown, meter.error], [false, undefined], head)
    }
  })
})
