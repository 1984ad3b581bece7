/**
 * Answers of a vendor that two programs could cut apart at different places, each with a forged answer
 * behind it. Either the exchange fails, or it gets the content that the strictest reading allows; the next
 * exchange of the same pool always gets its own answer.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { UpstreamPools } from '../../src/http/client/pool.ts'
import { requestLines } from '../../src/http/wire/head-lines.ts'
import { reportFigures } from './report.ts'

interface AnswerCase {
  readonly name: string
  /** In RFC 9112, where nothing else is said. */
  readonly source: string
  readonly answer: string
  /** The content that the exchange gets; without it, it fails as `protocol`. */
  readonly content?: string
}

const chunked = 'transfer-encoding: chunked\r\n'
const line = 'HTTP/1.1 200 OK\r\n'
const five = 'content-length: 5\r\n'
const inChunks = '5\r\nhello\r\n0\r\n\r\n'

const cases: readonly AnswerCase[] = [
  {
    name: 'a length, and more behind it',
    source: '6.3',
    answer: `${line}${five}\r\nhello`,
    content: 'hello',
  },
  {
    name: 'chunks, and more behind them',
    source: '6.3',
    answer: `${line}${chunked}\r\n${inChunks}`,
    content: 'hello',
  },
  {
    name: 'no content, and more behind it',
    source: '6.3',
    answer: 'HTTP/1.1 204 No Content\r\n\r\n',
    content: '',
  },
  {
    name: '304 with a length',
    source: '6.3',
    answer: `HTTP/1.1 304 Not Modified\r\n${five}\r\n`,
    content: '',
  },
  { name: 'a length and chunks', source: '6.3', answer: `${line}${five}${chunked}\r\n${inChunks}` },
  { name: 'chunks and a length', source: '6.3', answer: `${line}${chunked}${five}\r\n${inChunks}` },
  { name: 'two lengths', source: '6.3', answer: `${line}${five}content-length: 9\r\n\r\nhello` },
  { name: 'the same length twice', source: '6.3', answer: `${line}${five}${five}\r\nhello` },
  { name: 'a list of lengths', source: '6.3', answer: `${line}content-length: 5, 5\r\n\r\nhello` },
  { name: 'a length with a sign', source: '6.3', answer: `${line}content-length: +5\r\n\r\nhello` },
  {
    name: 'a length that overflows',
    source: '6.3',
    answer: `${line}content-length: 18446744073709551621\r\n\r\nhello`,
  },
  {
    name: 'an unknown coding',
    source: '6.1',
    answer: `${line}transfer-encoding: xchunked\r\n\r\n${inChunks}`,
  },
  {
    name: 'compressed chunks',
    source: '6.1',
    answer: `${line}transfer-encoding: gzip, chunked\r\n\r\n${inChunks}`,
  },
  {
    name: 'chunks in HTTP/1.0',
    source: '6.1',
    answer: `HTTP/1.0 200 OK\r\n${chunked}\r\n${inChunks}`,
  },
  {
    name: 'a space before the colon of the length',
    source: '5.1',
    answer: `${line}content-length : 5\r\n\r\nhello`,
  },
  { name: 'a folded length', source: '5.2', answer: `${line}content-length:\r\n 5\r\n\r\nhello` },
  { name: 'a bare LF before the length', source: '2.2', answer: `${line}a: b\n${five}\r\nhello` },
  { name: 'a bare CR before the length', source: '2.2', answer: `${line}a: b\r${five}\r\nhello` },
  {
    name: 'a NUL in a value',
    source: '5.5 of RFC 9110',
    answer: `${line}a: b\0\r\n${five}\r\nhello`,
  },
  { name: 'bare LFs only', source: '2.2', answer: 'HTTP/1.1 200 OK\ncontent-length: 5\n\nhello' },
  { name: 'an empty line before the answer', source: '2.2', answer: `\r\n${line}${five}\r\nhello` },
  { name: 'another version', source: '2.3', answer: `HTTP/2.0 200 OK\r\n${five}\r\nhello` },
  { name: 'an answer in HTTP/0.9', source: '2.3', answer: 'hello' },
  { name: 'a status of two digits', source: '4', answer: `HTTP/1.1 20 OK\r\n${five}\r\nhello` },
  {
    name: 'a status of six hundred',
    source: '15 of RFC 9110',
    answer: `HTTP/1.1 600 OK\r\n${five}\r\nhello`,
  },
  {
    name: 'another protocol',
    source: '15.2.2 of RFC 9110',
    answer: 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n',
  },
  {
    name: 'interim answers before it',
    source: '15.2 of RFC 9110',
    answer: `HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n${line}${five}\r\nhello`,
    content: 'hello',
  },
  {
    name: 'an interim answer with a length',
    source: '15.2 of RFC 9110',
    answer: `HTTP/1.1 103 Early Hints\r\n${five}\r\n${line}${five}\r\nhello`,
    content: 'hello',
  },
  {
    name: 'a flood of interim answers',
    source: '15.2 of RFC 9110',
    answer: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000),
  },
  {
    name: 'a redirect with a whole answer behind it',
    source: 'Klein, response splitting (2004)',
    answer: `${line}location: /\r\n${five}\r\nhello`,
    content: 'hello',
  },
  { name: 'a size with 0x', source: '7.1', answer: `${line}${chunked}\r\n0x${inChunks}` },
  {
    name: 'a bare LF behind a size',
    source: '7.1',
    answer: `${line}${chunked}\r\n5\nhello\r\n0\r\n\r\n`,
  },
  {
    name: 'a bare LF in an extension',
    source: '7.1.1',
    answer: `${line}${chunked}\r\n5;\nhello\r\n0\r\n\r\n`,
  },
  {
    name: 'an extension without a name',
    source: '7.1.1',
    answer: `${line}${chunked}\r\n5;\r\nhello\r\n0\r\n\r\n`,
  },
  {
    name: 'content longer than its size',
    source: '7.1',
    answer: `${line}${chunked}\r\n4\r\nhello\r\n0\r\n\r\n`,
  },
  {
    name: 'a length in the trailers',
    source: '7.1.2',
    answer: `${line}${chunked}\r\n5\r\nhello\r\n0\r\ncontent-length: 99\r\n\r\n`,
    content: 'hello',
  },
  {
    name: 'a bare LF in the trailers',
    source: '7.1.2',
    answer: `${line}${chunked}\r\n5\r\nhello\r\n0\r\na: b\n\r\n`,
  },
]

const forged = `${line}content-length: 6\r\n\r\nforged`

let next = ''
const connections = new Set<Socket>()
const server = createServer((socket) => {
  connections.add(socket)
  socket.on('error', () => undefined)
  // Each request has no body, and arrives in one piece.
  socket.on('data', () => socket.write(Buffer.from(next, 'latin1')))
})
const upstream = new UpstreamPools({ connectTimeoutMs: 10_000 })
before(async () => {
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
})
after(async () => {
  await upstream.close()
  for (const socket of connections) socket.destroy()
  server.close()
})

/** Resolves with the content, or with the kind of the failure. */
function exchange(answer: string): Promise<{ content: string } | { failure: string }> {
  next = answer
  const { port } = server.address() as AddressInfo
  const target = { url: `http://127.0.0.1:${port}`, name: 'alpha-main' }
  const request = {
    method: 'GET',
    path: '/v1/models',
    headers: requestLines(),
    body: undefined,
  } as const
  return new Promise((resolve) => {
    let content = ''
    upstream.send(target, request, {
      onHead: () => undefined,
      onBytes(bytes, start, end) {
        content += bytes.toString('latin1', start, end)
        return true
      },
      onEnd: () => resolve({ content }),
      onFailure: ({ kind }) => resolve({ failure: kind }),
    })
  })
}

for (const { name, answer, content } of cases)
  test(`${name}: the next exchange gets its own answer`, async () => {
    const outcome = await exchange(answer + forged)
    assert.deepEqual(outcome, content === undefined ? { failure: 'protocol' } : { content })
    for (const own of ['first', 'second'])
      assert.deepEqual(await exchange(`${line}content-length: ${own.length}\r\n\r\n${own}`), {
        content: own,
      })
  })

test('all cases are counted', () => {
  reportFigures({
    set: 'vendor-answers',
    part: 'pooled connections',
    cases: cases.length,
    exceptions: 0,
    figures: `${connections.size} connections opened`,
  })
})
