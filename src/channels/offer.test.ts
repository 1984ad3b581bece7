import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTokens, messagesCreate } from '../formats/messages/index.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import type { ModelOperation } from '../formats/format.ts'
import { decodePrices } from '../metering/price-form.ts'
import { makeModel, vendors } from '../../test/support/snapshots.ts'
import type { Model, Vendor } from './channel.ts'
import { checkOperation, offeredOperations, offers } from './offer.ts'
import { inChat } from './places.ts'

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

function checkedAs(vendor: Vendor, model: Model | undefined, place = 'm') {
  const models = new Map(model && [['m', model]])
  return checkOperation(vendor, place, { models, nowMs: 0 })
}

test('a model of the messages format is checked by chat where it is asked for so', () => {
  const asked = checkedAs(vendors.messages, makeModel('m'), inChat('m'))
  assert.equal(asked.name, 'chat.completions.create')
})

test('a model is checked by the first operation of its format that it offers', () => {
  const checkedBy = (operations?: readonly ModelOperation[]): string => {
    const model = makeModel('m', operations && { operations: new Set(operations) })
    return checkedAs(vendors.chat, model).name
  }
  assert.equal(checkedBy(), 'chat.completions.create')
  assert.equal(checkedBy(['responses', 'chat']), 'chat.completions.create')
  assert.equal(checkedBy(['responses']), 'responses.create')
  assert.equal(checkedBy(['completions']), 'completions.create')
  const input = makeModel('m', { prices: [{ validFromMs: 0, prices: inputOnly }] })
  assert.equal(checkedAs(vendors.chat, input).name, 'embeddings.create')
  assert.equal(checkedAs(vendors.messages, makeModel('m')).name, 'messages.create')
  assert.equal(checkedAs(vendors.chat, undefined).name, 'chat.completions.create')
})
