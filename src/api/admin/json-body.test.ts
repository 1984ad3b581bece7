/** How bodies are received: their turns, also where a client leaves, and their type. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { FileTurns } from './file-turns.ts'
import { receiveBody, smallBodyBytesMax, type BodySource, type ReceivedBody } from './json-body.ts'

const mebibyte = 1_048_576

async function startServer(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  const turns = new FileTurns()
  const received = async (): Promise<BodySource> => {
    const [incoming, outgoing] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ]
    return { incoming, outgoing }
  }
  /** Announces a large body and sends none of it. */
  const announce = async () => {
    const socket = connect(port, '127.0.0.1')
    const request = received()
    socket.write(`PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: ${6 * mebibyte}\r\n\r\n`)
    return { socket, source: await request }
  }
  const send = async (text: string) => {
    const request = received()
    const answered = fetch(`http://127.0.0.1:${port}/`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })
    return { answered, source: await request }
  }
  const read = (source: BodySource, tokenId = 'a'): Promise<ReceivedBody> =>
    receiveBody(source, smallBodyBytesMax, { bytesMax: 8 * mebibyte, turns, tokenId })
  return { port, received, announce, send, read }
}

function large(): string {
  return 'x'.repeat(5 * mebibyte)
}

test('a large body waits for the one before of its token, and small ones and other tokens do not', async (t) => {
  const { announce, send, read } = await startServer(t)
  const first = await announce()
  const unfinished = read(first.source).catch(() => undefined)
  const second = await send(large())
  let hasSecond = false
  const waiting = read(second.source).finally(() => (hasSecond = true))
  const others = [await send('small'), await send(large())]
  for (const [index, { source, answered }] of others.entries()) {
    assert.equal((await read(source, index === 0 ? 'a' : 'b')).kind, 'bytes')
    source.outgoing.end()
    await (await answered).text()
  }
  assert.equal(hasSecond, false)
  first.socket.destroy()
  await unfinished
  const body = await waiting
  assert.ok(body.kind === 'bytes')
  assert.deepEqual(JSON.parse(body.bytes.toString()), { text: large() })
  second.source.outgoing.end()
  await (await second.answered).text()
})

test('a client that leaves before its large body is read keeps no other from being read', async (t) => {
  const { announce, send, read } = await startServer(t)
  const left = await announce()
  const closed = once(left.source.outgoing, 'close')
  left.socket.destroy()
  await closed
  await read(left.source).catch(() => undefined)
  const { source, answered } = await send(large())
  assert.equal((await read(source)).kind, 'bytes')
  source.outgoing.end()
  await (await answered).text()
})

test('of all tokens two large bodies are under way, and of one token four wait', async (t) => {
  const { announce, read } = await startServer(t)
  const begun = [await announce(), await announce()]
  for (const [index, { source }] of begun.entries())
    void read(source, `token-${index}`).catch(() => undefined)
  const third = await announce()
  const refused = await read(third.source, 'token-2')
  assert.ok(refused.kind === 'refusal')
  assert.deepEqual([refused.code, refused.headers], ['relay.overloaded', { 'retry-after': '5' }])
  const waiting = [await announce(), await announce(), await announce()]
  for (const { source } of waiting) void read(source, 'token-0').catch(() => undefined)
  const fifth = await announce()
  assert.equal((await read(fifth.source, 'token-0')).kind, 'refusal')
  for (const { socket } of [...begun, third, ...waiting, fifth]) socket.destroy()
})

/** Sends a POST without a body, and returns the body that the gateway receives. */
async function readWithoutBody(
  t: TestContext,
  headers: Readonly<Record<string, string>>,
): Promise<ReceivedBody> {
  const { port, received } = await startServer(t)
  const request = received()
  const answered = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers })
  const source = await request
  const read = await receiveBody(source, smallBodyBytesMax)
  source.outgoing.end()
  await (await answered).text()
  return read
}

test('no body is empty, with and without the content type of JSON', async (t) => {
  // Browsers must send the type with a cookie, also without a body.
  for (const headers of [{}, { 'content-type': 'application/json' }]) {
    const read = await readWithoutBody(t, headers)
    assert.ok(read.kind === 'bytes')
    assert.equal(read.bytes.length, 0)
  }
})

test('no body of another type is refused', async (t) => {
  const read = await readWithoutBody(t, { 'content-type': 'text/plain' })
  assert.ok(read.kind === 'refusal')
  assert.equal(read.code, 'http.unsupported_media_type')
})
