// The input side of a messages answer, over the usage objects of its stream.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
import { charge } from '../../metering/charge.ts'
import { parsePrices } from '../../metering/price-form.ts'
import { messagesCreate } from './index.ts'

const prices = parsePrices({ input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75 })

/** Reads a stream of these usage objects; the first is the one of its start. */
function read(start: object, ...deltas: readonly object[]) {
  const meter = messagesCreate.openMeter(plainFacts)
  for (const event of [
    { type: 'message_start', message: { type: 'message', model: 'm', usage: start } },
    ...deltas.map((usage) => ({ type: 'message_delta', delta: { stop_reason: null }, usage })),
  ])
    meter.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
  const { usage, isImplausible } = meter.reading()
  assert.ok(usage !== undefined)
  const multiplierPpm = 1_000_000
  const priced = { prices, pricesFor: () => prices, requestedModel: 'm' }
  const { amountPicos } = charge(usage, { ...priced, format: 'messages', multiplierPpm })
  return { counts: usage.parts[0]?.counts, amountPicos, isImplausible }
}

describe('a later usage object with input_tokens', () => {
  test('corrects how much of the prompt was read from the cache', () => {
    const start = {
      input_tokens: 100_000,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    }
    const delta = {
      input_tokens: 5_000,
      cache_read_input_tokens: 95_000,
      cache_creation_input_tokens: 0,
      output_tokens: 200,
    }
    assert.deepEqual(read(start, delta), {
      counts: { input: 5_000, cache_read: 95_000, output: 200 },
      amountPicos: 46_500_000_000n,
      isImplausible: false,
    })
    const small = { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 57 }
    const { amountPicos } = read({ input_tokens: 1_000, output_tokens: 1 }, small)
    assert.equal(amountPicos, 300_000_000n + 270_000_000n + 855_000_000n)
  })

  test('replaces the side: what it lacks is zero', () => {
    const start = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 }
    assert.deepEqual(read(start, { input_tokens: 100, output_tokens: 5 }), {
      counts: { input: 100, output: 5 },
      amountPicos: 375_000_000n,
      isImplausible: false,
    })
  })

  test('is not believed where the sum falls', () => {
    const start = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 }
    for (const later of [
      { input_tokens: 10, output_tokens: 5 },
      { input_tokens: 99, output_tokens: 5 },
      { cache_read_input_tokens: 89, output_tokens: 5 },
    ]) {
      const { counts, isImplausible } = read(start, later)
      assert.deepEqual(counts, { input: 10, cache_read: 90, output: 5 })
      assert.equal(isImplausible, true)
    }
  })
})

test('a later usage object without input_tokens changes only what it names', () => {
  const start = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 }
  const { counts, isImplausible } = read(
    start,
    { cache_creation_input_tokens: 40 },
    { output_tokens: 5 },
    { input_tokens: null, cache_read_input_tokens: 70, cache_creation_input_tokens: 60 },
  )
  assert.deepEqual(counts, { input: 10, cache_read: 70, cache_write_5m: 60, output: 5 })
  assert.equal(isImplausible, false)
})

test('the lifetimes of the writes stand while they fit in a later total', () => {
  const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 }
  const start = { input_tokens: 5, cache_creation_input_tokens: 30, cache_creation }
  const later = (written: number, fields: object = {}) =>
    read(start, { input_tokens: 35, cache_creation_input_tokens: written, ...fields })
  assert.deepEqual(later(30).counts, {
    input: 35,
    cache_write_5m: 10,
    cache_write_1h: 20,
    output: 0,
  })
  assert.deepEqual(later(0).counts, { input: 35, output: 0 })
  assert.deepEqual(later(0, { cache_read_input_tokens: 30 }).isImplausible, false)
})
