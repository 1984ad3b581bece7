import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testFaults, type FaultCase } from '../../../test/support/fault-cases.ts'
import type { ErrorCode } from '../../base/errors.ts'
import { noExtras } from '../fields.ts'
import type { ListedModel, UpstreamFault } from '../format.ts'
import { parseJson } from '../json.ts'
import { readVendorError } from '../vendor-error.ts'
import { messagesCreate, messagesFormat } from './index.ts'

const invalid = 'invalid_request_error'
const limits =
  'You have reached your specified API usage limits. You will regain access on 2026-12-01'

const cases: readonly FaultCase[] = [
  { status: 400, type: invalid, message: 'max_tokens: too large', fault: 'client' },
  { status: 400, fault: 'client' },
  {
    status: 400,
    type: invalid,
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
    fault: 'context_too_long',
  },
  {
    status: 400,
    type: invalid,
    message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    fault: 'context_too_long',
  },
  { status: 400, type: invalid, message: 'messages.0: prompt is too long', fault: 'client' },
  { status: 400, type: invalid, code: 'tool_name_conflict', message: 'x', fault: 'client' },
  {
    status: 400,
    type: invalid,
    message: 'Your credit balance is too low to access the API',
    fault: 'no_credit',
  },
  { status: 400, type: invalid, message: limits, fault: 'no_credit' },
  {
    status: 400,
    type: invalid,
    message: limits.replace('API', 'workspace API'),
    fault: 'no_credit',
  },
  { status: 400, type: invalid, message: `${limits} at 00:00 UTC.`, fault: 'no_credit' },
  { status: 400, type: invalid, message: `Unexpected role "${limits}".`, fault: 'client' },
  { status: 400, type: invalid, message: `${limits}: Extra inputs`, fault: 'client' },
  { status: 400, type: invalid, code: 'organization_on_hold', message: 'x', fault: 'config' },
  { status: 400, type: invalid, code: 'cmek_key_disabled', message: 'x', fault: 'config' },
  { status: 401, type: 'authentication_error', message: 'invalid x-api-key', fault: 'config' },
  { status: 401, fault: 'config' },
  { status: 402, type: 'billing_error', message: 'payment', fault: 'no_credit' },
  { status: 403, type: 'permission_error', message: 'not your model', fault: 'config' },
  { status: 403, fault: 'hard' },
  { status: 404, type: 'not_found_error', message: 'model: large-9', fault: 'model_missing' },
  { status: 404, type: 'not_found_error', message: 'Not Found', fault: 'config' },
  { status: 404, fault: 'config' },
  {
    status: 404,
    type: 'not_found_error',
    message: 'File not found: file_1',
    fault: 'model_dependent',
  },
  {
    status: 404,
    type: 'not_found_error',
    message: 'No file "the model".',
    fault: 'model_dependent',
  },
  {
    status: 404,
    type: 'not_found_error',
    message: "Can't find model 'x'.",
    fault: 'model_missing',
  },
  {
    status: 404,
    type: 'not_found_error',
    code: 'thread_not_found',
    message: 'no such thread for this model',
    fault: 'model_dependent',
  },
  { status: 405, fault: 'config' },
  { status: 407, fault: 'config' },
  { status: 408, fault: 'conflict' },
  { status: 409, type: 'conflict_error', message: 'x', fault: 'conflict' },
  { status: 413, fault: 'client' },
  { status: 413, type: 'request_too_large', message: 'x', fault: 'client' },
  { status: 415, fault: 'client' },
  { status: 422, type: invalid, message: 'x', fault: 'client' },
  { status: 429, type: 'rate_limit_error', message: 'x', fault: 'throttle' },
  { status: 429, fault: 'throttle' },
  { status: 429, type: 'rate_limit_error', code: 'ramp_limit_exceeded', fault: 'throttle' },
  {
    status: 429,
    type: 'rate_limit_error',
    code: 'enforced_spend_limit_reached',
    fault: 'no_credit',
  },
  {
    status: 429,
    type: 'rate_limit_error',
    code: 'contract_spend_limit_reached',
    fault: 'no_credit',
  },
  { status: 429, type: 'billing_error', message: 'x', fault: 'no_credit' },
  { status: 500, type: 'api_error', message: 'x', fault: 'lone_500' },
  { status: 500, fault: 'lone_500' },
  { status: 500, type: 'overloaded_error', message: 'x', fault: 'throttle' },
  { status: 501, fault: 'hard' },
  { status: 502, fault: 'hard' },
  { status: 503, type: 'api_error', message: 'x', fault: 'hard' },
  { status: 503, retryAfter: '3', fault: 'throttle' },
  { status: 503, type: 'overloaded_error', message: 'x', fault: 'throttle' },
  { status: 504, type: 'timeout_error', message: 'x', fault: 'hard' },
  { status: 520, fault: 'hard' },
  { status: 529, type: 'overloaded_error', message: 'x', fault: 'throttle' },
  { status: 529, fault: 'throttle' },
  { status: 530, fault: 'hard' },
  { status: 302, fault: 'hard' },
]

describe('the class of an answer', () => {
  testFaults(messagesCreate, cases, ({ type, code, message }) => {
    const details = code === undefined ? undefined : { error_code: code }
    return { type: 'error', error: { type, message, details }, request_id: 'req_1' }
  })
})

describe('the class of a first error event', () => {
  const events: readonly [string, string, UpstreamFault, number][] = [
    ['overloaded_error', 'Overloaded', 'throttle', 529],
    ['rate_limit_error', 'slow', 'throttle', 429],
    ['api_error', 'Internal', 'hard', 500],
    ['timeout_error', 'slow', 'hard', 504],
    ['invalid_request_error', 'bad', 'client', 400],
    ['invalid_request_error', 'Your credit balance is too low', 'no_credit', 400],
    ['authentication_error', 'x', 'config', 401],
    ['billing_error', 'x', 'no_credit', 402],
    ['permission_error', 'x', 'config', 403],
    ['not_found_error', 'model: x', 'model_missing', 404],
    ['request_too_large', 'x', 'client', 413],
    ['brand_new_error', 'x', 'hard', 502],
  ]
  for (const [type, message, fault, status] of events) {
    test(`${type} "${message}" is ${fault}`, () => {
      const event = messagesFormat.classifyEvent({ type, code: undefined, message })
      assert.deepEqual(event, { fault, status })
    })
  }

  test('an unreadable one is a failure of the vendor', () => {
    const nothing = { type: undefined, code: undefined, message: undefined }
    assert.deepEqual(messagesFormat.classifyEvent(nothing), { fault: 'hard', status: 502 })
  })
})

describe('reading an error body', () => {
  const bodies: readonly [string, string | undefined, string | undefined, string | undefined][] = [
    ['{"type":"error","error":{"type":"a","message":"m"}}', 'a', undefined, 'm'],
    ['{"error":{"type":"a","details":{"error_code":"c"}}}', 'a', 'c', undefined],
    ['{"error":"plain words"}', undefined, undefined, 'plain words'],
    ['{"message":"m","code":503}', undefined, '503', 'm'],
    ['[{"error":{"message":"m"}}]', undefined, undefined, 'm'],
    ['{"error":{"type":5,"message":{}}}', undefined, undefined, undefined],
    ['<html>', undefined, undefined, undefined],
    ['', undefined, undefined, undefined],
    ['null', undefined, undefined, undefined],
  ]
  for (const [body, type, code, message] of bodies) {
    test(body, () => {
      assert.deepEqual(readVendorError(parseJson(body)), { type, code, message })
    })
  }
})

describe('a gateway error', () => {
  const shown = (status: number, code: ErrorCode = 'gateway.internal') => ({
    code,
    status,
    message: 'What is wrong\nand what to do: "é".',
    exchangeId: 'ex_1',
    requestId: 'ex_1',
  })

  const types: readonly [number, string][] = [
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [405, 'invalid_request_error'],
    [408, 'invalid_request_error'],
    [413, 'request_too_large'],
    [415, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
  ]
  for (const [status, type] of types) {
    test(`with status ${status} is a ${type}`, () => {
      const body: unknown = JSON.parse(messagesFormat.errorBody(shown(status)).toString())
      const { message, requestId } = shown(status)
      assert.deepEqual(body, { type: 'error', error: { type, message }, request_id: requestId })
    })
  }

  test("has both ids where the vendor's is in the head", () => {
    const error = { ...shown(502), requestId: 'req_1' }
    const body = JSON.parse(messagesFormat.errorBody(error).toString()) as Record<string, unknown>
    assert.equal(body['request_id'], 'req_1')
    assert.equal(body['turnpike_request_id'], 'ex_1')
  })

  test('in a stream is a frame of its own, also if the stream was cut inside a frame', () => {
    const event = messagesCreate.errorEvent(shown(502), 0).toString()
    assert.match(event, /^\n\nevent: error\ndata: \{[^\n]*\}\n\n$/)
    const meter = messagesCreate.openMeter({
      model: 'm',
      outputLimits: { max_tokens: 1 },
      isStream: true,
      choiceCount: 1,
      isPlainText: true,
      prompt: { likely: 1, audioLikely: 0, most: 1, images: 0, audioMost: 0 },
      asksUsageChunk: false,
      extras: noExtras,
      spans: { model: { start: 0, end: 0 }, firstMember: 0 },
    })
    const started = 'event: message_start\ndata: {"type":"message_start"}\n\n'
    meter.push(Buffer.from(`${started}event: content_block_delta\ndata: {"type":"cont${event}`))
    assert.equal(meter.error?.type, 'api_error')
  })
})

test('model lists have the vendor’s shape', () => {
  const model = { id: 'large-1', createdAtMs: 1_790_000_000_000, vendor: 'alpha' }
  const listed = [
    { ...model, maxOutputTokens: 8192, maxInputTokens: 200_000 },
    { ...model, id: 'large-2', maxOutputTokens: undefined, maxInputTokens: undefined },
  ]
  const first = {
    type: 'model',
    id: 'large-1',
    display_name: 'large-1',
    created_at: '2026-09-21T14:13:20.000Z',
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: 200_000,
    max_tokens: 8192,
    capabilities: null,
    line: null,
    allowed_fallback_models: null,
  }
  const list: unknown = readModels(listed)
  const unknown = { max_input_tokens: null, max_tokens: null }
  const second = { ...first, ...unknown, id: 'large-2', display_name: 'large-2' }
  assert.deepEqual(list, {
    data: [first, second],
    has_more: false,
    first_id: 'large-1',
    last_id: 'large-2',
  })
  const empty: unknown = readModels([])
  assert.deepEqual(empty, { data: [], has_more: false, first_id: null, last_id: null })
  const item: unknown = readModels(listed, 'large-1')
  assert.deepEqual(item, first)
})

test('a probe is a request that this format accepts, for one token', () => {
  const options = { requireMaxTokens: true }
  const [body = Buffer.alloc(0)] = messagesCreate.checkBodies?.('a "b"', false) ?? []
  const facts = messagesCreate.readRequest(body, options)
  assert.ok(!('kind' in facts))
  assert.deepEqual(
    [facts.model, facts.outputLimits, facts.isStream],
    ['a "b"', { max_tokens: 1 }, false],
  )
})

/** The answer to the list of models; to one model where an id is given. */
function readModels(models: readonly ListedModel[], id?: string): unknown {
  const name = id === undefined ? 'models.list' : 'models.get'
  const operation = messagesFormat.operations.find((candidate) => candidate.name === name)
  if (operation?.kind !== 'models') assert.fail('the format lists no models')
  const answer = operation.answer(models, { id, query: '' })
  return Buffer.isBuffer(answer) ? JSON.parse(answer.toString()) : answer
}
