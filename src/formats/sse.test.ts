import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { FrameSplitter, readFields } from './sse.ts'

/** Ends of all frames, as offsets into the whole stream. */
function frameEnds(pieces: readonly string[]): number[] {
  const splitter = new FrameSplitter()
  const ends: number[] = []
  let offset = 0
  for (const piece of pieces) {
    splitter.open(piece)
    for (let end = splitter.next(); end >= 0; end = splitter.next()) ends.push(offset + end)
    offset += piece.length
  }
  return ends
}

function fieldsOf(text: string) {
  const bytes = Buffer.from(text)
  return readFields({ bytes, text: bytes.toString('latin1'), start: 0, end: bytes.length })
}

/** The plainest splitter there is: line by line over the whole text. */
function referenceEnds(text: string): number[] {
  const ends: number[] = []
  for (const line of text.matchAll(/([^\r\n]*)(\r\n|\r|\n)/g)) {
    if (line[1] === '') ends.push(line.index + line[0].length)
  }
  return ends
}

describe('finding the ends of frames', () => {
  const cases: readonly [string, string, number[]][] = [
    ['an LF stream', 'data: a\n\ndata: b\n\n', [9, 18]],
    ['a CRLF stream', 'data: a\r\n\r\ndata: b\r\n\r\n', [11, 22]],
    ['a CR stream', 'data: a\r\rdata: b\r\r', [9, 18]],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\rdata: c\r\r\n', [10, 19, 29]],
    ['blank lines at the front', '\n\r\n\rx\n\n', [1, 3, 4, 7]],
    ['a frame of several lines', 'event: a\ndata: b\ndata: c\n\n', [26]],
    ['an unfinished frame', 'data: a\n\ndata: b\n', [9]],
    ['nothing', '', []],
  ]
  for (const [name, text, ends] of cases) {
    test(name, () => assert.deepEqual(frameEnds([text]), ends))
  }

  test('reports a frame at its CR, and counts a late LF to no frame', () => {
    const splitter = new FrameSplitter()
    splitter.open('data: a\r\n\r')
    assert.equal(splitter.next(), 10)
    assert.equal(splitter.next(), -1)
    assert.equal(splitter.isAfterCarriageReturn, true)
    splitter.open('\ndata: b\n\n')
    assert.equal(splitter.next(), 10)
  })

  test('agrees with reading line by line, however the text is cut', () => {
    const text = fc.array(fc.constantFrom('\n', '\r', '\r\n', 'a', 'data: x', ':'), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 10 }), (parts, cuts) => {
        const whole = parts.join('')
        const pieces = cutAt(whole, cuts)
        // A CR at the end of a piece closes a frame before its LF has come.
        const closing = new Set(offsetsOf(pieces))
        const ends = referenceEnds(whole).map((end) =>
          whole.slice(end - 2, end) === '\r\n' && closing.has(end - 1) ? end - 1 : end,
        )
        assert.deepEqual(frameEnds(pieces), ends)
      }),
    )
  })
})

describe('reading the fields of a frame', () => {
  const cases: readonly [string, string, string | undefined, string | undefined][] = [
    ['event and data', 'event: ping\ndata: {}\n\n', 'ping', '{}'],
    ['no space behind the colon', 'event:ping\ndata:{}\n\n', 'ping', '{}'],
    ['only one space is taken off', 'data:  a \n\n', undefined, ' a '],
    ['CRLF', 'event: a\r\ndata: b\r\n\r\n', 'a', 'b'],
    ['lone CR', 'event: a\rdata: b\r\r', 'a', 'b'],
    ['several data lines', 'data: a\ndata: b\ndata\ndata:\n\n', undefined, 'a\nb\n\n'],
    [
      'comments and other fields',
      ': data: no\nid: 1\nretry: 5\ndatax: no\n\n',
      undefined,
      undefined,
    ],
    ['a colon in the value', 'data: a: b\n\n', undefined, 'a: b'],
    ['UTF-8', 'data: é 你 🎉\n\n', undefined, 'é 你 🎉'],
    ['no line end at all', 'data: a', undefined, 'a'],
    ['the name alone', 'data\n\n', undefined, ''],
  ]
  for (const [name, text, event, data] of cases) {
    test(name, () => assert.deepEqual(fieldsOf(text), { event, data }))
  }

  test('reads only between start and end', () => {
    const bytes = Buffer.from('data: a\n\ndata: b\n\ndata: c\n\n')
    const frame = { bytes, text: bytes.toString('latin1'), start: 9, end: 18 }
    assert.deepEqual(readFields(frame), { event: undefined, data: 'b' })
  })
})

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.filter((cut) => cut > 0 && cut < text.length))]
  places.sort((left, right) => left - right)
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length))
}

function offsetsOf(pieces: readonly string[]): number[] {
  let offset = 0
  return pieces.map((piece) => (offset += piece.length))
}
