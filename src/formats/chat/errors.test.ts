import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testFaults, type FaultCase } from '../../../test/support/fault-cases.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { ListedModel, UpstreamFault } from '../format.ts'
import { chatCompletions, chatFormat } from './index.ts'

const invalid = 'invalid_request_error'

const cases: readonly FaultCase[] = [
  { status: 400, type: invalid, code: 'context_length_exceeded', fault: 'context_too_long' },
  { status: 400, type: 'exceed_context_size_error', message: 'x', fault: 'context_too_long' },
  {
    status: 400,
    message: "This model's maximum context length is 4096 tokens. However, you requested 5000.",
    fault: 'context_too_long',
  },
  {
    status: 400,
    message: "Invalid value: This model's maximum context length is 4096 tokens",
    fault: 'client',
  },
  { status: 400, fault: 'client' },
  { status: 400, type: invalid, message: 'Invalid service_tier argument', fault: 'client' },
  { status: 400, type: invalid, code: 'billing_hard_limit_reached', fault: 'no_credit' },
  { status: 401, type: invalid, code: 'invalid_api_key', fault: 'config' },
  { status: 401, fault: 'config' },
  { status: 402, fault: 'no_credit' },
  { status: 403, type: invalid, code: 'unsupported_country_region_territory', fault: 'config' },
  { status: 403, fault: 'hard' },
  { status: 404, type: invalid, code: 'model_not_found', message: 'x', fault: 'model_missing' },
  {
    status: 404,
    type: invalid,
    message: 'The model `x` does not exist or you do not have access to it.',
    fault: 'model_missing',
  },
  { status: 404, type: invalid, message: 'Invalid URL (POST /v1/x)', fault: 'config' },
  { status: 404, fault: 'config' },
  { status: 404, type: invalid, message: 'No such file: file-1', fault: 'model_dependent' },
  { status: 404, type: invalid, message: 'No file `my model`.', fault: 'model_dependent' },
  { status: 408, fault: 'conflict' },
  { status: 409, fault: 'conflict' },
  { status: 413, fault: 'client' },
  { status: 422, fault: 'client' },
  { status: 429, code: 'rate_limit_exceeded', fault: 'throttle' },
  { status: 429, type: 'rate_limit_error', code: 'slow_down', fault: 'throttle' },
  { status: 429, fault: 'throttle' },
  { status: 429, type: 'insufficient_quota', code: 'credit_balance_exhausted', fault: 'no_credit' },
  { status: 429, type: 'insufficient_quota', fault: 'no_credit' },
  { status: 429, code: 'insufficient_quota', fault: 'no_credit' },
  { status: 429, code: 'organization_spend_limit_exceeded', fault: 'no_credit' },
  { status: 429, code: 'project_spend_limit_exceeded', fault: 'no_credit' },
  { status: 429, code: 'organization_usage_limit_exceeded', fault: 'no_credit' },
  { status: 429, code: 'billing_hard_limit_reached', fault: 'no_credit' },
  { status: 500, type: 'server_error', fault: 'lone_500' },
  { status: 500, fault: 'lone_500' },
  { status: 502, fault: 'hard' },
  {
    status: 503,
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    fault: 'throttle',
  },
  { status: 503, code: 'slow_down', fault: 'throttle' },
  { status: 503, type: 'service_unavailable_error', fault: 'hard' },
  { status: 503, retryAfter: '1', fault: 'throttle' },
  { status: 504, fault: 'hard' },
  { status: 524, fault: 'hard' },
  { status: 529, fault: 'throttle' },
  { status: 301, fault: 'hard' },
  { status: 307, fault: 'hard' },
]

describe('the class of an answer', () => {
  testFaults(chatCompletions, cases, ({ type, code, message }) => ({
    error: { message, type, param: null, code },
  }))
})

describe('the class of a first error event', () => {
  const events: readonly [string | undefined, string | undefined, UpstreamFault, number][] = [
    ['server_error', undefined, 'hard', 500],
    ['service_unavailable_error', 'server_is_overloaded', 'throttle', 503],
    ['service_unavailable_error', undefined, 'hard', 503],
    ['rate_limit_error', 'slow_down', 'throttle', 429],
    ['requests', 'rate_limit_exceeded', 'throttle', 429],
    ['insufficient_quota', 'credit_balance_exhausted', 'no_credit', 429],
    ['invalid_request_error', 'context_length_exceeded', 'context_too_long', 400],
    ['invalid_request_error', 'invalid_api_key', 'config', 401],
    ['invalid_request_error', 'model_not_found', 'model_missing', 404],
    ['invalid_request_error', undefined, 'client', 400],
    [undefined, '429', 'throttle', 429],
    [undefined, '502', 'hard', 502],
    [undefined, '402', 'no_credit', 402],
    ['brand_new', 'thing', 'hard', 502],
    [undefined, undefined, 'hard', 502],
  ]
  for (const [type, code, fault, status] of events) {
    test(`${type} ${code} is ${fault}`, () => {
      const event = chatFormat.classifyEvent({ type, code, message: undefined })
      assert.deepEqual(event, { fault, status })
    })
  }
})

describe('a gateway error', () => {
  const cases: readonly [ErrorCode, number, string, string | null][] = [
    ['relay.request_invalid', 400, 'invalid_request_error', null],
    ['access.credential_invalid', 401, 'invalid_request_error', 'invalid_api_key'],
    ['ledger.insufficient_balance', 402, 'insufficient_quota', 'insufficient_quota'],
    ['ledger.balance_held', 402, 'insufficient_quota', 'insufficient_quota'],
    ['access.model_not_allowed', 403, 'permission_error', 'model_not_allowed'],
    ['relay.model_unknown', 404, 'invalid_request_error', 'model_not_found'],
    ['http.body_too_large', 413, 'invalid_request_error', 'request_too_large'],
    ['access.rate_limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['ledger.daily_limit_reached', 429, 'insufficient_quota', 'insufficient_quota'],
    ['ledger.monthly_limit_reached', 429, 'insufficient_quota', 'insufficient_quota'],
    ['ledger.total_limit_reached', 429, 'insufficient_quota', 'insufficient_quota'],
    ['gateway.internal', 500, 'server_error', null],
    ['relay.upstream_failed', 502, 'server_error', null],
    ['relay.no_channel_available', 503, 'service_unavailable_error', 'server_is_overloaded'],
    ['relay.upstream_timeout', 504, 'timeout_error', null],
  ]
  const ids = { exchangeId: 'ex_1', requestId: 'req_1' }
  for (const [code, status, type, word] of cases) {
    test(`${code} has the type ${type} and the code ${word}`, () => {
      const error = { code, status, message: 'What is wrong.', ...ids }
      const body: unknown = JSON.parse(chatFormat.errorBody(error).toString())
      const param = code === 'relay.model_unknown' ? 'model' : null
      const shown = { message: 'What is wrong.', type, param, code: word, request_id: 'ex_1' }
      assert.deepEqual(body, { error: shown })
    })
  }

  test('in a stream is a frame of its own without an event name', () => {
    const error = { code: 'relay.upstream_failed', status: 502, message: 'a\nb', ...ids }
    const event = chatCompletions
      .errorEvent({ ...error, code: 'relay.upstream_failed' }, 0)
      .toString()
    assert.match(event, /^\n\ndata: \{"error":\{[^\n]*\}\}\n\n$/)
  })
})

test('model lists have the vendor’s shape', () => {
  const model = {
    id: 'gpt-x',
    createdAtMs: 1_790_000_000_999,
    maxOutputTokens: undefined,
    maxInputTokens: undefined,
    vendor: 'beta',
  }
  const shown = { id: 'gpt-x', object: 'model', created: 1_790_000_000, owned_by: 'beta' }
  assert.deepEqual(readModels([model]), {
    object: 'list',
    data: [shown],
  })
  assert.deepEqual(readModels([model], model.id), shown)
})

test('a probe is a request that this format accepts, for few tokens, by either name of the limit', () => {
  const options = { requireMaxTokens: true }
  const limits = chatCompletions.checkBodies?.('m', false).map((body) => {
    const facts = chatCompletions.readRequest(body, options)
    assert.ok(!('kind' in facts))
    assert.deepEqual([facts.model, facts.isStream], ['m', false])
    return facts.outputLimits
  })
  assert.deepEqual(limits, [{ max_tokens: 1 }, { max_completion_tokens: 16 }])
})

/** The answer to the list of models; to one model where an id is given. */
function readModels(models: readonly ListedModel[], id?: string): unknown {
  const name = id === undefined ? 'models.list' : 'models.get'
  const operation = chatFormat.operations.find((candidate) => candidate.name === name)
  if (operation?.kind !== 'models') assert.fail('the format lists no models')
  const answer = operation.answer(models, { id, query: '' })
  return Buffer.isBuffer(answer) ? JSON.parse(answer.toString()) : answer
}
