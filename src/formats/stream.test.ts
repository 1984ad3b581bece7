// StreamGate is tested through both formats, because only they give its frames a meaning.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { plainFacts, plainReading, replay } from '../../test/transcripts/replay.ts'
import { chatCompletions } from './chat/index.ts'
import { messagesCreate } from './messages/index.ts'
import { heldBytesMax, passedFrameBytesMax, readableFrameBytesMax } from './stream.ts'

const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
const done = 'data: [DONE]\n\n'

function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

function textDelta(text: string): string {
  return event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
}

function chunk(content: string, fields: object = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }]
  return `data: ${JSON.stringify({ model: 'g', choices, ...fields })}\n\n`
}

const usageChunk = `data: ${JSON.stringify({
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
})}\n\n`

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

const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 })
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')

describe('in any chunks, no byte is changed', () => {
  const frame = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 80 }).map(textDelta),
    fc.string({ maxLength: 20 }).map((text) => `: ${text.replace(/[\r\n]/g, '')}\n\n`),
    fc.constantFrom(
      event('message_start', { message: { model: 'm', usage: { input_tokens: 3 } } }),
      event('message_delta', { delta: {}, usage: { output_tokens: 9 } }),
      event('ping'),
      event('new_kind', { text: 'x' }),
      'data: {}\n\n',
      'event: odd\n\n',
      '\n',
    ),
  )

  test('messages: what passed and what is held equal the input byte for byte', () => {
    const first = event('message_start', { message: {} })
    fc.assert(
      fc.property(fc.array(frame), fc.boolean(), lineEnd, sizes, (frames, ends, line, cuts) => {
        const text = [first, ...frames, ends ? stop + event('ping') : ''].join('')
        const bytes = Buffer.from(text.replaceAll('\n', line))
        const replayed = replay(messagesCreate, plainFacts, cutInto(bytes, cuts))
        assert.equal(replayed.passed + replayed.held, bytes.toString())
        assert.deepEqual(replayed, replay(messagesCreate, plainFacts, [bytes]))
        assert.equal(replayed.isTerminated, ends)
      }),
    )
  })

  test('chat: the same, without exactly the usage chunk that the client did not request', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => chunk(text)),
      fc.constantFrom(': PROCESSING\n\n', usageChunk, chunk('', { usage: null }), '\n'),
    )
    fc.assert(
      fc.property(
        fc.record({ parts: fc.array(part), late: fc.array(part), asksUsageChunk: fc.boolean() }),
        lineEnd,
        sizes,
        ({ parts, late, asksUsageChunk }, line, cuts) => {
          const frames = [chunk('a'), ...parts, done, ...late]
          const bytes = Buffer.from(frames.join('').replaceAll('\n', line))
          const seen = frames.filter((one) => asksUsageChunk || one !== usageChunk).join('')
          const facts = { ...plainFacts, asksUsageChunk }
          const replayed = replay(chatCompletions, facts, cutInto(bytes, cuts))
          assert.equal(replayed.passed + replayed.held, seen.replaceAll('\n', line))
          assert.deepEqual(replayed, replay(chatCompletions, facts, [bytes]))
          assert.ok(replayed.held.startsWith(done.replaceAll('\n', line)))
        },
      ),
    )
  })
})

describe('what passes when', () => {
  test('a chunk of whole frames is passed on as it is', () => {
    const meter = messagesCreate.openMeter(plainFacts)
    const bytes = Buffer.from(event('message_start', { message: {} }) + textDelta('a'))
    const [passed, ...others] = meter.push(bytes)
    assert.equal(passed, bytes)
    assert.equal(others.length, 0)
  })

  test('an event passes with its last byte, also if that is half of a CRLF', () => {
    const meter = messagesCreate.openMeter(plainFacts)
    const bytes = Buffer.from(textDelta('a').replaceAll('\n', '\r\n'))
    const last = bytes.length - 1
    assert.equal(Buffer.concat(meter.push(bytes.subarray(0, last))).length, last)
    assert.equal(Buffer.concat(meter.push(bytes.subarray(last))).toString(), '\n')
  })

  test('an unfinished frame waits for its end', () => {
    const meter = chatCompletions.openMeter(plainFacts)
    const bytes = Buffer.from(chunk('a'))
    assert.deepEqual(meter.push(bytes.subarray(0, 20)), [])
    assert.equal(Buffer.concat(meter.push(bytes.subarray(20))).toString(), chunk('a'))
  })

  test('a byte order mark at the start is ignored', () => {
    const bytes = Buffer.from('\ufeff' + chunk('a') + done)
    const replayed = replay(chatCompletions, plainFacts, cutInto(bytes, [1]))
    assert.equal(replayed.hasStarted, true)
    assert.equal(replayed.reading['outputText'], 'a')
    assert.equal(replayed.passed + replayed.held, bytes.toString())
  })

  test('a first event that is not JSON is an error, a later one passes', () => {
    const page = 'data: <html>\n\n'
    const first = replay(chatCompletions, plainFacts, [Buffer.from(page)])
    assert.deepEqual(first.error, {})
    assert.equal(first.hasStarted, false)
    const later = replay(chatCompletions, plainFacts, [Buffer.from(chunk('a') + page + done)])
    assert.equal(later.error, undefined)
    assert.equal(later.isTerminated, true)
  })

  test('pings, comments and frames without an event name do not begin an answer', () => {
    const text = `: hi\n\n${event('ping')}event: ping\n\ndata: {"a":1}\n\n`
    const replayed = replay(messagesCreate, plainFacts, [Buffer.from(text)])
    assert.equal(replayed.hasStarted, false)
    assert.equal(replayed.error, undefined)
    assert.equal(replayed.passed, text)
  })

  test('an error event gets the missing part of its blank line, at every cut', () => {
    const first = textDelta('a')
    const error = 'event: error\ndata: {"type":"error","error":{"type":"api_error"}}'
    for (const [tail, shown] of [
      ['', '\n\n'],
      ['\n', '\n\n'],
      ['\r', '\r\n\n'],
      ['\r\n', '\r\n\n'],
      ['\n\n', '\n\n'],
      ['\r\n\r\n', '\r\n\r\n'],
    ] as const) {
      const bytes = Buffer.from(first + error + tail)
      for (let cut = 0; cut < bytes.length; cut++) {
        const meter = messagesCreate.openMeter(plainFacts)
        const passed = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) =>
          meter.push(part),
        )
        passed.push(...meter.end(false))
        assert.equal(Buffer.concat(passed).toString(), first + error + shown, `cut at ${cut}`)
      }
    }
  })

  test('no byte of a dropped error event passes', () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"authentication_error"}}'
    for (const tail of ['', '\n', '\r\n\r']) {
      const meter = messagesCreate.openMeter(plainFacts)
      const passed = [
        ...meter.push(Buffer.from(textDelta('a') + error + tail)),
        ...meter.end(false),
      ]
      assert.equal(meter.isErrorWithheld, true)
      assert.equal(Buffer.concat(passed).toString(), textDelta('a'))
    }
  })

  test('nothing behind the end of a message is read', () => {
    const first = event('message_start', { message: { usage: { input_tokens: 3 } } })
    const counts = event('message_delta', { delta: {}, usage: { output_tokens: 4 } })
    const late = event('message_delta', { delta: {}, usage: { output_tokens: 900 } })
    const text = first + textDelta('a') + counts + stop
    const plain = replay(messagesCreate, plainFacts, [Buffer.from(text)])
    const rest = late + textDelta('b') + event('error', { error: { type: 'api_error' } })
    const replayed = replay(messagesCreate, plainFacts, [Buffer.from(text + rest)])
    assert.deepEqual(replayed, { ...plain, held: stop + rest })
  })

  test('an error behind the terminal event changes nothing', () => {
    const text = chunk('a') + done + 'data: {"error":{"message":"late"}}\n\n'
    const replayed = replay(chatCompletions, plainFacts, [Buffer.from(text)])
    assert.equal(replayed.error, undefined)
    assert.equal(replayed.isTerminated, true)
  })
})

describe('an answer that has its finish reason and no terminal event', () => {
  const finish = (index: number): string =>
    `data: ${JSON.stringify({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })}\n\n`
  const stopReason = { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }
  const begun = event('message_start', { message: { usage: { input_tokens: 3 } } }) + textDelta('a')
  const finished = begun + event('message_delta', stopReason)
  const cases = fc.constantFrom(
    { operation: messagesCreate, text: finished },
    { operation: chatCompletions, text: chunk('a') + finish(0) + usageChunk },
  )
  const unfinished = fc.constantFrom('', ': x', 'event: pi', 'data: {"choi')

  test('is complete where its body ends as announced, with every byte and final counts', () => {
    fc.assert(
      fc.property(cases, unfinished, lineEnd, sizes, ({ operation, text }, tail, line, cuts) => {
        const seen = (text + tail).replaceAll('\n', line)
        const facts = { ...plainFacts, asksUsageChunk: true }
        const replayed = replay(operation, facts, cutInto(Buffer.from(seen), cuts), true)
        assert.equal(replayed.passed + replayed.held, seen)
        assert.equal(replayed.held, tail)
        assert.equal(replayed.isTerminated, true)
        assert.equal(replayed.reading['isFinal'], true)
        const cut = replay(operation, facts, cutInto(Buffer.from(seen), cuts), false)
        assert.equal(cut.isTerminated, false)
      }),
    )
  })

  test('has final counts where they came with the finish reason', () => {
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
    const counts = { prompt_tokens: 5, completion_tokens: 7 }
    const text = `${chunk('a')}data: ${JSON.stringify({ choices, usage: counts })}\n\n`
    const replayed = replay(chatCompletions, plainFacts, [Buffer.from(text)], true)
    assert.equal(replayed.reading['isFinal'], true)
    assert.equal(replayed.passed, text)
  })

  test('is cut where a choice has no finish reason, or only in an event without its end', () => {
    const facts = { ...plainFacts, choiceCount: 2 }
    const half = chunk('a') + finish(1) + finish(1)
    const isComplete = (text: string): boolean =>
      replay(chatCompletions, facts, [Buffer.from(text)], true).isTerminated
    assert.equal(isComplete(half), false)
    assert.equal(isComplete(half + finish(0).trimEnd()), false)
    assert.equal(isComplete(half + finish(0)), true)
    const delta = Buffer.from(finished.trimEnd())
    assert.equal(replay(messagesCreate, plainFacts, [delta], true).isTerminated, false)
  })

  test('is broken where an error follows the finish reason', () => {
    const error = event('error', { error: { type: 'api_error' } })
    for (const text of [finished + error, finished + error.trimEnd()]) {
      const replayed = replay(messagesCreate, plainFacts, [Buffer.from(text)], true)
      assert.equal(replayed.isTerminated, false)
      assert.equal(replayed.passed, finished + error)
    }
  })
})

describe('large frames', () => {
  const megabyte = 'x'.repeat(1_000_000)

  test('one of a megabyte is relayed and read', () => {
    const text = textDelta('a') + textDelta(megabyte) + stop
    const replayed = replay(messagesCreate, plainFacts, cutInto(Buffer.from(text), [16_384]))
    assert.equal(replayed.passed + replayed.held, text)
    assert.equal(replayed.reading['outputBytes'], 1_000_001)
    assert.equal(String(replayed.reading['outputText']).length, 256 * 1024)
  })

  test('one that need not be read passes in parts', () => {
    const block = { type: 'web_fetch_tool_result', content: megabyte.repeat(5) }
    const large = event('content_block_start', { index: 0, content_block: block })
    const text = textDelta('a') + large + textDelta('b') + stop
    const bytes = Buffer.from(text)
    const replayed = replay(messagesCreate, plainFacts, cutInto(bytes, [65_536]))
    assert.equal(replayed.passed + replayed.held, text)
    assert.equal(replayed.reading['outputBytes'], large.length + 2)
    assert.deepEqual(replayed, replay(messagesCreate, plainFacts, [bytes]))
  })

  test('at most one readable frame of it is kept', () => {
    const meter = chatCompletions.openMeter(plainFacts)
    const bytes = Buffer.from(chunk(megabyte.repeat(3)))
    let passed = 0
    let pushed = 0
    for (const part of cutInto(bytes, [65_536])) {
      pushed += part.length
      for (const piece of meter.push(part)) passed += piece.length
      assert.ok(pushed - passed <= readableFrameBytesMax + 65_536)
    }
    assert.equal(passed, bytes.length)
  })

  const endless: readonly [string, string][] = [
    ['a line that says nothing', 'a'.repeat(1000)],
    ['CRs only, behind text', 'x\r' + 'y'.repeat(998)],
    ['an event that carries counts', 'event: message_delta\ndata: {"pad":"' + 'x'.repeat(950)],
  ]
  for (const [name, beginning] of endless) {
    test(`${name} without an end overflows`, () => {
      const meter = messagesCreate.openMeter(plainFacts)
      const parts = [Buffer.from(beginning), Buffer.alloc(65_536, 0x61)]
      meter.push(parts[0] ?? Buffer.alloc(0))
      for (let turn = 0; turn < 17; turn++) meter.push(parts[1] ?? Buffer.alloc(0))
      assert.equal(meter.isOverflown, true)
      assert.deepEqual(meter.push(Buffer.from(textDelta('a'))), [])
    })
  }

  test('a frame that passes in parts is bounded too', () => {
    const meter = messagesCreate.openMeter(plainFacts)
    meter.push(Buffer.from('event: content_block_start\ndata: {"a":"'))
    const part = Buffer.alloc(4 * 1024 * 1024, 0x61)
    for (let bytes = 0; bytes < passedFrameBytesMax; bytes += part.length) {
      assert.equal(meter.isOverflown, false)
      meter.push(part)
    }
    assert.equal(meter.isOverflown, true)
  })

  test('bytes behind the terminal event are bounded', () => {
    const meter = chatCompletions.openMeter(plainFacts)
    meter.push(Buffer.from(done))
    const comment = Buffer.from(`: ${'x'.repeat(1000)}\n\n`)
    for (let bytes = 0; bytes <= heldBytesMax; bytes += comment.length) meter.push(comment)
    assert.equal(meter.isOverflown, true)
  })
})

type BytesWork = (...args: unknown[]) => number | string

describe('work', () => {
  test('is linear in the bytes when they arrive one by one', (t) => {
    let work = 0
    const prototype = Buffer.prototype as { copy: BytesWork; toString: BytesWork }
    // Counted by hand: a mock keeps a stack for each of the calls, and they are 400,000.
    for (const name of ['copy', 'toString'] as const) {
      const original = prototype[name]
      t.after(() => (prototype[name] = original))
      prototype[name] = function count(this: Buffer, ...args) {
        const result = original.apply(this, args)
        work += typeof result === 'string' ? result.length : result
        return result
      }
    }
    const bytes = Buffer.from(textDelta('a') + textDelta('y'.repeat(200_000)) + stop)
    const meter = messagesCreate.openMeter(plainFacts)
    for (let at = 0; at < bytes.length; at++) meter.push(bytes.subarray(at, at + 1))
    assert.equal(meter.isTerminated, true)
    assert.ok(work < 10 * bytes.length, `${work} bytes moved for ${bytes.length}`)
  })

  test('needs no parse for a text delta like the one before', (t) => {
    const meter = messagesCreate.openMeter(plainFacts)
    meter.push(Buffer.from(event('message_start', { message: {} }) + textDelta('Oh. ')))
    const parse = t.mock.method(JSON, 'parse')
    meter.push(Buffer.from(textDelta('Hello') + textDelta('wörld')))
    assert.equal(parse.mock.callCount(), 0)
    assert.equal(meter.reading().output.text, 'Oh. Hellowörld')
  })

  test('the same bytes give the same reading again', () => {
    const meter = messagesCreate.openMeter(plainFacts)
    meter.push(Buffer.from(textDelta('a')))
    assert.deepEqual(plainReading(meter.reading()), plainReading(meter.reading()))
  })
})
