/**
 * The record of a refused request has the vendor's type, code and parameter, never its message. Operators see
 * it for every attempt, account holders where it is the error that their client got.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { listRequests, showRequest } from '../support/operations.ts'
import { streamedFormats } from '../support/requests.ts'
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
  const list = await send(`${gateway.url}/v1/usage/requests?limit=1`, { headers })
  const inFull = JSON.parse(shown.text) as Reasoned
  assert.deepEqual(
    (JSON.parse(list.text) as { items: Reasoned[] }).items[0]?.vendor_error,
    inFull.vendor_error,
  )
  return inFull.vendor_error
}

interface Reasoned {
  readonly vendor_error: unknown
}

/** Returns the vendor's error in the operator's list of requests. */
async function listed(): Promise<unknown> {
  const { items } = await listRequests(gateway.context, { limit: 1 })
  return items[0]?.vendor_error
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
  const meaning =
    'A field of the request has the wrong type. It names the field `tools[0].function.parameters`.'
  const kept = { ...error, param: 'tools[0].function.parameters', meaning }
  assert.deepEqual(await shownToHolder(answer), kept)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(
    shown.attempts.map(({ vendor_error: reason }) => reason),
    [kept],
  )
  assert.deepEqual(await listed(), kept)
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
    meaning: "The credit or the spend limit of the gateway's account at the vendor is used up.",
  })
  assert.deepEqual(await listed(), shown.attempts[0].vendor_error, 'why the request failed')
})

test('an answer of a later channel leaves the first attempt its reason, and none to the request', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: prompt } }
  const answers: readonly (readonly [number, object])[] = [
    [529, error],
    [200, served],
  ]
  let count = 0
  gateway.scripted.answer((response) => {
    const [status, body] = answers[count++] ?? [500, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const answer = await gateway.ask({ format: 'messages', isStream: false, prompt })
  assert.equal(answer.status, 200)
  assert.equal(await shownToHolder(answer), null)
  assert.equal(await listed(), null)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(
    shown.attempts.map(({ status, vendor_error: reason }) => [status, reason?.type]),
    [
      [529, 'overloaded_error'],
      [200, undefined],
    ],
  )
})

const served = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 1 },
}

for (const format of streamedFormats)
  test(`an error as the first event of a stream is recorded: ${format}`, async () => {
    const isMessages = format === 'messages'
    const said = { type: 'invalid_request_error', message: prompt }
    const error = isMessages ? said : { ...said, code: 'invalid_value', param: 'temperature' }
    const event = { type: 'error', error }
    gateway.scripted.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: error\ndata: ${JSON.stringify(event)}\n\n`)
    })
    const answer = await gateway.ask({ format, isStream: true })
    const shown = await shownToHolder(answer)
    const { type, code, param } = shown as Record<string, unknown>
    const { message, ...kept } = error
    assert.deepEqual({ type, ...(!isMessages && { code, param }) }, kept, message)
    assert.deepEqual(await listed(), shown)
  })

test('an error in the middle of a stream is recorded, for the holder too where the client got it', async () => {
  const error = { type: 'overloaded_error', message: `Too much: ${prompt}` }
  const begun = 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
  gateway.scripted.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${begun}event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
  })
  const answer = await gateway.ask({ format: 'messages', isStream: true, prompt })
  assert.ok(answer.text.startsWith(begun), answer.text)
  const kept = { type: 'overloaded_error', code: null, param: null }
  const explained = { ...kept, meaning: 'The vendor is overloaded.' }
  assert.deepEqual(await shownToHolder(answer), explained)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.deepEqual(
    shown.attempts.map(({ class: name, vendor_error: reason }) => [name, reason]),
    [['cut', explained]],
  )
  assert.deepEqual(await listed(), explained)
  assert.ok(!JSON.stringify(shown).includes(prompt))
})

test('a vendor without words leaves none', async () => {
  const answer = await refused(400, { type: `a ${prompt}`, param: prompt })
  assert.equal(await shownToHolder(answer), null)
  const shown = await showRequest(gateway.context, { request: idOf(answer) })
  assert.equal(shown.attempts[0]?.vendor_error, null)
})
