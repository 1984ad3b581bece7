/**
 * The header `x-turnpike-label` from a client to the figures: recorded, never forwarded, a filter and a key
 * of the reports of operators and account holders. A bad one hurts no request, and its answer says so.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { reportEndpoints } from '../../src/operations/reports/endpoints.ts'
import { requestEndpoints } from '../../src/operations/requests/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { places, wireRequest, type Ask } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, context, account } = gateway

const answers = {
  messages:
    '{"type":"message","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":3,"output_tokens":1}}',
  chat: '{"choices":[{"index":0,"message":{"content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}',
} as const

async function ask(
  format: 'messages' | 'chat',
  headers: Readonly<Record<string, string>>,
  more: Partial<Ask> = {},
): Promise<WireAnswer> {
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers[format])
  })
  const request = wireRequest(account.key, { format, isStream: false, ...more })
  const given = { ...request.headers, ...headers }
  return send(gateway.url + places[format].path, { ...request, headers: given })
}

async function holderReads(path: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${account.token}` }
  const answer = await send(`${gateway.url}/v1/usage${path}`, { method: 'GET', headers })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Record<string, unknown>
}

const listRequests = async (input: object) =>
  valueOf(await requestEndpoints.list.operation(context, input)).items

test('a label is recorded, goes to no vendor, and is a key of all figures', async () => {
  for (const format of ['messages', 'chat'] as const) {
    const answer = await ask(format, { 'X-Turnpike-Label': ' team a, "blue" ' })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['x-turnpike-label-ignored'], undefined)
    const sent = JSON.stringify(vendor.last?.rawHeaders).toLowerCase()
    assert.doesNotMatch(sent, /turnpike|team a/)
  }
  await ask('messages', {})
  const label = 'team a, "blue"'
  const labelled = await listRequests({ label })
  assert.deepEqual(
    labelled.map((request) => request.label),
    [label, label],
  )
  assert.equal((await listRequests({})).length, 3)
  const report = valueOf(await reportEndpoints.report.operation(context, { by: 'label' })).items
  assert.deepEqual(
    report.map((row) => [row.label, row.requests]),
    [
      ['', 1],
      [label, 2],
    ],
  )
  const { days } = await holderReads('/days?by=label')
  assert.deepEqual(
    (days as readonly Record<string, unknown>[]).map((day) => [day['label'], day['requests']]),
    [
      ['', 1],
      [label, 2],
    ],
  )
  const { items } = await holderReads(`/requests?label=${encodeURIComponent(label)}`)
  assert.equal((items as readonly unknown[]).length, 2)
})

test('a bad label is ignored, and the answer says why', async () => {
  const before = (await listRequests({})).length
  const bad = { ' ': 'empty', ['x'.repeat(65)]: 'too_long', 'caf\u00e9': 'not_ascii' }
  for (const [value, fault] of Object.entries({ ...bad, [account.key]: 'secret' })) {
    const answer = await ask('messages', { 'x-turnpike-label': value })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['x-turnpike-label-ignored'], fault)
  }
  const requests = await listRequests({})
  assert.equal(requests.length, before + 4)
  assert.deepEqual(
    requests.slice(0, 4).map(({ label }) => label),
    [null, null, null, null],
  )
})

test('a refused request keeps its label in its record', async () => {
  const answer = await ask(
    'messages',
    { 'x-turnpike-label': 'nightly' },
    { model: 'no-such-model' },
  )
  assert.equal(answer.status, 404)
  const [request] = await eventually(
    'the record',
    () => listRequests({ label: 'nightly' }),
    (all) => all.length > 0,
  )
  assert.equal(request?.code, 'relay.model_unknown')
})
