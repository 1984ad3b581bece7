/**
 * Clients that take their time, against limits set small: each costs the gateway no more than that
 * limit, and gets an answer that says so where there is somebody to tell.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { chatPath, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { connectRaw, send } from '../support/http-client.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({
    settings: { head_timeout: '1s', body_timeout: '1s', keep_alive_timeout: '1s' },
  })
  account = await gateway.createAccount()
})
after(() => gateway.close())

test('an incomplete head gets 408, then the connection closes', async () => {
  const connection = await connectRaw(gateway.url)
  connection.write(`POST ${messagesPath} HTTP/1.1\r\nHost: a\r\nX-Api-`)
  const answer = await connection.next()
  assert.equal(answer?.status, 408)
  assert.equal(answer.headers['connection'], 'close')
  assert.equal(await connection.next(), undefined)
  connection.close()
})

test('an incomplete body gets 408 in the format of the route', async () => {
  const shapes = { [messagesPath]: /^\{"type":"error"/, [chatPath]: /^\{"error":\{"message"/ }
  for (const [path, shape] of Object.entries(shapes)) {
    const connection = await connectRaw(gateway.url)
    connection.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model":',
    )
    const answer = await connection.next()
    assert.equal(answer?.status, 408)
    assert.match(answer.body.toString(), shape)
    assert.equal(await connection.next(), undefined, 'the rest would look like a new request')
    connection.close()
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})

test('closes a connection that sends nothing', async () => {
  const connection = await connectRaw(gateway.url)
  await connection.ended
  connection.close()
})

test('closes an answered connection that sends nothing more', async () => {
  const connection = await connectRaw(gateway.url)
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.equal((await connection.next())?.status, 200)
  assert.equal(await connection.next(), undefined)
  connection.close()
})

test('an answer may take longer than a request may', async () => {
  const answer = await send(gateway.url + messagesPath, {
    headers: {
      'x-api-key': account.key,
      'content-type': 'application/json',
      'x-sandbox': 'delay_ms=2500',
    },
    body: JSON.stringify(messagesRequest()),
  })
  assert.equal(answer.status, 200)
})
