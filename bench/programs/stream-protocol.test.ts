/** Tests of reading streamed answers, for any cut of reads and chunks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  ChunkedEvents,
  findBodyStart,
  monotonicUs,
  readStamp,
  stampedEvent,
  streamClosing,
} from './stream-protocol.ts'

/** Cuts the text at these shares of its length. */
function cut(text: string, shares: readonly number[]): readonly string[] {
  const places = [0, ...shares.map((share) => Math.floor(share * text.length)), text.length]
  const sorted = places.toSorted((left, right) => left - right)
  return sorted.slice(1).map((place, index) => text.slice(sorted[index], place))
}

const anyCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

test('reads every event once and whole, for any cut of reads and chunks', () => {
  fc.assert(
    fc.property(anyCuts, anyCuts, (chunkCuts, readCuts) => {
      const events = ['event: a\ndata: 1', 'event: b\ndata: {"x":"yz"}', 'data: last']
      const text = events.map((event) => event + '\n\n').join('')
      const chunks = cut(text, chunkCuts).filter((piece) => piece !== '')
      const body = chunks.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
      const frames: string[] = []
      const reader = new ChunkedEvents((frame) => frames.push(frame))
      for (const piece of cut(body + '0\r\n\r\n', readCuts)) reader.read(piece)
      assert.deepEqual(frames, events)
      assert.equal(reader.hasEnded, true)
    }),
  )
})

test('reads the time of a stamped event, and none of another frame', () => {
  const before = Math.floor(monotonicUs())
  const frames: string[] = []
  const reader = new ChunkedEvents((frame) => frames.push(frame))
  reader.read(stampedEvent())
  reader.read(streamClosing(7))
  const stamps = frames.map(readStamp)
  assert.equal(frames.length, 4)
  assert.ok((stamps[0] ?? 0) >= before && (stamps[0] ?? 0) <= monotonicUs())
  assert.deepEqual(stamps.slice(1), [undefined, undefined, undefined])
})

test('finds the body after the head of a 200 answer and throws for another answer', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  assert.equal(findBodyStart(head.slice(0, -1)), undefined)
  assert.equal(findBodyStart(head + '0'), head.length)
  assert.throws(() => findBodyStart('HTTP/1.1 402 Payment Required\r\n\r\n'), /402/)
  assert.throws(() => findBodyStart('HTTP/1.1 200 OK\r\n\r\n'), /not chunked/)
})
