/**
 * Bodies of a vendor's errors that are out of the ordinary: whatever is shown of them is shown whole,
 * and nothing about them is the channel's fault when the request was.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoCatalogueText } from '../../src/sandbox/demo.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { messagesPath, messagesRequest } from '../support/request-bodies.ts'
import { openScriptedGateway } from '../support/scripted-gateway.ts'

const bodyBytesMax = 2_000_000
const { vendor, gateway, account } = await openScriptedGateway(demoCatalogueText, {
  answer_max_bytes: String(bodyBytesMax),
})

interface VendorAnswer {
  readonly status: number
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

function ask({ status, body, headers }: VendorAnswer): Promise<WireAnswer> {
  vendor.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  })
  return post(gateway.url + messagesPath, account.key, messagesRequest())
}

function errorBody(message: string): Buffer {
  const error = { type: 'invalid_request_error', message }
  return Buffer.from(JSON.stringify({ type: 'error', error, request_id: 'req_1' }))
}

function assertServing(): void {
  const channel = gateway.app.snapshot().channels.get('alpha-main')
  assert.ok(channel !== undefined)
  assert.equal(gateway.app.health.grade(channel, 'large-1'), 'on')
}

test("a client's fault passes to the byte, however long its text", async () => {
  const body = errorBody('x'.repeat(1_500_000))
  const answer = await ask({ status: 400, body })
  assert.equal(answer.status, 400)
  assert.ok(answer.body.equals(body), `${answer.body.length} bytes`)
})

test('what is too large to be kept is not shown in part', async () => {
  const body = errorBody('x'.repeat(bodyBytesMax))
  for (const [status, shown] of [
    [400, 502],
    [429, 429],
    [500, 502],
  ] as const) {
    const answer = await ask({ status, body })
    assert.equal(answer.status, shown)
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } }
    assert.match(error.message, /vendor/i)
    if (status === 400) assertServing()
  }
})
