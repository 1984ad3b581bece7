/** One large body is under way at a time, also where a client leaves before its body is read. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { readJsonBody } from './json-body.ts'
import type { ParsedJson } from './json-text.ts'

const mebibyte = 1_048_576

test('a client that leaves before its large body is read keeps no other from being read', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  try {
    const left = connect(port, '127.0.0.1')
    left.write(`PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: ${6 * mebibyte}\r\n\r\n`)
    const [incoming, outgoing] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ]
    const closed = once(outgoing, 'close')
    left.destroy()
    await closed
    await readJsonBody({ incoming, outgoing }, 8 * mebibyte).catch(() => undefined)

    const answered = fetch(`http://127.0.0.1:${port}/`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'x'.repeat(5 * mebibyte) }),
    })
    const [next, answer] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
    const body = await readJsonBody({ incoming: next, outgoing: answer }, 8 * mebibyte)
    answer.end()
    await (await answered).text()
    assert.equal(body.kind, 'body')
  } finally {
    server.close()
  }
})

/** Sends a POST without a body, and returns the body that the gateway reads. */
async function readWithoutBody(headers: Readonly<Record<string, string>>): Promise<ParsedJson> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  try {
    const answered = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers })
    const [incoming, outgoing] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ]
    const read = await readJsonBody({ incoming, outgoing })
    outgoing.end()
    await (await answered).text()
    return read
  } finally {
    server.close()
  }
}

test('no body is an empty object, with and without the content type of JSON', async () => {
  const empty = { kind: 'body', value: {} }
  assert.deepEqual(await readWithoutBody({}), empty)
  // Browsers must send the type with a cookie, also without a body.
  assert.deepEqual(await readWithoutBody({ 'content-type': 'application/json' }), empty)
})

test('no body of another type is refused', async () => {
  const read = await readWithoutBody({ 'content-type': 'text/plain' })
  assert.ok(read.kind === 'refusal')
  assert.equal(read.code, 'http.unsupported_media_type')
})
