// What is read of the events and blocks of messages: output, end, and which of them begin the answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
import { reportedFailure } from '../finish-reason.ts'
import { readableFrameBytesMax } from '../stream.ts'
import { messagesCreate } from './index.ts'

const usage = { input_tokens: 12, output_tokens: 6 }

function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

const start = event('message_start', { message: { model: 'm', content: [], usage } })
const stop = event('message_stop')

function textDelta(text: string): string {
  return event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
}

function ended(stop_reason: unknown, more: object = {}): string {
  return event('message_delta', { delta: { stop_reason }, usage, ...more })
}

/** Pushes these frames in one piece. */
function opened(...frames: readonly string[]) {
  const meter = messagesCreate.openMeter(plainFacts)
  const passed = Buffer.concat(meter.push(Buffer.from(frames.join('')))).toString()
  return { meter, passed }
}

function readingOf(...frames: readonly string[]) {
  return opened(...frames).meter.reading()
}

function readWhole(fields: object) {
  const answer = { type: 'message', model: 'm', content: [], usage, ...fields }
  return messagesCreate.readAnswer(answer, plainFacts)
}

describe('a whole answer', () => {
  const outputOf = (...content: readonly object[]) => {
    const read = readWhole({ content })
    assert.ok(read.kind === 'answer')
    const { hasOutput, output, webSearches, model } = read.reading
    return { hasOutput, text: output.text, webSearches, model }
  }
  const none = { hasOutput: false, text: '', webSearches: 0, model: 'm' }

  test('is none where its type says so, and an error where its stop reason does', () => {
    assert.equal(readWhole({ type: 'error' }).kind, 'not_the_format')
    const failed = readWhole({ stop_reason: 'error' })
    assert.deepEqual(failed, { kind: 'error', error: reportedFailure })
    const answer = readWhole({ stop_reason: 'end_turn' })
    assert.ok(answer.kind === 'answer')
    assert.deepEqual(answer.reading.finishReasons, ['end_turn'])
    const open = readWhole({})
    assert.ok(open.kind === 'answer')
    assert.equal(open.reading.finishReasons, undefined)
  })

  test('has thinking as output, shown or hidden', () => {
    const thinking = { type: 'thinking', thinking: '' }
    assert.deepEqual(outputOf(thinking), none)
    assert.deepEqual(outputOf({ ...thinking, signature: '' }), none)
    assert.deepEqual(outputOf({ ...thinking, signature: 's' }), { ...none, hasOutput: true })
    const shown = outputOf({ ...thinking, thinking: 'a' })
    assert.deepEqual(shown, { ...none, hasOutput: true, text: 'a' })
  })

  test('has the model that answered after a fallback', () => {
    assert.deepEqual(outputOf({ type: 'fallback', to: { model: 'o' } }), { ...none, model: 'o' })
    assert.deepEqual(outputOf({ type: 'fallback' }), none)
  })

  test('has searches only where their results are', () => {
    const result = (type: string, content: unknown) => outputOf({ type, content }).webSearches
    assert.equal(result('web_search_tool_result', []), 1)
    assert.equal(result('web_search_tool_result', { error_code: 'x' }), 0)
    assert.equal(result('code_execution_tool_result', []), 0)
  })
})

describe('the beginning of a stream', () => {
  test('is its first event that has a name and is no ping', () => {
    for (const other of [
      'data:\n\n',
      ': x\n\n',
      event('ping'),
      'event: ping\ndata: x\n\n',
      'data: {"a":1}\n\n',
    ]) {
      const { meter } = opened(other)
      assert.deepEqual([meter.hasStarted, meter.eventCount, meter.error], [false, 0, undefined])
    }
    for (const first of [start, 'data: {"type":"new_kind"}\n\n', 'event: new_kind\ndata: {}\n\n']) {
      const { meter } = opened(first)
      assert.deepEqual([meter.hasStarted, meter.eventCount], [true, 1])
    }
  })

  test('is an error where it cannot be read, and later that passes', () => {
    assert.notEqual(opened('event: message_start\ndata: {broken\n\n').meter.error, undefined)
    assert.notEqual(opened('data: {broken\n\n').meter.error, undefined)
    assert.equal(opened(start, 'data: {broken\n\n').meter.error, undefined)
  })
})

describe('an error', () => {
  test('is one by its type, or by the name of its event', () => {
    for (const frame of [
      'data: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n',
      'event: error\ndata: {"type":"x","error":{"type":"api_error","message":"x"}}\n\n',
    ]) {
      const { meter } = opened(start, frame)
      assert.deepEqual([meter.error?.type, meter.error?.message], ['api_error', 'x'])
    }
  })

  test('is a stop reason that says so, and the client does not get its event', () => {
    const { meter, passed } = opened(start, textDelta('a'), ended('error'))
    assert.deepEqual(meter.error, reportedFailure)
    assert.deepEqual([meter.isErrorWithheld, passed], [true, start + textDelta('a')])
  })
})

describe('the end of a stream', () => {
  test('has final counts with its stop reason, and stays with it', () => {
    const ends = (...frames: readonly string[]) => {
      const { isFinal, finishReasons } = readingOf(start, textDelta('a'), ...frames)
      return [isFinal, finishReasons]
    }
    assert.deepEqual(ends(), [false, undefined])
    assert.deepEqual(ends(ended(null)), [false, undefined])
    assert.deepEqual(ends(ended('end_turn')), [true, ['end_turn']])
    assert.deepEqual(ends(ended('end_turn'), ended(null)), [true, ['end_turn']])
    assert.deepEqual(ends(ended('end_turn', { usage: null })), [false, ['end_turn']])
    assert.deepEqual(ends(ended(null), stop), [true, undefined])
  })

  test('needs no last event where the body ends as announced behind a stop reason', () => {
    for (const reason of ['end_turn', null, '']) {
      const { meter } = opened(start, textDelta('a'), ended(reason))
      meter.end(true)
      assert.equal(meter.isTerminated, reason === 'end_turn')
    }
  })

  test('is not followed by anything that is read', () => {
    const { meter } = opened(start, textDelta('a'), stop, textDelta('b'), 'data: {broken\n\n')
    assert.deepEqual([meter.isTerminated, meter.error, meter.eventCount], [true, undefined, 3])
    assert.equal(meter.reading().output.text, 'a')
  })
})

describe('the output of a delta', () => {
  const outputOf = (delta: object) => {
    const { hasOutput, output } = readingOf(start, event('content_block_delta', { delta }))
    return [hasOutput, output.text]
  }

  test('is its text of any kind', () => {
    for (const name of ['text', 'partial_json', 'thinking', 'content'])
      assert.deepEqual(outputOf({ [name]: 'a' }), [true, 'a'])
  })

  test('is what is hidden, too', () => {
    for (const name of ['signature', 'encrypted_content']) {
      assert.deepEqual(outputOf({ [name]: 'a' }), [true, ''])
      assert.deepEqual(outputOf({ [name]: '' }), [false, ''])
    }
    assert.deepEqual(outputOf({}), [false, ''])
  })
})

describe('an event that is too large to be kept', () => {
  const long = 'x'.repeat(readableFrameBytesMax)

  test('passes where its name shows that it need not be read, and counts as output', () => {
    for (const head of [
      'event: content_block_delta\ndata: {"a":"',
      'event:content_block_delta\ndata: {"a":"',
      'data: {"type":"content_block_delta","a":"',
      'data:{ "type": "content_block_delta","a":"',
      'data: {"type": "new_kind","a":"',
    ]) {
      const large = `${head}${long}"}\n\n`
      const pings = event('ping').repeat(9)
      const { meter, passed } = opened(pings, large)
      assert.ok(passed === pings + large)
      assert.deepEqual([meter.isOverflown, meter.hasStarted, meter.eventCount], [false, true, 1])
      const { hasOutput, output } = meter.reading()
      assert.deepEqual([hasOutput, output.bytes], [true, large.length])
    }
  })

  test('breaks the answer off where it must be read', () => {
    for (const head of [
      ...['message_start', 'message_delta', 'message_stop', 'error'].map(
        (name) => `event: ${name}\ndata: {"a":"`,
      ),
      'data: {"type":"error","a":"',
      'data: {"a":"',
      ': event: x data: {"a":"',
    ])
      assert.equal(opened(event('ping'), `${head}${long}"}\n\n`).meter.isOverflown, true, head)
  })
})
