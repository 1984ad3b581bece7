/** Chunked bodies in pieces of any size: exact content, exact end, and no ambiguous input accepted. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { cutAt, everySplit, fuzzRuns, places } from '../../../test/support/pieces.ts'
import { ChunkedDecoder, copyPlaces } from './framing.ts'

interface Decoded {
  readonly content: string
  readonly state: 'done' | 'broken' | 'more'
  readonly rest: string
}

function decode(pieces: readonly Buffer[]): Decoded {
  const decoder = new ChunkedDecoder()
  let content = ''
  for (const [index, piece] of pieces.entries()) {
    content += copyPlaces(piece, decoder.read(piece, 0))?.toString('latin1') ?? ''
    if (decoder.isBroken) return { content, state: 'broken', rest: '' }
    if (!decoder.isDone) continue
    const rest = [piece.subarray(decoder.next), ...pieces.slice(index + 1)]
    return { content, state: 'done', rest: Buffer.concat(rest).toString('latin1') }
  }
  return { content, state: 'more', rest: '' }
}

function chunk(content: string): string {
  return `${content.length.toString(16)}\r\n${content}\r\n`
}

describe('a chunked body', () => {
  it('gives its content and its end in every split', () => {
    const text = `${chunk('abc')}0A;x="y z"\r\n0123456789\r\n00\r\nTrailer: x\r\nOther: y\r\n\r\nnext`
    for (const pieces of everySplit(Buffer.from(text)))
      assert.deepEqual(decode(pieces), { content: 'abc0123456789', state: 'done', rest: 'next' })
  })

  it('may be empty, and may look like framing inside', () => {
    assert.deepEqual(decode([Buffer.from('0\r\n\r\n')]), { content: '', state: 'done', rest: '' })
    const inside = chunk('0\r\n\r\n') + chunk('\r\n5\r\n') + '0\r\n\r\n'
    for (const pieces of everySplit(Buffer.from(inside)))
      assert.deepEqual(decode(pieces), { content: '0\r\n\r\n\r\n5\r\n', state: 'done', rest: '' })
  })

  const doubtful: Readonly<Record<string, string>> = {
    'no size': '\r\nabc\r\n',
    'an extension without a size': ';a\r\n',
    'a size that is no number': 'zz\r\n',
    'a signed size': '-1\r\n',
    'a size in the notation of programs': '0x3\r\nabc\r\n',
    'a space before a size': ' 3\r\nabc\r\n',
    'a space behind a size': '3 \r\nabc\r\n',
    'a size of too many digits': '0000000000003\r\nabc\r\n',
    'a bare LF behind a size': '3\nabc\r\n',
    'a bare CR behind a size': '3\rabc\r\n',
    'a bare LF in an extension': '3;a\nb\r\nabc\r\n',
    'an extension without a name': '3;\r\nabc\r\n',
    'an extension without a value': '3;a=\r\nabc\r\n',
    'an extension whose quotes do not end': '3;a="b; c\r\nabc\r\n',
    'a NUL in an extension': '3;\0\r\nabc\r\n',
    'content longer than its size': '3\r\nabcd\r\n',
    'a bare LF behind content': '3\r\nabc\n',
    'a bare CR behind content': '3\r\nabc\r3',
    'a bare LF as the last line': '0\r\n\n',
    'a trailer without a colon': '0\r\nabc\r\n\r\n',
    'a folded trailer': '0\r\na: b\r\n c\r\n\r\n',
    'a trailer that ends in a bare LF': '0\r\na: b\n\r\n',
    'a bare CR in a trailer': '0\r\na: b\rc\r\n\r\n',
  }
  for (const [name, text] of Object.entries(doubtful))
    it(`with ${name} is refused in every split`, () => {
      for (const pieces of everySplit(Buffer.from(text, 'latin1')))
        assert.equal(decode(pieces).state, 'broken')
    })

  it('has bounded extensions and trailers in every split', () => {
    assert.equal(decode([Buffer.from(`1;${'x'.repeat(16_000)}\r\na\r\n0\r\n\r\n`)]).state, 'done')
    assert.equal(decode([Buffer.from(`1;${'x'.repeat(17_000)}\r\n`)]).state, 'broken')
    const many = Buffer.from(`1;${'x'.repeat(1_000)}\r\na\r\n`.repeat(17))
    assert.equal(decode([many]).state, 'broken')
    assert.equal(decode([Buffer.from(`0\r\na: ${'x'.repeat(17_000)}`)]).state, 'broken')
    assert.equal(decode([Buffer.from(`0\r\n${'a: b\r\n'.repeat(101)}\r\n`)]).state, 'broken')
  })

  it('is read back as written, however it is chunked and cut', () => {
    const contents = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 8 })
    fc.assert(
      fc.property(contents, places(400), (parts, cuts) => {
        const texts = parts.map((part) => Buffer.from(part).toString('latin1'))
        const bytes = Buffer.from(`${texts.map(chunk).join('')}0\r\n\r\nrest`, 'latin1')
        const pieces = cutAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        assert.deepEqual(decode(pieces), { content: texts.join(''), state: 'done', rest: 'rest' })
      }),
      { numRuns: fuzzRuns },
    )
  })

  it('of random bytes decodes the same in any pieces', () => {
    const fragment = fc.constantFrom(
      '3\r\n',
      'abc',
      '\r\n',
      '\n',
      '0\r\n',
      ';a',
      'a: b\r\n',
      'f',
      ' ',
    )
    const text = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, places(40), (content, cuts) => {
        const bytes = Buffer.from(content, 'latin1')
        const pieces = cutAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        assert.deepEqual(decode(pieces), decode([bytes]))
      }),
      { numRuns: fuzzRuns },
    )
  })
})
