import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTokens, messagesCreate } from '../formats/messages/index.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import { decodePrices } from '../metering/price-form.ts'
import { offeredOperations, offers } from './offer.ts'

const both = decodePrices('{"input":1,"output":2}')
const inputOnly = decodePrices('{"input":1}')

test('a model offers all operations that its prices allow, or those of them that it names', () => {
  const all = ['chat', 'responses', 'embeddings', 'completions']
  assert.deepEqual(offeredOperations({}, both), all)
  assert.deepEqual(offeredOperations({}, inputOnly), ['embeddings'])
  const named = { operations: new Set(['responses', 'embeddings'] as const) }
  assert.deepEqual(offeredOperations(named, both), ['responses', 'embeddings'])
  assert.deepEqual(offeredOperations(named, inputOnly), ['embeddings'])
})

test('an operation with output never runs on a model without a price for output', () => {
  for (const operation of [chatCompletions, messagesCreate]) {
    assert.equal(offers({}, both, operation), true)
    assert.equal(offers({}, inputOnly, operation), false)
  }
  assert.equal(offers({}, inputOnly, countTokens), true)
  assert.equal(offers({ operations: new Set(['responses']) }, both, chatCompletions), false)
  assert.equal(offers({ operations: new Set(['chat']) }, both, chatCompletions), true)
})
