/**
 * Answers in pieces of any size, compared with Node's own client: what the reader accepts, Node reads as the
 * same answer. The reader is stricter on purpose.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { cutAt, everySplit, fuzzRuns, places } from '../../../test/support/pieces.ts'
import { ResponseReader } from './response-reader.ts'

interface Answer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
  /** Whether anything came behind it. */
  readonly hasLeftover: boolean
}

/** The answer those pieces make when the connection ends behind them; undefined for none. */
function read(pieces: readonly Buffer[]): Answer | undefined {
  const reader = new ResponseReader(2_000)
  reader.expect()
  let body = ''
  const answer = (hasLeftover: boolean): Answer | undefined => {
    const { head } = reader
    return head && { status: head.status, headers: head.fields.flat(), body, hasLeftover }
  }
  for (const [index, piece] of pieces.entries()) {
    if (piece.length === 0) continue
    const reading = reader.read(piece)
    const { content, start, end, hasLeftover } = reader
    body += content.toString('latin1', start, end)
    if (reading === 'malformed') return undefined
    if (reading === 'complete') {
      const isMoreComing = pieces.slice(index + 1).some((later) => later.length > 0)
      return answer(hasLeftover || isMoreComing)
    }
  }
  return reader.isCompleteAtEnd() ? answer(false) : undefined
}

const line = 'HTTP/1.1 200 OK\r\n'

describe('an answer', () => {
  const whole: Readonly<Record<string, readonly [text: string, body: string]>> = {
    'of a length': [`${line}A: b\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
    'of no length at all': [`${line}content-length: 0\r\n\r\n`, ''],
    'in chunks': [
      `${line}Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`,
      'hello!',
    ],
    'behind interim ones': [
      `HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 102 P\r\n\r\n${line}content-length: 1\r\n\r\nx`,
      'x',
    ],
    'without content': ['HTTP/1.1 204 \r\n\r\n', ''],
    'without a reason': ['HTTP/1.1 500\r\ncontent-length: 1\r\n\r\nx', 'x'],
  }
  for (const [name, [text, body]] of Object.entries(whole))
    it(`${name} is read in every split`, () => {
      const bytes = Buffer.from(text)
      const expected = read([bytes])
      assert.equal(expected?.body, body)
      assert.equal(expected.hasLeftover, false)
      for (const pieces of everySplit(bytes)) assert.deepEqual(read(pieces), expected)
      for (const pieces of everySplit(Buffer.from(`${text}x`)))
        assert.deepEqual(read(pieces), { ...expected, hasLeftover: true })
    })

  it('delimited by the end of the connection is complete only then', () => {
    for (const text of [`${line}\r\nhello`, 'HTTP/1.0 200 OK\r\n\r\nhello'])
      for (const pieces of everySplit(Buffer.from(text))) assert.equal(read(pieces)?.body, 'hello')
  })

  const doubtful: Readonly<Record<string, string>> = {
    'another protocol': 'ICY 200 OK\r\n\r\n',
    'another version': 'HTTP/2.0 200 OK\r\n\r\n',
    'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
    'a status of four digits': 'HTTP/1.1 2000 OK\r\n\r\n',
    'a status beyond 599': 'HTTP/1.1 600 OK\r\n\r\n',
    'a control character in the reason': 'HTTP/1.1 200 O\0K\r\n\r\n',
    'an empty line before it': `\r\n${line}\r\n`,
    'two lengths': `${line}content-length: 1\r\ncontent-length: 1\r\n\r\nx`,
    'a list of lengths': `${line}content-length: 1, 1\r\n\r\nx`,
    'a signed length': `${line}content-length: +1\r\n\r\nx`,
    'an empty length': `${line}content-length:\r\n\r\nx`,
    'a length that is not exact': `${line}content-length: 9007199254740993\r\n\r\nx`,
    'two codings': `${line}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a list of codings': `${line}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
    'identity as a coding': `${line}transfer-encoding: identity\r\n\r\n`,
    'chunks in HTTP/1.0': 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'too many headers': `${line}${'a:\r\n'.repeat(400)}content-length: 0\r\n\r\n`,
    'too many interim answers': `${'HTTP/1.1 102 P\r\n\r\n'.repeat(17)}${line}content-length: 0\r\n\r\n`,
  }
  for (const [name, text] of Object.entries(doubtful))
    it(`with ${name} is refused in every split`, () => {
      for (const pieces of everySplit(Buffer.from(text, 'latin1')))
        assert.equal(read(pieces), undefined)
    })

  it('states how long its connection may be used again', () => {
    const keepAlive = (lines: string, version = '1.1'): number | undefined => {
      const reader = new ResponseReader(2_000)
      reader.expect()
      reader.read(Buffer.from(`HTTP/${version} 200 OK\r\ncontent-length: 0\r\n${lines}\r\n`))
      return reader.head?.keepAliveMs
    }
    assert.equal(keepAlive(''), undefined)
    assert.equal(keepAlive('connection: Close\r\n'), 0)
    assert.equal(keepAlive('connection: x\r\nconnection: a, close\r\n'), 0)
    assert.equal(keepAlive('keep-alive: max=5, timeout=15\r\n'), 15_000)
    assert.equal(keepAlive('', '1.0'), 0)
    assert.equal(keepAlive('connection: keep-alive\r\n', '1.0'), undefined)
  })
})

const firstLines = fc.constantFrom(
  line,
  line,
  'HTTP/1.0 200 OK\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 404 Not Found\r\n',
  `HTTP/1.1 102 Processing\r\n\r\n${line}`,
  '',
)
const fieldLines = fc.constantFrom(
  'a: b\r\n',
  'A:\t c \r\n',
  'connection: close\r\n',
  'a : b\r\n',
  ' folded\r\n',
  'transfer-encoding: gzip\r\n',
  'a: b\n',
)
/** Framing and a body that mostly fit each other. */
const bodies = fc.constantFrom(
  'Content-Length: 5\r\n\r\nhello',
  'content-length: 05\r\n\r\nhello',
  'content-length: 0\r\n\r\n',
  'content-length: 5\r\n\r\nhell',
  'content-length: 5\r\ncontent-length: 5\r\n\r\nhello',
  'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'transfer-encoding: CHUNKED\r\n\r\n5;x="y"\r\nhello\r\n1\r\n!\r\n0\r\na: b\r\n\r\n',
  'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n',
  'transfer-encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n',
  '\r\nhello',
  '\r\n',
  '\n',
  '',
)
const answers = fc
  .tuple(firstLines, fc.array(fieldLines, { maxLength: 2 }), bodies)
  .map(([start, fields, body]) => start + fields.join('') + body)

describe('the response reader', () => {
  it('reads random bytes the same in any pieces', () => {
    fc.assert(
      fc.property(answers, places(120), (text, cuts) => {
        const bytes = Buffer.from(text)
        const pieces = cutAt(
          bytes,
          cuts.map((cut) => Math.min(cut, bytes.length)),
        )
        assert.deepEqual(read(pieces), read([bytes]))
      }),
      { numRuns: fuzzRuns * 3 },
    )
  })

  let bytes = Buffer.alloc(0)
  const server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(bytes))
  })
  after(() => server.close())

  /** What Node's client makes of the bytes. */
  function askNode(port: number): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const request = httpRequest({ port, host: '127.0.0.1', agent: false })
      request.on('error', () => resolve(undefined))
      request.on('response', (response) => {
        let body = ''
        response.setEncoding('latin1')
        response.on('data', (text: string) => (body += text))
        response.on('error', () => resolve(undefined))
        response.on('end', () => {
          const { statusCode = 0, rawHeaders: headers } = response
          resolve({ status: statusCode, headers, body, hasLeftover: false })
        })
      })
      request.end()
    })
  }

  it('reads an answer as Node does', async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    let takenCount = 0
    await fc.assert(
      fc.asyncProperty(answers, async (text) => {
        bytes = Buffer.from(text)
        const ours = read([bytes])
        // Bytes behind an answer are an error to Node, or the next answer; here the connection ends.
        if (ours === undefined || ours.hasLeftover) return
        takenCount++
        assert.deepEqual(ours, await askNode(port))
      }),
      { numRuns: fuzzRuns * 3 },
    )
    assert.ok(takenCount > fuzzRuns / 10, `only ${takenCount} answers were compared`)
  })
})
