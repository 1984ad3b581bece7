/** Tests that the reader of the client finds every event and the end of what the vendor writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AnswerReader } from './answer-reader.ts'
import { jsonAnswerTo, streamBytes } from './answers.ts'

const formats = ['messages', 'chat', 'responses'] as const

/** Cuts the text at these shares of its length. */
function cut(text: string, shares: readonly number[]): readonly string[] {
  const places = [0, ...shares.map((share) => Math.floor(share * text.length)), text.length]
  const sorted = places.toSorted((left, right) => left - right)
  return sorted.slice(1).map((place, index) => text.slice(sorted[index], place))
}

const anyCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

test('counts the events of a stream of each format, for any cut of reads and chunks', () => {
  fc.assert(
    fc.property(fc.constantFrom(...formats), anyCuts, anyCuts, (format, chunkCuts, readCuts) => {
      const { opening, event, closing } = streamBytes[format]
      const [head = '', body = ''] = `${opening}${event.repeat(3)}${closing(3)}`.split('\r\n\r\n')
      const frames = body.replaceAll(/[\da-f]+\r\n([^]*?)\r\n/g, '$1')
      const chunks = cut(frames, chunkCuts).filter((piece) => piece !== '')
      const framed = chunks.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
      const reader = new AnswerReader()
      reader.reset()
      for (const piece of cut(`${head}\r\n\r\n${framed}0\r\n\r\n`, readCuts)) reader.read(piece)
      const { status, events, hasLastEvent, hasEnded } = reader
      assert.deepEqual([status, events, hasLastEvent, hasEnded], [200, 3, true, true])
    }),
  )
})

test('misses the last event of a stream that ends without it', () => {
  const reader = new AnswerReader()
  reader.read(streamBytes.chat.opening + streamBytes.chat.event + '0\r\n\r\n')
  assert.deepEqual([reader.hasEnded, reader.hasLastEvent], [true, false])
})

test('reads one JSON answer after the other, and begins with the body', () => {
  const reader = new AnswerReader()
  const bytes = jsonAnswerTo('/v1/chat/completions')
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
