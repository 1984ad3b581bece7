/**
 * What Claude Code asks of a gateway, row by row of the table in docs/clients/claude-code.md, as requests
 * that it sends. The vendor is scripted, so that every byte that reaches it can be compared.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClientKey } from '../support/operations.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
before(async () => {
  gateway = await scenario({ vendors: 'scripted' })
})
after(() => gateway.close())

const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'large-1',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 1 },
}
/** As a coding agent writes it: fields that the gateway does not know, with unusual order and spacing. */
const body = `{ "model":"large-1","max_tokens":64 , "thinking":{"type":"adaptive","display":"omitted"},
 "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"output_config":{"effort":"high"},
 "system":[{"type":"text","text":"x-anthropic-billing-header: cc"}],"tools":[{"name":"Bash","input_schema":{"type":"object"},"eager_input_streaming":true}],
 "metadata":{"user_id":"{\\"device_id\\":\\"a\\",\\"session_id\\":\\"s\\"}"},"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"stream":false}`
const sentHeaders: Readonly<Record<string, string>> = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,brand-new-2027-01-01',
  'x-app': 'cli',
  'x-claude-code-session-id': '11111111-2222-3333-4444-555555555555',
  'x-claude-code-agent-id': 'a1',
  'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)',
  'x-stainless-lang': 'js',
}

function ask(path: string, { key, text = body }: { key?: string; text?: string } = {}) {
  return send(`${gateway.url}/alpha${path}`, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key ?? gateway.account.key}`,
      ...sentHeaders,
    },
    body: text,
  })
}

function answerWith(status: number, value: object, headers: Record<string, string> = {}): string {
  const text = JSON.stringify(value)
  gateway.scripted.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  return text
}

function errorOf({ text }: WireAnswer): { readonly type: string; readonly message: string } {
  return (JSON.parse(text) as { error: { type: string; message: string } }).error
}

/** The vendor got the body byte for byte, and every header. */
function assertPassed(path: string, text: string): void {
  const { last } = gateway.scripted
  assert.ok(last?.target.endsWith(path) === true)
  assert.equal(last.body.toString(), text)
  const { rawHeaders } = last
  const names = rawHeaders.map((part) => part.toLowerCase())
  for (const [name, value] of Object.entries(sentHeaders))
    assert.equal(rawHeaders[names.indexOf(name) + 1], value)
}

test('messages: query, headers, betas and fields reach the vendor as they came', async () => {
  const text = answerWith(200, answer)
  const got = await ask('/v1/messages?beta=true')
  assert.deepEqual([got.status, got.text], [200, text])
  assertPassed('/v1/messages?beta=true', body)
})

test('count_tokens: forwarded and free', async () => {
  const text = answerWith(200, { input_tokens: 9 })
  const asked = body.replace('"max_tokens":64 , ', '')
  const got = await ask('/v1/messages/count_tokens?beta=true', { text: asked })
  assert.deepEqual([got.status, got.text], [200, text])
  assertPassed('/v1/messages/count_tokens?beta=true', asked)
})

test('the probe at its start is answered at once, without a credential and without the vendor', async () => {
  const before = gateway.scripted.requestCount
  const got = await send(`${gateway.url}/alpha/api/hello`, { method: 'HEAD' })
  assert.equal(got.status, 200)
  assert.equal(gateway.scripted.requestCount, before)
})

test('models: one page of all that the key may use, with ids and names, without a redirect', async () => {
  const got = await send(`${gateway.url}/alpha/v1/models?limit=1000`, {
    headers: { authorization: `Bearer ${gateway.account.key}`, 'anthropic-version': '2023-06-01' },
  })
  assert.equal(got.status, 200)
  const list = JSON.parse(got.text) as { data: { id: string; display_name: string }[] }
  assert.ok(list.data.some(({ id }) => id === 'large-1'))
  assert.ok(list.data.every(({ display_name: name }) => name !== ''))
})

test('a model that the key may not use: 400 invalid_request_error', async () => {
  const { secret } = await createClientKey(gateway.context, {
    account: gateway.account.name,
    name: 'bounded',
    models: ['small-1'],
  })
  const got = await ask('/v1/messages', { key: secret })
  assert.equal(got.status, 400)
  assert.equal(errorOf(got).type, 'invalid_request_error')
})

test('errors of the vendor about the request pass to the byte', async () => {
  const message = 'thinking.display: this model does not support it'
  const error = { type: 'error', error: { type: 'invalid_request_error', message } }
  const text = answerWith(400, error, { 'request-id': 'req_vendor' })
  const got = await ask('/v1/messages?beta=true')
  assert.deepEqual([got.status, got.text], [400, text])
  assert.equal(got.headers['request-id'], 'req_vendor')
})

test('a 401 has no word that Claude Code hides, and says not to try again', async () => {
  const got = await ask('/v1/messages', { key: 'cr_unknown' })
  assert.equal(got.status, 401)
  assert.ok(!got.text.includes('x-api-key'))
  assert.equal(got.headers['x-should-retry'], 'false')
})

test('pings and unknown events of a stream pass', async () => {
  const events = [
    ['message_start', { type: 'message_start', message: { ...answer, content: [] } }],
    ['ping', { type: 'ping' }],
    ['brand_new', { type: 'brand_new', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    ],
    ['message_stop', { type: 'message_stop' }],
  ] as const
  const stream = events
    .map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    .join('')
  gateway.scripted.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
  })
  const got = await ask('/v1/messages?beta=true', {
    text: body.replace('"stream":false', '"stream":true'),
  })
  assert.deepEqual([got.status, got.text], [200, stream])
})
