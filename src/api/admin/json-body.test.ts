/** One large body is under way at a time, also where a client leaves before its body is read. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { readJsonBody } from './json-body.ts'

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
