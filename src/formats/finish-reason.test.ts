// Which finish reasons report a failure of the vendor, in the words of several vendors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportedFailure, saysFailure } from './finish-reason.ts'

test('a failure has one of the documented words, in any case, and nothing beside it', () => {
  for (const reason of [
    'error',
    'ERROR',
    'network_error',
    'internal_server_error',
    'insufficient_system_resource',
    'abort',
    'aborted',
  ])
    assert.equal(saysFailure(reason), true, reason)
})

test('any other reason ends an answer', () => {
  for (const reason of [
    '',
    'stop',
    'length',
    'tool_calls',
    'content_filter',
    'errors',
    'no error',
    'no error_error',
    'terror',
    '_error',
    'error_limit',
    'insufficient_system_resources',
    'no_insufficient_system_resource',
    'abortion',
    'no_abort',
  ])
    assert.equal(saysFailure(reason), false, reason)
})

test('an answer that says so by its reason alone has no words of an error', () => {
  assert.deepEqual(reportedFailure, { type: undefined, code: undefined, message: undefined })
})
