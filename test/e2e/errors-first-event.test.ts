/**
 * Errors that a vendor tells as the first event of a stream: while nothing has been shown, the client
 * gets them as the answer they should have been.
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
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const uuid = '550e8400-e29b-41d4-a716-446655440000'

type Headers = Readonly<Record<string, string>>

function ask(
  frame: string,
  format: 'messages' | 'chat' | 'responses',
  headers: Headers = {},
): Promise<WireAnswer> {
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    response.end(frame)
  })
  const requests = {
    messages: [messagesPath, messagesRequest({ stream: true })],
    chat: [chatPath, chatRequest({ stream: true })],
    responses: [responsesPath, responsesRequest({ stream: true })],
  } as const
  const [path, body] = requests[format]
  return post(gateway.url + path, account.key, body)
}

const chatError = {
  message: "This model's maximum context length is 8192 tokens.",
  type: 'invalid_request_error',
  param: 'messages',
  code: 'context_length_exceeded',
}
const messagesError = {
  type: 'request_too_large',
  message: 'Too much of it.',
  details: { error_code: 'request_body_too_large_after_decoding' },
}

test("a chat client's fault is shown as the vendor sent it", async () => {
  const envelope = JSON.stringify({ error: chatError, more: 1 })
  const answer = await ask(`: hello\n\ndata: ${envelope}\n\n`, 'chat')
  assert.equal(answer.status, 400)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.body.toString(), envelope)
  assert.ok(answer.isComplete)
})

test("a messages client's fault has the status of its type", async () => {
  const envelope = JSON.stringify({ type: 'error', error: messagesError, request_id: 'req_vendor' })
  const frame = `event: error\ndata: ${envelope}\n\n`
  const answer = await ask(frame, 'messages', { 'request-id': 'req_vendor' })
  assert.equal(answer.status, 413)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['request-id'], 'req_vendor')
  assert.equal(answer.body.toString(), envelope)
})

test("the body's request id is the header's, not the one in the event", async () => {
  for (const told of [undefined, 'req_another'])
    for (const headers of [{}, { 'request-id': 'req_vendor' }] as Headers[]) {
      const envelope = JSON.stringify({ type: 'error', error: messagesError, request_id: told })
      const answer = await ask(`event: error\ndata: ${envelope}\n\n`, 'messages', headers)
      const id = answer.headers['request-id']
      assert.equal(id, headers['request-id'] ?? answer.headers['x-turnpike-request-id'])
      assert.deepEqual(JSON.parse(answer.body.toString()), {
        type: 'error',
        error: messagesError,
        request_id: id,
      })
    }
})

test("an event that names the operator's account is not shown", async () => {
  const secretive = [
    { ...chatError, message: 'Not for org-operator1234.' },
    { ...chatError, param: 'proj_operator1234' },
    { ...chatError, message: `Not for organization ${uuid}, operator1234.` },
  ]
  for (const error of secretive) {
    const answer = await ask(`data: ${JSON.stringify({ error })}\n\n`, 'chat')
    assert.equal(answer.status, 502)
    assert.doesNotMatch(answer.body.toString(), /operator1234/)
  }
  const spelled = JSON.stringify({ error: secretive[0] }).replace('org-', 'org\\u002d')
  const answer = await ask(`data: ${spelled}\n\n`, 'chat')
  assert.equal(answer.status, 502)
})

test("the client's own ids are shown to the client", async () => {
  const message = `tool_call_id 'call-${uuid}' not found in tool_calls of previous message`
  for (const error of [
    { ...chatError, message, code: null },
    { ...chatError, message, request_id: uuid },
  ]) {
    const envelope = JSON.stringify({ error })
    const answer = await ask(`data: ${envelope}\n\n`, 'chat')
    assert.equal(answer.status, 400)
    assert.equal(answer.body.toString(), envelope)
  }
  const envelope = JSON.stringify({
    type: 'error',
    error: { type: 'invalid_request_error', message: `tool_use_id toolu-${uuid} is unknown` },
    request_id: uuid,
  })
  const frame = `event: error\ndata: ${envelope}\n\n`
  const answer = await ask(frame, 'messages', { 'request-id': uuid })
  assert.equal(answer.status, 400)
  assert.equal(answer.body.toString(), envelope)
})

test('an event without an envelope gets ours', async () => {
  const data = JSON.stringify({ code: 'context_length_exceeded', message: 'Too long.' })
  const answer = await ask(`event: error\ndata: ${data}\n\n`, 'chat')
  assert.equal(answer.status, 400)
  const shown = JSON.parse(answer.body.toString()) as { error: { message: string } }
  assert.equal(shown.error.message, 'Too long.')
})

const working =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' +
  'event: response.in_progress\ndata: {"type":"response.in_progress","response":{"id":"resp_1"}}\n\n'

/** The forms in which vendors report one error behind the events that only say that they work. */
function responsesErrors(error: object): Readonly<Record<string, string>> {
  const failed = { type: 'response.failed', response: { status: 'failed', error } }
  const nested = { type: 'error', sequence_number: 2, error }
  const flat = { ...error, type: 'error', sequence_number: 2 }
  return {
    nested: `event: error\ndata: ${JSON.stringify(nested)}\n\n`,
    flat: `event: error\ndata: ${JSON.stringify(flat)}\n\n`,
    failed: `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`,
  }
}

test('a fault of a responses client is shown as an answer, in whichever event it comes', async () => {
  const error = { message: 'Bad image.', param: 'input', code: 'invalid_image_url' }
  for (const [form, frame] of Object.entries(responsesErrors(error))) {
    const answer = await ask(working + frame, 'responses')
    assert.equal(answer.status, 400, form)
    assert.equal(answer.headers['content-type'], 'application/json')
    const shown = { message: 'Bad image.', type: 'server_error', param: 'input', code: error.code }
    assert.deepEqual(JSON.parse(answer.body.toString()), { error: shown }, form)
  }
})

test('a responses error of the operator’s account is not shown', async () => {
  const error = {
    message: 'No quota for org-operator1234.',
    param: null,
    code: 'insufficient_quota',
  }
  for (const [form, frame] of Object.entries(responsesErrors(error))) {
    const answer = await ask(working + frame, 'responses')
    assert.equal(answer.status, 502, form)
    assert.doesNotMatch(answer.body.toString(), /operator1234/, form)
  }
})

test('a response that failed is no answer with status 200 either', async () => {
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const error = { code: 'invalid_prompt', message: 'No.' }
    response.end(JSON.stringify({ id: 'resp_1', status: 'failed', output: [], error }))
  })
  const answer = await post(gateway.url + responsesPath, account.key, responsesRequest())
  assert.equal(answer.status, 400)
  const shown = { message: 'No.', type: 'server_error', param: null, code: 'invalid_prompt' }
  assert.deepEqual(JSON.parse(answer.body.toString()), { error: shown })
})
