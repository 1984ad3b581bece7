// The input side of a messages answer, over the usage objects of its stream.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFacts } from '../../../test/transcripts/replay.ts'
import { charge } from '../../metering/charge.ts'
import { parsePrices } from '../../metering/price-form.ts'
import { messagesCreate } from './index.ts'
import { MessagesUsage } from './usage.ts'

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

describe('a later output count', () => {
  const start = { input_tokens: 10, output_tokens: 3 }

  test('may be below the placeholder at the start, and not below a final one', () => {
    const lower = read(start, { output_tokens: 2 })
    assert.deepEqual([lower.counts?.output, lower.isImplausible], [2, false])
    const fallen = read(start, { output_tokens: 9 }, { output_tokens: 5 })
    assert.deepEqual([fallen.counts?.output, fallen.isImplausible], [9, true])
  })

  test('may fall to that of the attempt that answered', () => {
    const iterations = [run('message', 4), run('fallback_message', 5)]
    const usage = gathered({}, { output_tokens: 9 }, { output_tokens: 5, iterations })
    assert.equal(usage.isImplausible, false)
    assert.equal(usage.toUsage('m')?.reported.outputTokens, 5)
  })
})

test('the lifetimes of the writes stand without a total, and within a larger one', () => {
  const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 }
  const writesOf = (...objects: readonly object[]) => {
    const { counts } = gathered(...objects).toUsage('m')?.parts[0] ?? assert.fail('no part')
    return [counts.cache_write_5m, counts.cache_write_1h]
  }
  const begun = { input_tokens: 5, cache_creation }
  assert.equal(gathered(begun, { output_tokens: 5 }).isImplausible, false)
  assert.deepEqual(writesOf(begun, { output_tokens: 5 }), [10, 20])
  assert.deepEqual(writesOf(begun, { cache_creation_input_tokens: 30 }), [10, 20])
  assert.deepEqual(writesOf(begun, { cache_creation_input_tokens: 40 }), [20, 20])
  const fewer = { input_tokens: 6, cache_creation_input_tokens: 29 }
  assert.deepEqual(writesOf(begun, fewer), [29, undefined])
})

test('one lifetime alone is the split of the writes', () => {
  const writesOf = (cache_creation: object) => {
    const usage = new MessagesUsage(true)
    usage.apply({ input_tokens: 5, cache_creation_input_tokens: 10, cache_creation }, 'answer')
    const { counts } = usage.toUsage('m')?.parts[0] ?? assert.fail('no part')
    return [counts.cache_write_5m, counts.cache_write_1h]
  }
  assert.deepEqual(writesOf({ ephemeral_5m_input_tokens: 6 }), [10, undefined])
  assert.deepEqual(writesOf({ ephemeral_1h_input_tokens: 6 }), [4, 6])
  assert.deepEqual(writesOf({}), [undefined, 10])
})

describe('the runs of an answer', () => {
  const outputs = (...iterations: readonly unknown[]) =>
    gathered({ ...run('message', 5), iterations })
      .toUsage('m')
      ?.parts.map(({ counts }) => counts.output)

  test('are those that are objects, and a later usage object without runs leaves them', () => {
    assert.deepEqual(outputs(null, run('message', 4), 5), [4])
    const iterations = [run('message', 4), run('message', 6)]
    for (const later of [{}, { iterations: null }, { iterations: [] }, { iterations: [5] }]) {
      const usage = gathered({ ...run('message', 6), iterations }, { output_tokens: 6, ...later })
      assert.equal(usage.toUsage('m')?.parts.length, 2)
    }
  })

  test('are free only where a message declines before any output and a fallback follows', () => {
    const fallback = run('fallback_message', 5)
    assert.deepEqual(outputs(run('message', 0), fallback), [5])
    assert.deepEqual(outputs(run('message', 0), run('fallback_message', 0), fallback), [5])
    assert.deepEqual(outputs(run('message', 0), run('fallback_message', 0)), [0])
    assert.deepEqual(outputs(run('message', 3), fallback), [3, 5])
    assert.deepEqual(outputs(run('compaction', 0), fallback), [0, 5])
    assert.deepEqual(outputs(run('message', 0), run('message', 5)), [0, 5])
    assert.deepEqual(outputs(fallback, run('message', 0)), [5, 0])
  })
})

function run(type: string, output_tokens: number) {
  return { type, input_tokens: 10, output_tokens }
}

/** The usage of a stream with these usage objects; the first is the one of its start. */
function gathered(...objects: readonly object[]): MessagesUsage {
  const usage = new MessagesUsage(false)
  for (const [index, object] of objects.entries())
    usage.apply(object, index === 0 ? 'start' : 'delta')
  return usage
}
