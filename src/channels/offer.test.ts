import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTokens, messagesCreate, messagesFormat } from '../formats/messages/index.ts'
import { chatCompletions, chatFormat } from '../formats/chat/index.ts'
import type { ModelOperation } from '../formats/format.ts'
import { decodePrices } from '../metering/price-form.ts'
import { makeModel } from '../../test/support/snapshots.ts'
import { checkOperation, offeredOperations, offers } from './offer.ts'

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

test('a model is checked by the first operation of its format that it offers', () => {
  const checkedBy = (operations?: readonly ModelOperation[]): string => {
    const model = makeModel('m', operations && { operations: new Set(operations) })
    return checkOperation(chatFormat, model, 0).name
  }
  assert.equal(checkedBy(), 'chat.completions.create')
  assert.equal(checkedBy(['responses', 'chat']), 'chat.completions.create')
  assert.equal(checkedBy(['responses']), 'responses.create')
  assert.equal(checkedBy(['completions']), 'completions.create')
  const input = makeModel('m', { prices: [{ validFromMs: 0, prices: inputOnly }] })
  assert.equal(checkOperation(chatFormat, input, 0).name, 'embeddings.create')
  assert.equal(checkOperation(messagesFormat, makeModel('m'), 0).name, 'messages.create')
  assert.equal(checkOperation(chatFormat, undefined, 0).name, 'chat.completions.create')
})
