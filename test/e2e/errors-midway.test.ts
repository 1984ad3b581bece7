/**
 * Errors that a vendor tells in the middle of a stream: the client gets them as events it can read,
 * however the vendor ended them, and then the connection breaks off.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { post, type WireAnswer } from '../support/http-client.ts'
import {
  chatPath,
  chatRequest,
  messagesPath,
  messagesRequest,
  responsesPath,
  responsesRequest,
} from '../support/requests.ts'
import { writePieces } from '../support/scripted-vendor.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const streams = {
  messages: {
    path: messagesPath,
    request: messagesRequest({ stream: true }),
    begun: 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    error:
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Too much."}}',
  },
  chat: {
    path: chatPath,
    request: chatRequest({ stream: true }),
    begun: 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    error: 'data: {"error":{"message":"boom","type":"server_error","param":null,"code":null}}',
  },
  responses: {
    path: responsesPath,
    request: responsesRequest({ stream: true }),
    begun:
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n',
    error:
      'event: error\ndata: {"type":"error","sequence_number":9,"error":{"message":"boom","code":null}}',
  },
  failed_responses: {
    path: responsesPath,
    request: responsesRequest({ stream: true }),
    begun:
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n',
    error:
      'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"message":"boom"}}}',
  },
} as const

function ask(name: keyof typeof streams, pieces: readonly string[]): Promise<WireAnswer> {
  const { path, request, begun } = streams[name]
  vendor.answer(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await writePieces(
      response,
      [begun, ...pieces].map((piece) => Buffer.from(piece)),
    )
    response.end()
  })
  return post(gateway.url + path, account.key, request)
}

for (const name of ['messages', 'chat', 'responses', 'failed_responses'] as const) {
  const { begun, error } = streams[name]
  const tails = { '': '\n\n', '\n': '\n\n', '\r': '\r\n\n', '\r\n': '\r\n\n', '\n\n': '\n\n' }
  for (const [tail, shown] of Object.entries({ ...tails, '\r\n\r\n': '\r\n\r\n' }))
    test(`a ${name} error that ends in ${JSON.stringify(tail)} is a whole event`, async () => {
      const answer = await ask(name, [error + tail])
      assert.equal(answer.status, 200)
      assert.equal(answer.body.toString(), begun + error + shown)
      assert.equal(answer.isComplete, false)
    })

  test(`a ${name} error whose last line end is cut in two is a whole event`, async () => {
    const answer = await ask(name, [`${error}\r\n\r`, '\n'])
    assert.equal(answer.body.toString(), `${begun}${error}\r\n\r\n`)
    assert.equal(answer.isComplete, false)
  })

  test(`a ${name} event that is not whole and no error is not shown`, async () => {
    const answer = await ask(name, ['data: {"choices":[],"type":"ping"}'])
    const text = answer.body.toString()
    assert.ok(text.startsWith(begun) && text.includes('broke off'), text)
    assert.ok(!text.includes('ping'), text)
    assert.equal(answer.isComplete, false)
  })
}
