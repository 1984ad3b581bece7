import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { edgesOf } from './answer-edges.ts'

test('property: the edges are the first and the last bytes, however the body is cut', () => {
  const piece = fc.uint8Array({ maxLength: 9_000 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const whole = Buffer.concat(pieces)
      const { beginning, end } = edgesOf(pieces)
      assert.ok(beginning.equals(whole.subarray(0, 16_384)))
      assert.ok(end.equals(whole.subarray(Math.max(0, whole.length - 16_384))))
    }),
  )
})
