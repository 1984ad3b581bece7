/**
 * Requests that no well-behaved client sends, written to the bare socket. Each gets one answer, or
 * none and an end; none reaches a vendor; none brings the next request on the connection out of step.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import {
  chunked,
  malformedRequests,
  writeRequest,
  type Head,
  type ProperRequest,
} from '../support/malformed-requests.ts'
import { connectRaw, exchangeRaw, send, type RawAnswer } from '../support/http-client.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ settings: { body_max_bytes: '100000' } })
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

const body = JSON.stringify(messagesRequest())

const proper: ProperRequest = {
  path: messagesPath,
  credential: () => account.key,
  body,
}
const request = (head?: Head, content?: string): string => writeRequest(proper, head, content)

const length = `Content-Length: ${body.length}\r\n`

for (const [name, bytes] of Object.entries(malformedRequests(proper)))
  test(`${name}: one refusal, then the connection closes`, async () => {
    const answers = await exchangeRaw(gateway.url, Buffer.from(bytes(), 'latin1'))
    assert.equal(answers.length, 1, JSON.stringify(answers.map((one) => one.body.toString())))
    const [answer] = answers
    assert.ok(answer !== undefined && answer.isComplete)
    assert.ok([400, 405, 417, 505].includes(answer.status), `${answer.status}`)
    assert.equal(answer.headers['connection'], 'close')
    assert.match(answer.headers['x-turnpike-request-id'] ?? '', /^ex_/)
    const error = JSON.parse(answer.body.toString()) as { error: { type: string; message: string } }
    assert.ok(error.error.type !== '' && error.error.message !== '')
    assert.equal(gateway.sandbox.log.records.length, 0, 'nothing reached a vendor')
  })

test('a head that is too large gets 431: too long, or too many headers', async () => {
  for (const lines of [
    [`X-Large: ${'a'.repeat(70_000)}\r\n`],
    Array.from({ length: 257 }, () => 'A: b\r\n'),
    Array.from({ length: 3_000 }, (_, index) => `X-Header-${index}: aaaaaaaaaaaa\r\n`),
  ]) {
    const [answer] = await exchangeRaw(gateway.url, request({ lines: [length, ...lines] }))
    assert.equal(answer?.status, 431)
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})

test('accepts a head of 60 KB', async () => {
  // In a header that is not forwarded: the simulated vendor's own limit is lower.
  const lines = [length, `Cookie: a=${'a'.repeat(60_000)}\r\n`, 'Connection: close\r\n']
  const [answer] = await exchangeRaw(gateway.url, request({ lines }))
  assert.equal(answer?.status, 200)
})

test('drops trailers; a credential in them does not count', async () => {
  const content = `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Api-Key: ${account.key}\r\n\r\n`
  const anonymous =
    `POST ${messagesPath} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
    `${chunked}Connection: close\r\n\r\n${content}`
  const [answer] = await exchangeRaw(gateway.url, anonymous)
  assert.equal(answer?.status, 401)
})

test('ignores a requested upgrade', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const lines = [
      length,
      'Connection: Upgrade, HTTP2-Settings\r\n',
      `Upgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n`,
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
    ]
    const connection = await connectRaw(gateway.url)
    connection.write(request({ lines }))
    const answer = await connection.next()
    connection.close()
    assert.equal(answer?.status, 200, protocol)
    assert.equal(answer.headers['upgrade'], undefined)
  }
})

// --- connections that go on ------------------------------------------------------------------------

const health = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

async function answersTo(bytes: string, count: number): Promise<RawAnswer[]> {
  const connection = await connectRaw(gateway.url)
  connection.write(bytes)
  const answers: RawAnswer[] = []
  for (let index = 0; index < count; index++) {
    const answer = await connection.next()
    if (answer !== undefined) answers.push(answer)
  }
  connection.close()
  return answers
}

test('pipelined requests are answered in their order, refused ones among them', async () => {
  const chat = JSON.stringify(chatRequest())
  const bytes =
    request() +
    health +
    request({}, '{"model":') +
    request({ line: 'POST /alpha/v1/nothing HTTP/1.1' }) +
    request({ line: `POST ${chatPath} HTTP/1.1` }, chat) +
    request({ line: `GET ${messagesPath} HTTP/1.1` }) +
    health
  const answers = await answersTo(bytes, 7)
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 400, 404, 200, 405, 200],
  )
  assert.equal(gateway.sandbox.log.records.length, 2)
})

test('answers a request that is followed by bytes that are no request, then closes', async () => {
  const answers = await exchangeRaw(gateway.url, `${request()}{"trailing":1}\r\n\r\n${health}`)
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers['connection']]),
    [[200, 'close']],
  )
})

test('a refused request of moderate size leaves the connection usable', async () => {
  const content = JSON.stringify(messagesRequest({ pad: 'x'.repeat(50_000) }))
  const unknownKey = request({}, content).replace(account.key, 'cr_unknown')
  const answers = await answersTo(unknownKey + health, 2)
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [401, 200],
  )
})

test('a refused request of unknown or large size closes the connection after one answer', async () => {
  const content = JSON.stringify(messagesRequest({ pad: 'x'.repeat(90_000) }))
  const size = content.length.toString(16)
  const great = request({}, content)
  const unknown = request({ lines: [chunked] }, `${size}\r\n${content}\r\n0\r\n\r\n`)
  for (const bytes of [great, unknown]) {
    const answers = await exchangeRaw(gateway.url, bytes.replace(account.key, 'cr_no') + health)
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.headers['connection']]),
      [[401, 'close']],
    )
  }
})

test('the answer arrives although the client still sends bytes', async () => {
  const connection = await connectRaw(gateway.url)
  let hasFailed = false
  connection.socket.on('error', () => (hasFailed = true))
  connection.write(request({ lines: ['Content-Length: 50000000\r\n'] }, 'x'.repeat(60_000)))
  const answer = await connection.next()
  assert.equal(answer?.status, 413)
  await connection.ended
  // The server has ended its side only: what is written now meets no reset.
  await connection.writePieces([Buffer.alloc(1_000), Buffer.alloc(1_000)])
  assert.equal(hasFailed, false)
  connection.close()
})

test('garbage after a running request does not end its answer', async () => {
  gateway.sandbox.faults.set('alpha-main', { hold: 'garbage@before_head' })
  const connection = await connectRaw(gateway.url)
  connection.write(request())
  await gateway.sandbox.faults.reached('garbage')
  connection.write('\0\0garbage\r\n\r\n')
  assert.equal(await connection.next(), undefined, 'the connection ended without an answer')
  gateway.sandbox.faults.release('garbage')
  gateway.sandbox.faults.clear()
  connection.close()
})

test('a client that leaves in the middle of its body leaves no request running', async () => {
  const connection = await connectRaw(gateway.url)
  connection.write(request().slice(0, -10))
  connection.close()
  assert.equal((await send(`${gateway.url}/health`)).status, 200)
  assert.equal(gateway.sandbox.log.records.length, 0)
})

// --- Expect: 100-continue --------------------------------------------------------------------------

const expecting = [length, 'Expect: 100-continue\r\n']

test('a client with expect: 100-continue gets 100, then its answer', async () => {
  const connection = await connectRaw(gateway.url)
  connection.write(request({ lines: expecting }, ''))
  assert.equal((await connection.next())?.status, 100)
  connection.write(body)
  assert.equal((await connection.next())?.status, 200)
  connection.close()
  const [record] = gateway.sandbox.log.records
  assert.ok(!record?.rawHeaders.some((name) => name.toLowerCase() === 'expect'))
})

test('a client with expect: 100-continue that is refused gets no 100', async () => {
  const refused: readonly (readonly [number, string])[] = [
    [401, request({ lines: expecting }, '').replace(account.key, 'cr_no')],
    [404, request({ line: 'POST /alpha/v2 HTTP/1.1', lines: expecting }, '')],
    [405, request({ line: `PUT ${messagesPath} HTTP/1.1`, lines: expecting }, '')],
    [413, request({ lines: ['Content-Length: 200000\r\nExpect: 100-continue\r\n'] }, '')],
    [415, request({ lines: expecting }, '').replace('application/json', 'text/plain')],
  ]
  for (const [status, bytes] of refused) {
    const answers = await exchangeRaw(gateway.url, bytes)
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status],
    )
  }
})
