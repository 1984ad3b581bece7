// The answer of an operation that counts the tokens of a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokenCount } from './token-count.ts'

test('a count is an answer of which nothing is billed', () => {
  const answer = readTokenCount({ input_tokens: 5 })
  assert.ok(answer.kind === 'answer')
  const { usage, isFinal, isImplausible, hasOutput, isRefusal, output } = answer.reading
  assert.deepEqual([usage, isFinal, isImplausible], [undefined, true, false])
  assert.deepEqual([hasOutput, isRefusal, answer.reading.webSearches], [false, false, 0])
  assert.deepEqual(output, { text: '', bytes: 0, audioBytes: 0 })
  assert.equal(answer.reading.model, undefined)
})

test('anything without a count is none', () => {
  for (const value of [undefined, null, 5, 'x', [], {}, { input_tokens: '5' }, { tokens: 5 }])
    assert.equal(readTokenCount(value).kind, 'not_the_format')
})
