/**
 * Codex CLI asks for a WebSocket on the responses path first, and takes 426 for the sign to go on over HTTP
 * at once. Raw, because the connection is looked at behind the answer.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { connectRaw, type RawAnswer, type RawConnection } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { chatPath } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const responsesPath = '/beta/v1/responses'
const handshake =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOpenAI-Beta: responses_websockets=2026-02-06\r\n'

let gateway: Scenario
before(async () => {
  gateway = await scenario({ account: { rpm: 3 } })
})
after(async () => {
  await assertClean(gateway)
  await gateway.close()
})
beforeEach(() => gateway.sandbox.log.clear())

interface Raw {
  readonly line?: string
  readonly lines?: string
  readonly key?: string
}

function get({ line = `GET ${responsesPath} HTTP/1.1`, lines = handshake, key }: Raw = {}): string {
  return `${line}\r\nHost: a\r\nAuthorization: Bearer ${key ?? gateway.account.key}\r\n${lines}\r\n`
}

async function answerTo(bytes: string, connection?: RawConnection): Promise<RawAnswer> {
  const used = connection ?? (await connectRaw(gateway.url))
  try {
    used.write(bytes)
    const answer = await used.next()
    assert.ok(answer?.isComplete === true)
    return answer
  } finally {
    if (connection === undefined) used.close()
  }
}

function errorOf(answer: RawAnswer): Record<string, unknown> {
  return (JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }).error
}

test('a WebSocket on the responses path gets 426 in the chat format, and its connection goes on', async (t) => {
  const connection = await connectRaw(gateway.url)
  t.after(() => connection.close())
  for (let times = 0; times < 5; times++) {
    const answer = await answerTo(get(), connection)
    assert.equal(answer.status, 426)
    assert.equal(answer.headers['upgrade'], 'websocket')
    assert.equal(answer.headers['connection'], 'keep-alive, upgrade')
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.headers['x-request-id'], answer.headers['x-turnpike-request-id'])
    assert.deepEqual(errorOf(answer), {
      message: 'There is no WebSocket here. Use POST.',
      type: 'invalid_request_error',
      param: null,
      code: null,
      request_id: answer.headers['x-turnpike-request-id'],
    })
  }
  const body = JSON.stringify({ model: 'chat-1', input: 'Hello' })
  const lines = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const post = get({ line: `POST ${responsesPath} HTTP/1.1`, lines }) + body
  assert.equal((await answerTo(post, connection)).status, 200)
  assert.equal(gateway.sandbox.log.records.length, 1)
})

test('a WebSocket on a connection that closes gets 426 that says so', async () => {
  const lines = handshake.replace('Connection: Upgrade', 'Connection: close, Upgrade')
  const answer = await answerTo(get({ lines }))
  assert.deepEqual([answer.status, answer.headers['connection']], [426, 'close, upgrade'])
})

test('a WebSocket with a wrong key gets 401, as without it', async () => {
  const answer = await answerTo(get({ key: 'cr_wrong' }))
  assert.equal(answer.status, 401)
  assert.equal(answer.headers['upgrade'], undefined)
  assert.equal(errorOf(answer)['code'], 'invalid_api_key')
})

test('a GET of the responses path that asks for no WebSocket gets 405', async () => {
  for (const raw of [
    { lines: '' },
    { lines: 'Upgrade: websocket\r\n' },
    { lines: 'Connection: Upgrade\r\nUpgrade: h2c\r\n' },
    { lines: handshake, line: `GET ${responsesPath} HTTP/1.0` },
    { lines: handshake, line: `PUT ${responsesPath} HTTP/1.1` },
  ]) {
    const answer = await answerTo(get(raw))
    assert.deepEqual([answer.status, answer.headers['allow']], [405, 'POST'], JSON.stringify(raw))
    assert.equal(answer.headers['upgrade'], undefined)
  }
})

test('a WebSocket on any other path is ignored', async () => {
  for (const [path, status] of [
    [chatPath, 405],
    ['/alpha/v1/messages', 405],
    ['/beta/v1/models', 200],
    ['/beta/v1/nothing', 404],
    ['/health', 200],
  ] as const) {
    const answer = await answerTo(get({ line: `GET ${path} HTTP/1.1` }))
    assert.equal(answer.status, status, path)
    assert.equal(answer.headers['upgrade'], undefined)
  }
})
