// The gate is tested through both formats, since only they give it frames with a meaning.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { plainFacts, plainReading, replay } from '../../test/transcripts/replay.ts'
import { chatFormat } from './chat/index.ts'
import { messagesFormat } from './messages/index.ts'
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

describe('whatever the chunks, nothing is changed', () => {
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

  test('messages: what passed and what is held are the input to the byte', () => {
    const first = event('message_start', { message: {} })
    fc.assert(
      fc.property(fc.array(frame), fc.boolean(), lineEnd, sizes, (frames, ends, line, cuts) => {
        const text = [first, ...frames, ends ? stop + event('ping') : ''].join('')
        const bytes = Buffer.from(text.replaceAll('\n', line))
        const replayed = replay(messagesFormat, plainFacts, cutInto(bytes, cuts))
        assert.equal(replayed.passed + replayed.held, bytes.toString())
        assert.deepEqual(replayed, replay(messagesFormat, plainFacts, [bytes]))
        assert.equal(replayed.isTerminated, ends)
      }),
    )
  })

  test('chat: the same, less exactly the usage chunk nobody asked for', () => {
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
          const replayed = replay(chatFormat, facts, cutInto(bytes, cuts))
          assert.equal(replayed.passed + replayed.held, seen.replaceAll('\n', line))
          assert.deepEqual(replayed, replay(chatFormat, facts, [bytes]))
          assert.ok(replayed.held.startsWith(done.replaceAll('\n', line)))
        },
      ),
    )
  })
})

describe('what passes when', () => {
  test('a chunk of whole ordinary frames is passed on as it is', () => {
    const meter = messagesFormat.openMeter(plainFacts)
    const bytes = Buffer.from(event('message_start', { message: {} }) + textDelta('a'))
    const [passed, ...others] = meter.push(bytes)
    assert.equal(passed, bytes)
    assert.equal(others.length, 0)
  })

  test('an event passes with its last byte, also where that is half of a CRLF', () => {
    const meter = messagesFormat.openMeter(plainFacts)
    const bytes = Buffer.from(textDelta('a').replaceAll('\n', '\r\n'))
    const last = bytes.length - 1
    assert.equal(Buffer.concat(meter.push(bytes.subarray(0, last))).length, last)
    assert.equal(Buffer.concat(meter.push(bytes.subarray(last))).toString(), '\n')
  })

  test('an unfinished frame waits for its end', () => {
    const meter = chatFormat.openMeter(plainFacts)
    const bytes = Buffer.from(chunk('a'))
    assert.deepEqual(meter.push(bytes.subarray(0, 20)), [])
    assert.equal(Buffer.concat(meter.push(bytes.subarray(20))).toString(), chunk('a'))
  })

  test('a byte order mark at the front hides nothing', () => {
    const bytes = Buffer.from('\ufeff' + chunk('a') + done)
    const replayed = replay(chatFormat, plainFacts, cutInto(bytes, [1]))
    assert.equal(replayed.hasStarted, true)
    assert.equal(replayed.reading['outputText'], 'a')
    assert.equal(replayed.passed + replayed.held, bytes.toString())
  })

  test('a first event that is no JSON is an error, a later one is passed over', () => {
    const page = 'data: <html>\n\n'
    const first = replay(chatFormat, plainFacts, [Buffer.from(page)])
    assert.deepEqual(first.error, {})
    assert.equal(first.hasStarted, false)
    const later = replay(chatFormat, plainFacts, [Buffer.from(chunk('a') + page + done)])
    assert.equal(later.error, undefined)
    assert.equal(later.isTerminated, true)
  })

  test('pings, comments and frames that name no event do not begin an answer', () => {
    const text = `: hi\n\n${event('ping')}event: ping\n\ndata: {"a":1}\n\n`
    const replayed = replay(messagesFormat, plainFacts, [Buffer.from(text)])
    assert.equal(replayed.hasStarted, false)
    assert.equal(replayed.error, undefined)
    assert.equal(replayed.passed, text)
  })

  test('an error event is closed where its blank line is not whole, at every cut', () => {
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
        const meter = messagesFormat.openMeter(plainFacts)
        const passed = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) =>
          meter.push(part),
        )
        passed.push(...meter.end())
        assert.equal(Buffer.concat(passed).toString(), first + error + shown, `cut at ${cut}`)
      }
    }
  })

  test('nothing of an error event that is kept back is shown, its end neither', () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"authentication_error"}}'
    for (const tail of ['', '\n', '\r\n\r']) {
      const meter = messagesFormat.openMeter(plainFacts)
      const passed = [...meter.push(Buffer.from(textDelta('a') + error + tail)), ...meter.end()]
      assert.equal(meter.isErrorWithheld, true)
      assert.equal(Buffer.concat(passed).toString(), textDelta('a'))
    }
  })

  test('nothing behind the end of a message is read', () => {
    const first = event('message_start', { message: { usage: { input_tokens: 3 } } })
    const counts = event('message_delta', { delta: {}, usage: { output_tokens: 4 } })
    const late = event('message_delta', { delta: {}, usage: { output_tokens: 900 } })
    const text = first + textDelta('a') + counts + stop
    const plain = replay(messagesFormat, plainFacts, [Buffer.from(text)])
    const rest = late + textDelta('b') + event('error', { error: { type: 'api_error' } })
    const replayed = replay(messagesFormat, plainFacts, [Buffer.from(text + rest)])
    assert.deepEqual(replayed, { ...plain, held: stop + rest })
  })

  test('an error behind the terminal event changes nothing', () => {
    const text = chunk('a') + done + 'data: {"error":{"message":"late"}}\n\n'
    const replayed = replay(chatFormat, plainFacts, [Buffer.from(text)])
    assert.equal(replayed.error, undefined)
    assert.equal(replayed.isTerminated, true)
  })
})

describe('large frames', () => {
  const megabyte = 'x'.repeat(1_000_000)

  test('one of a megabyte is relayed and read', () => {
    const text = textDelta('a') + textDelta(megabyte) + stop
    const replayed = replay(messagesFormat, plainFacts, cutInto(Buffer.from(text), [16_384]))
    assert.equal(replayed.passed + replayed.held, text)
    assert.equal(replayed.reading['outputBytes'], 1_000_001)
    assert.equal(String(replayed.reading['outputText']).length, 256 * 1024)
  })

  test('one that need not be understood passes in parts, however large', () => {
    const block = { type: 'web_fetch_tool_result', content: megabyte.repeat(5) }
    const large = event('content_block_start', { index: 0, content_block: block })
    const text = textDelta('a') + large + textDelta('b') + stop
    const bytes = Buffer.from(text)
    const replayed = replay(messagesFormat, plainFacts, cutInto(bytes, [65_536]))
    assert.equal(replayed.passed + replayed.held, text)
    assert.equal(replayed.reading['outputBytes'], large.length + 2)
    assert.deepEqual(replayed, replay(messagesFormat, plainFacts, [bytes]))
  })

  test('no more than one readable frame is kept back of it', () => {
    const meter = chatFormat.openMeter(plainFacts)
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
      const meter = messagesFormat.openMeter(plainFacts)
      const parts = [Buffer.from(beginning), Buffer.alloc(65_536, 0x61)]
      meter.push(parts[0] ?? Buffer.alloc(0))
      for (let turn = 0; turn < 17; turn++) meter.push(parts[1] ?? Buffer.alloc(0))
      assert.equal(meter.isOverflown, true)
      assert.deepEqual(meter.push(Buffer.from(textDelta('a'))), [])
    })
  }

  test('a frame that passes in parts has its bound too', () => {
    const meter = messagesFormat.openMeter(plainFacts)
    meter.push(Buffer.from('event: content_block_start\ndata: {"a":"'))
    const part = Buffer.alloc(4 * 1024 * 1024, 0x61)
    for (let bytes = 0; bytes < passedFrameBytesMax; bytes += part.length) {
      assert.equal(meter.isOverflown, false)
      meter.push(part)
    }
    assert.equal(meter.isOverflown, true)
  })

  test('what comes behind the terminal event is bounded', () => {
    const meter = chatFormat.openMeter(plainFacts)
    meter.push(Buffer.from(done))
    const comment = Buffer.from(`: ${'x'.repeat(1000)}\n\n`)
    for (let bytes = 0; bytes <= heldBytesMax; bytes += comment.length) meter.push(comment)
    assert.equal(meter.isOverflown, true)
  })
})

type BytesWork = (...args: unknown[]) => number | string

describe('work', () => {
  test('is linear in the bytes when they come one by one', (t) => {
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
    const meter = messagesFormat.openMeter(plainFacts)
    for (let at = 0; at < bytes.length; at++) meter.push(bytes.subarray(at, at + 1))
    assert.equal(meter.isTerminated, true)
    assert.ok(work < 10 * bytes.length, `${work} bytes moved for ${bytes.length}`)
  })

  test('takes no parse for an ordinary piece of text', (t) => {
    const meter = messagesFormat.openMeter(plainFacts)
    meter.push(Buffer.from(event('message_start', { message: {} })))
    const parse = t.mock.method(JSON, 'parse')
    meter.push(Buffer.from(textDelta('Hello') + textDelta('wörld')))
    assert.equal(parse.mock.callCount(), 0)
    assert.equal(meter.reading().output.text, 'Hellowörld')
  })

  test('a reading is what it was when the same bytes are read again', () => {
    const meter = messagesFormat.openMeter(plainFacts)
    meter.push(Buffer.from(textDelta('a')))
    assert.deepEqual(plainReading(meter.reading()), plainReading(meter.reading()))
  })
})
