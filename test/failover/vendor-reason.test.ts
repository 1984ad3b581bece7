/**
 * The record of a refused request has the vendor's type, code and parameter, never its message. Operators see
 * it for every attempt, account holders only where the vendor refused the request itself.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { showRequest } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
before(async () => {
  gateway = await scenario({ vendors: 'scripted' })
})
after(() => gateway.close())
beforeEach(() => gateway.resetHealth())

const prompt = 'canary-of-the-prompt'

interface VendorError {
  readonly type?: string
  readonly code?: string
  readonly param?: string
}

/** Asks while each channel answers with this error, and its message quotes the prompt. */
async function refused(status: number, error: VendorError): Promise<WireAnswer> {
  const body = JSON.stringify({ error: { message: `No: ${prompt}`, ...error } })
  gateway.scripted.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  return gateway.ask({ format: 'chat', isStream: false, prompt })
}

function idOf(answer: WireAnswer): string {
  return String(answer.headers['x-turnpike-request-id'])
}

async function shownToHolder(answer: WireAnswer): Promise<unknown> {
  const headers = { authorization: `Bearer ${gateway.account.token}` }
  // A question about the store, because those of an account holder are counted.
  const find = () => showRequest(gateway.context, { request: idOf(answer) }).catch(() => undefined)
  await eventually('the record', find, (found) => found !== undefined)
  const shown = await send(`${gateway.url}/v1/usage/requests/${idOf(answer)}`, { headers })
  assert.equal(shown.status, 200)
  assert.ok(!shown.text.includes(prompt))
  return (JSON.parse(shown.text) as Record<string, unknown>)['vendor_error']
}

test('a refusal of the request is recorded for the operator and the holder, without its message', async () => {
  const error = {
    type: 'invalid_request_error',
    code: 'invalid_type',
    param: 'tools[0].function.parameters.properties.secret',
  }
  const answer = await refused(400, error)
  assert.equal(answer.status, 400)
  assert.ok(answer.text.includes(prompt), 'the client gets it as it came')
  const kept = { ...error, param: 'tools[0].function.parameters' }
  assert.deepEqual(await shownToHolder(answer), kept)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(
    shown.attempts.map(({ vendor_error: reason }) => reason),
    [kept],
  )
  assert.ok(!JSON.stringify(shown).includes(prompt))
})

test('what a vendor says of the account is for the operator alone', async () => {
  const answer = await refused(429, { type: 'insufficient_quota', code: 'insufficient_quota' })
  assert.equal(await shownToHolder(answer), null)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(shown.attempts[0]?.vendor_error, {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    param: null,
  })
})

test('an error in the middle of a stream is recorded for the operator alone', async () => {
  const error = { type: 'overloaded_error', message: `Too much: ${prompt}` }
  const begun = 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
  gateway.scripted.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${begun}event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
  })
  const answer = await gateway.ask({ format: 'messages', isStream: true, prompt })
  assert.ok(answer.text.startsWith(begun), answer.text)
  assert.equal(await shownToHolder(answer), null)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(
    shown.attempts.map(({ class: name, vendor_error: reason }) => [name, reason]),
    [['cut', { type: 'overloaded_error', code: null, param: null }]],
  )
  assert.ok(!JSON.stringify(shown).includes(prompt))
})

test('a vendor without words leaves none', async () => {
  const answer = await refused(400, { type: `a ${prompt}`, param: prompt })
  assert.equal(await shownToHolder(answer), null)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.equal(shown.attempts[0]?.vendor_error, null)
})
