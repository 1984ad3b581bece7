import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { OutputText, outputTextBytesMax } from './output.ts'

test('keeps text and counts its bytes, from strings and from bytes alike', () => {
  const text = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.boolean())), (pieces) => {
      const output = new OutputText()
      for (const [piece, asBytes] of pieces) {
        const padded = Buffer.from(`<${piece}>`)
        if (asBytes) output.addBytes(padded, 1, padded.length - 1)
        else output.add(piece)
      }
      const whole = Buffer.from(pieces.map(([piece]) => piece).join(''))
      assert.equal(output.text, whole.toString())
      assert.equal(output.bytes, whole.length)
    }),
  )
})

test('keeps a bounded part, counts everything and splits no character', () => {
  for (const isBytes of [true, false]) {
    const output = new OutputText()
    const piece = `a${'你好'.repeat(10_000)}`
    const bytes = Buffer.from(piece)
    for (let turn = 0; turn < 10; turn++) {
      if (isBytes) output.addBytes(bytes, 0, bytes.length)
      else output.add(piece)
    }
    output.addUnread(7)
    output.addAudio(3)
    output.addAudio(4)
    assert.equal(output.audioBytes, 7)
    assert.equal(output.bytes, 10 * bytes.length + 7)
    const kept = Buffer.byteLength(output.text)
    assert.ok(kept <= outputTextBytesMax && kept > outputTextBytesMax - 4)
    assert.ok(!output.text.includes('\ufffd'))
    assert.ok(piece.repeat(10).startsWith(output.text))
  }
})
