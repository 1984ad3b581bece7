/**
 * One vendor of the messages format in two clouds: the main channel has Anthropic's own form, the reserve
 * that of another cloud, with its own base path, credential form, query and headers. A failover sends the
 * same body there in that form, and nothing of the main's secrets.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { post } from '../support/http-client.ts'
import { showRequest } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { startScriptedVendor, type ScriptedVendor } from '../support/scripted-vendor.ts'

const answer = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'large-1',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 2 },
})

let reserve: ScriptedVendor
let gateway: Scenario
before(async () => {
  reserve = await startScriptedVendor()
  process.env['WAYS_WORKSPACE'] = 'workspace-of-the-operator'
  gateway = await scenario({ vendors: 'scripted', catalogue: twoClouds })
})
after(async () => {
  await gateway.close()
  await reserve.close()
})
beforeEach(() => {
  gateway.resetHealth()
  gateway.scripted.answer((response) => void response.writeHead(529).end())
  reserve.answer((response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-echo': 'workspace-of-the-operator',
    })
    response.end(answer)
  })
})

function twoClouds(url: string): string {
  return `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01" }
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "${url}", credential: main-secret, models: [large-1], check: none }
  bedrock:
    vendor: alpha
    url: "${reserve.url}/anthropic"
    credential: bedrock-secret
    credential_form: bearer
    query: { api-version: "2026-10-01" }
    headers: { x-amzn-workspace: env:WAYS_WORKSPACE }
    drop_betas: [context-1m-2026-01-01, "files-*"]
    models: [large-1]
    rank: 1
    check: none
  foundry:
    vendor: alpha
    url: "${reserve.url}/foundry"
    path: /api/paas/v4
    credential: foundry-secret
    credential_form: api-key
    models: [large-1]
    rank: 2
    check: none
`
}

const body = JSON.stringify(messagesRequest({ metadata: { 'odd  spacing': ' \u00e9 ' } }), null, 3)

function ask(query = '', headers: Readonly<Record<string, string>> = {}) {
  const url = `${gateway.url}/alpha/v1/messages${query}`
  return post(url, gateway.account.key, body, headers)
}

function headersOf({ last }: ScriptedVendor): Headers {
  const raw = last?.rawHeaders ?? []
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
  return new Headers(pairs as [string, string][])
}

test('a failover reaches the other cloud in its own form, with the same body', async () => {
  const got = await ask('?beta=true&api-version=1')
  assert.equal(got.status, 200, got.body.toString())
  assert.equal(got.body.toString(), answer)

  const main = gateway.scripted.last
  assert.equal(main?.target, '/v1/messages?beta=true&api-version=1')
  assert.equal(headersOf(gateway.scripted).get('x-api-key'), 'main-secret')
  assert.equal(headersOf(gateway.scripted).get('x-amzn-workspace'), null)

  const there = headersOf(reserve)
  assert.equal(reserve.last?.target, '/anthropic/v1/messages?beta=true&api-version=2026-10-01')
  assert.equal(there.get('authorization'), 'Bearer bedrock-secret')
  assert.equal(there.get('x-api-key'), null)
  assert.equal(there.get('x-amzn-workspace'), 'workspace-of-the-operator')
  assert.equal(there.get('anthropic-version'), '2023-06-01')
  assert.deepEqual(reserve.last?.body, Buffer.from(body))
  assert.deepEqual(main?.body, reserve.last?.body)
})

test('the value of a header that the catalogue refers to reaches no client', async () => {
  const got = await ask()
  assert.equal(got.status, 200)
  assert.equal(got.headers['x-echo'], undefined)
})

test('a channel leaves out the betas that its vendor does not know, and each attempt records which', async () => {
  const known = 'files-api, tools-2026-02-02,context-1m-2026-01-01'
  const got = await ask('', { 'anthropic-beta': known })
  assert.equal(got.status, 200)
  assert.equal(headersOf(gateway.scripted).get('anthropic-beta'), known)
  assert.equal(headersOf(reserve).get('anthropic-beta'), 'tools-2026-02-02')
  await gateway.recorded(got)
  const id = String(got.headers['x-turnpike-request-id'])
  const { attempts } = await showRequest(gateway.context, { request: id })
  assert.deepEqual(
    attempts.map(({ channel, dropped_betas: dropped }) => [channel, ...dropped]),
    [['main'], ['bedrock', 'files-api', 'context-1m-2026-01-01']],
  )
})

test('a header of betas passes as it came where nothing of it is left out, and goes where nothing is left', async () => {
  await ask('', { 'anthropic-beta': ' one ,two' })
  assert.equal(headersOf(reserve).get('anthropic-beta'), 'one ,two')
  await ask('', { 'anthropic-beta': 'files-api' })
  assert.equal(headersOf(reserve).get('anthropic-beta'), null)
})

test('a third form follows where the second cloud fails too', async () => {
  const targets: string[] = []
  reserve.answer((response, { target }) => {
    targets.push(target)
    if (target.startsWith('/anthropic')) response.writeHead(529).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
  const got = await ask()
  assert.equal(got.status, 200, got.body.toString())
  assert.deepEqual(targets, [
    '/anthropic/v1/messages?api-version=2026-10-01',
    '/foundry/api/paas/v4/messages',
  ])
  assert.equal(headersOf(reserve).get('api-key'), 'foundry-secret')
  assert.equal(headersOf(reserve).get('authorization'), null)
})
