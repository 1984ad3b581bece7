/** Tests that the reader of the client finds every event and the end of what the vendor writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerReader } from './answer-reader.ts'
import { findFormat, jsonAnswer, streamBytes } from './answers.ts'

const formats = ['messages', 'chat', 'responses'] as const

test('counts the events of a stream of each format, wherever the reads are cut', () => {
  const reader = new AnswerReader()
  for (const format of formats) {
    const { opening, event, closing } = streamBytes[format]
    const bytes = opening + event.repeat(3) + closing(3)
    for (let cut = 1; cut < bytes.length; cut++) {
      reader.reset()
      reader.read(bytes.slice(0, cut))
      assert.equal(reader.hasEnded, false)
      reader.read(bytes.slice(cut))
      const { status, events, hasLastEvent, hasEnded } = reader
      assert.deepEqual([status, events, hasLastEvent, hasEnded], [200, 3, true, true])
    }
  }
})

test('misses the last event of a stream that ends without it', () => {
  const reader = new AnswerReader()
  reader.read(streamBytes.chat.opening + streamBytes.chat.event + '0\r\n\r\n')
  assert.deepEqual([reader.hasEnded, reader.hasLastEvent], [true, false])
})

test('reads one JSON answer after the other, and begins with the body', () => {
  const reader = new AnswerReader()
  const bytes = jsonAnswer('chat')
  const bodyStart = bytes.indexOf('\r\n\r\n') + 4
  for (let turn = 0; turn < 2; turn++) {
    reader.reset()
    reader.read(bytes.slice(0, bodyStart))
    assert.deepEqual([reader.status, reader.hasBegun, reader.hasEnded], [200, false, false])
    reader.read(bytes.slice(bodyStart, -1))
    assert.deepEqual([reader.hasBegun, reader.hasEnded], [true, false])
    reader.read(bytes.slice(-1))
    assert.equal(reader.hasEnded, true)
  }
})

test('ends at once without a body', () => {
  const reader = new AnswerReader()
  reader.read('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')
  assert.deepEqual([reader.status, reader.hasEnded], [503, true])
})

test('finds the format by the end of the path', () => {
  assert.deepEqual(
    ['/stream/v1/messages', '/v1/chat/completions', '/v1/responses'].map(findFormat),
    formats,
  )
})
