/** Heads in pieces of any size: found whole, bounded, and refused as soon as they are invalid. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { cutAt, everySplit, fuzzRuns, places } from '../../../test/support/pieces.ts'
import { HeadReader, type HeadReading } from './head-reader.ts'

const head = 'GET / HTTP/1.1\r\nHost: a\r\nX-Caf: \xe9\r\n\r\n'

interface Read {
  readonly reading: HeadReading
  readonly text: string
  /** Bytes behind the head. */
  readonly rest: string
}

function read(pieces: readonly Buffer[], bytesMax = 1_000): Read {
  const reader = new HeadReader(bytesMax)
  for (const [index, piece] of pieces.entries()) {
    const reading = reader.read(piece, 0)
    if (reading === 'more') continue
    if (reading !== 'whole') return { reading, text: '', rest: '' }
    const behind = [piece.subarray(reader.next), ...pieces.slice(index + 1)]
    return { reading, text: reader.text, rest: Buffer.concat(behind).toString('latin1') }
  }
  return { reading: 'more', text: '', rest: '' }
}

describe('a head', () => {
  it('is found in every split, and the bytes behind it are not consumed', () => {
    for (const pieces of everySplit(Buffer.from(`${head}body\r\n\r\n`, 'latin1')))
      assert.deepEqual(read(pieces), {
        reading: 'whole',
        text: head.slice(0, -2),
        rest: 'body\r\n\r\n',
      })
  })

  it('may begin in the middle of a piece, and another may follow', () => {
    const reader = new HeadReader(1_000)
    const piece = Buffer.from(`x${head}${head}`, 'latin1')
    assert.equal(reader.read(piece, 1), 'whole')
    assert.equal(reader.read(piece, reader.next), 'whole')
    assert.equal(reader.text, head.slice(0, -2))
    assert.equal(reader.next, piece.length)
    assert.equal(reader.hasBegun, false)
  })

  it('of exactly the limit is accepted, of one byte more refused, in every split', () => {
    const bytes = Buffer.from(head, 'latin1')
    for (const pieces of everySplit(bytes)) {
      assert.equal(read(pieces, bytes.length).reading, 'whole')
      assert.equal(read(pieces, bytes.length - 1).reading, 'too_large')
    }
  })

  it('without an end is refused at the limit, and memory stays within it', () => {
    const reader = new HeadReader(100)
    const piece = Buffer.alloc(30, 0x61)
    const readings = Array.from({ length: 4 }, () => reader.read(piece, 0))
    assert.deepEqual(readings, ['more', 'more', 'more', 'too_large'])
  })

  const impossible = [
    'GET / HTTP/1.1\nH',
    'a\rb',
    'a\0',
    '\n',
    'a\r\n\n',
    'a\x7f',
    '\x16\x03\x01',
    'a\r\r',
  ]
  for (const text of impossible)
    it(`cannot begin with ${JSON.stringify(text)}, in no split`, () => {
      for (const pieces of everySplit(Buffer.from(text, 'latin1')))
        assert.equal(read(pieces).reading, 'malformed')
    })

  it('in any pieces reads as it does whole', () => {
    const fragment = fc.constantFrom('a: b', '\r\n', '\r', '\n', '\0', 'x', ' ', '\r\n\r\n')
    const text = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, places(30), (content, cuts) => {
        const bytes = Buffer.from(content, 'latin1')
        const pieces = cutAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        assertSame(read(pieces, 20), read([bytes], 20))
      }),
      { numRuns: fuzzRuns },
    )
  })
})

/** Cut bytes may be refused earlier; a whole head with bad bytes is for the parser to refuse. */
function assertSame(cut: Read, whole: Read): void {
  if (cut.reading === 'malformed') assert.notEqual(whole.reading, 'more')
  else assert.deepEqual(cut, whole)
}
