/**
 * Bodies under way are bounded in bytes, per key, account and process: what finds no room is refused before
 * it is read. Large bodies are parsed on a thread and pass byte for byte all the same.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { connectRaw, post, send, type WireAnswer } from '../support/http-client.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const bodyBytesMax = 400_000
let gateway: Scenario

/** A request of this size in bytes. */
function sized(bytes: number): string {
  const room = bytes - JSON.stringify(messagesRequest({ padding: '' })).length
  return JSON.stringify(messagesRequest({ padding: 'x'.repeat(room) }))
}

function ask(key: string, body: string): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, body)
}

/** Sends the head of a request and the first byte of its body. */
async function beginBody(key: string, framing: string) {
  const connection = await connectRaw(gateway.url)
  connection.write(
    `POST ${messagesPath} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\n` +
      `Content-Type: application/json\r\n${framing}\r\n\r\n`,
  )
  return connection
}

describe('bodies under way', () => {
  before(async () => {
    gateway = await scenario({
      // A key has a quarter of them, and at least room for the largest body.
      settings: { body_max_bytes: String(bodyBytesMax), bodies_max_bytes: '1048576' },
    })
  })
  after(() => gateway.close())

  test('a key that has no room is refused, others are not, and it has room again afterwards', async () => {
    const { key } = await gateway.createAccount()
    const other = await gateway.createAccount()
    const unfinished = await beginBody(key, 'Content-Length: 300000')
    const refused = await eventually(
      'the unfinished body takes its room',
      () => ask(key, sized(150_000)),
      ({ status }) => status === 429,
    )
    assert.match(refused.body.toString(), /running requests of this key are too large together/)
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal((await ask(key, sized(90_000))).status, 200)
    assert.equal((await ask(other.key, sized(150_000))).status, 200)
    unfinished.close()
    await eventually(
      'the room is free again',
      () => ask(key, sized(150_000)),
      ({ status }) => status === 200,
    )
  })

  test('a body whose length was not announced takes room as it grows', async () => {
    const { key } = await gateway.createAccount()
    const unfinished = await beginBody(key, 'Content-Length: 300000')
    const chunked = await beginBody(key, 'Transfer-Encoding: chunked')
    const whole = sized(200_000)
    for (let at = 0; at < whole.length; at += 10_000) {
      const piece = whole.slice(at, at + 10_000)
      chunked.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)
    }
    chunked.write('0\r\n\r\n')
    assert.equal((await chunked.next())?.status, 429)
    chunked.close()
    unfinished.close()
  })

  test('a large body is read on a thread and passes byte for byte', async () => {
    const { key } = await gateway.createAccount()
    gateway.sandbox.log.clear()
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const more = { ...headers, 'x-sandbox-marker': 'large' }
    const body = sized(390_000)
    const answer = await send(gateway.url + messagesPath, { method: 'POST', headers: more, body })
    assert.equal(answer.status, 200)
    const broken = await ask(key, `${sized(200_000)}}`)
    assert.equal(broken.status, 400)
    assert.match(broken.body.toString(), /not valid JSON \(at byte 200000\)/)
  })
})
