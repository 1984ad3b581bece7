import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LongText } from './long-text.ts'
import { emptyReading, OutputText, outputTextBytesMax } from './output.ts'

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

test('keeps a bounded part of one text too, and nothing behind it', () => {
  for (const [text, kept] of [
    ['x'.repeat(outputTextBytesMax), outputTextBytesMax],
    ['x'.repeat(outputTextBytesMax + 1), outputTextBytesMax],
    [`x${'é'.repeat(outputTextBytesMax)}`, outputTextBytesMax - 1],
  ] as const) {
    const output = new OutputText()
    output.add(text)
    output.add('b')
    output.addBytes(Buffer.from('c'), 0, 1)
    assert.equal(Buffer.byteLength(output.text), kept)
    assert.ok(text.startsWith(output.text))
    assert.equal(output.bytes, Buffer.byteLength(text) + 2)
    assert.deepEqual([output.addedCount, output.latest], [2, 'b'])
  }
})

test('keeps no bytes that are no characters where they do not fit', () => {
  const output = new OutputText()
  output.addBytes(Buffer.alloc(outputTextBytesMax + 9, 0x80), 0, outputTextBytesMax + 9)
  assert.deepEqual([output.text, output.bytes], ['', outputTextBytesMax + 9])
})

test('a value that is no text is no output, and neither is an empty one', () => {
  const output = new OutputText()
  for (const value of [undefined, null, 5, {}, ['a'], '']) {
    output.addText(value)
    output.addAudioText(value)
  }
  assert.deepEqual([output.hasOutput, output.addedCount, output.text], [false, 0, ''])
  assert.deepEqual([output.bytes, output.audioBytes], [0, 0])
  output.addText('a')
  assert.deepEqual([output.hasOutput, output.text], [true, 'a'])
})

test('audio is output without text', () => {
  const output = new OutputText()
  output.addAudioText('QUJD')
  output.addAudioText(new LongText(3_000, 'QUJD', undefined))
  assert.deepEqual([output.hasOutput, output.audioBytes], [true, 3_004])
  assert.deepEqual([output.text, output.bytes], ['', 0])
})

test('a part of a surrogate pair is kept as text that can be written', () => {
  const output = new OutputText()
  output.addText('\ud83d')
  assert.equal(output.text, '\ufffd')
})

test('a long text counts with all its bytes, and its beginning is kept where no gap follows', () => {
  const short = new OutputText()
  short.addText(new LongText(1_000, 'x'.repeat(100), undefined))
  assert.deepEqual([short.hasOutput, short.text, short.bytes], [true, '', 1_000])
  for (const before of ['', 'a'.repeat(10)]) {
    const output = new OutputText()
    output.addText(before)
    const room = outputTextBytesMax - before.length
    output.addText(new LongText(3 * outputTextBytesMax, 'x'.repeat(room), undefined))
    output.addText('b')
    assert.equal(output.text, before + 'x'.repeat(room))
    assert.equal(output.bytes, before.length + 3 * outputTextBytesMax + 1)
  }
  const cut = new OutputText()
  cut.addText('a'.repeat(10))
  cut.addText(new LongText(3 * outputTextBytesMax, 'x'.repeat(outputTextBytesMax), undefined))
  assert.equal(cut.text, 'a'.repeat(10) + 'x'.repeat(outputTextBytesMax - 10))
  assert.equal(cut.bytes, 10 + 3 * outputTextBytesMax)
})

test('the reading of an answer without counts has nothing to charge, and is final', () => {
  const output = { text: '', bytes: 0, audioBytes: 0 }
  const nothing = { isImplausible: false, hasOutput: false, isRefusal: false, webSearches: 0 }
  const unknown = { usage: undefined, model: undefined }
  assert.deepEqual(emptyReading, { ...nothing, ...unknown, isFinal: true, output })
})
