/** Every error that the gateway writes has the gateway's id of the request, in its header and its text. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  chatPath,
  chatRequest,
  messagesPath,
  messagesRequest,
  responsesPath,
  responsesRequest,
  type JsonFields,
} from '../support/requests.ts'
import { connectRaw, post, send, type WireAnswer } from '../support/http-client.ts'
import { scenario } from '../support/scenario.ts'
import { completionsPath, embeddingsPath } from '../support/text-operations.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const ownId = /^ex_[0-9a-z]{26}$/

interface ErrorText {
  readonly request_id?: string
  readonly turnpike_request_id?: string
  readonly error: { readonly request_id?: string }
}

function ownIdOf(answer: Pick<WireAnswer, 'headers'>): string {
  const id = String(answer.headers['x-turnpike-request-id'])
  assert.match(id, ownId)
  return id
}

for (const path of [chatPath, responsesPath, embeddingsPath, completionsPath, '/beta/v1/nothing'])
  test(`an error body of ${path} has the id`, async () => {
    const answer = await post(gateway.url + path, account.key, '{')
    const { error } = JSON.parse(answer.body.toString()) as ErrorText
    assert.equal(error.request_id, ownIdOf(answer))
    assert.equal(answer.headers['x-request-id'], error.request_id)
  })

test('an error body of the messages format has the id', async () => {
  const answer = await post(gateway.url + messagesPath, account.key, '{')
  const body = JSON.parse(answer.body.toString()) as ErrorText
  assert.equal(body.request_id, ownIdOf(answer))
  assert.equal(answer.headers['request-id'], body.request_id)
})

for (const path of ['/v1/usage?period=year', '/nowhere'])
  test(`an error body of ${path} has the id`, async () => {
    const answer = await send(gateway.url + path, { headers: { 'x-api-key': account.token } })
    const { error } = JSON.parse(answer.body.toString()) as ErrorText
    assert.equal(error.request_id, ownIdOf(answer))
  })

test('the answer to what is not HTTP has the id', async () => {
  for (const head of ['BREW / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n']) {
    const connection = await connectRaw(gateway.url)
    connection.write(head)
    const answer = await connection.next()
    connection.close()
    assert.ok(answer)
    assert.equal(answer.status, 400)
    const { error } = JSON.parse(answer.body.toString()) as ErrorText
    assert.equal(error.request_id, ownIdOf(answer))
  }
})

/** Returns the last event of a stream that the vendor breaks off. */
async function cutStream(
  path: string,
  request: JsonFields,
  { begun, headers }: { readonly begun: string; readonly headers: Record<string, string> },
): Promise<{ readonly answer: WireAnswer; readonly event: ErrorText }> {
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    response.write(begun, () => response.destroy())
  })
  const answer = await post(gateway.url + path, account.key, request)
  const data = answer.body.toString().trimEnd().split('data: ').at(-1) ?? ''
  return { answer, event: JSON.parse(data) as ErrorText }
}

test('an error event of the messages format has the id beside that of the head', async () => {
  const begun = 'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n'
  const request = messagesRequest({ stream: true })
  for (const headers of [{}, { 'request-id': 'req_vendor_1' }] as Record<string, string>[]) {
    const { answer, event } = await cutStream(messagesPath, request, { begun, headers })
    const shown = answer.headers['request-id']
    assert.equal(shown, headers['request-id'] ?? ownIdOf(answer))
    assert.equal(event.request_id, shown)
    assert.equal(event.turnpike_request_id ?? event.request_id, ownIdOf(answer))
  }
})

const streams = [
  [
    chatPath,
    chatRequest({ stream: true }),
    'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
  ],
  [
    responsesPath,
    responsesRequest({ stream: true }),
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n',
  ],
] as const

for (const [path, request, begun] of streams)
  test(`an error event of ${path} has the id, also where the head has the vendor's`, async () => {
    for (const headers of [{}, { 'x-request-id': 'req_vendor_1' }] as Record<string, string>[]) {
      const { answer, event } = await cutStream(path, request, { begun, headers })
      assert.equal(event.error.request_id, ownIdOf(answer))
    }
  })
