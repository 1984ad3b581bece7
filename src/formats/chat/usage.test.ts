// Which tokens of a chat answer are inside the prompt and the completion, and which are beside them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { UsageClass } from '../../metering/usage.ts'
import { ChatUsage } from './usage.ts'

function read(...objects: readonly object[]) {
  const gathered = new ChatUsage()
  for (const object of objects) gathered.apply(object)
  const usage = gathered.toUsage('m', undefined)
  const [part] = usage?.parts ?? []
  assert.ok(usage !== undefined && part !== undefined)
  assert.equal(gathered.outputTokens, usage.reported.outputTokens)
  return { ...part, reported: usage.reported, isImplausible: gathered.isImplausible }
}

function plain(prompt: number, completion: number, total?: number) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    ...(total !== undefined && { total_tokens: total }),
  }
}

describe('the total', () => {
  test('is what the classes add up to, wherever cached tokens and reasoning are counted', () => {
    const count = fc.nat(1000)
    const layout = fc.record({ isBeside: fc.boolean(), isOutside: fc.boolean() })
    fc.assert(
      fc.property(count, count, count, count, layout, (input, cached, output, reasoned, where) => {
        const prompt = where.isBeside ? input : input + cached
        const completion = where.isOutside ? output : output + reasoned
        const { counts, isImplausible } = read({
          ...plain(prompt, completion, input + cached + output + reasoned),
          prompt_tokens_details: { cached_tokens: cached },
          completion_tokens_details: { reasoning_tokens: reasoned },
        })
        const sum = Object.values(counts).reduce((whole, one) => whole + one, 0)
        assert.equal(sum, input + cached + output + reasoned)
        assert.equal(isImplausible, false)
      }),
    )
  })

  test('that two readings fit leaves the documented one', () => {
    const usage = {
      ...plain(100, 50, 150),
      cached_tokens: 0,
      completion_tokens_details: { reasoning_tokens: 0 },
    }
    assert.deepEqual(read(usage).counts, { input: 100, output: 50 })
    // 30 cached tokens beside, or 30 of reasoning outside.
    const both = { ...plain(100, 50, 180), cached_tokens: 30, reasoning_tokens: 30 }
    assert.deepEqual(read(both).counts, { input: 70, cache_read: 30, output: 80 })
  })

  test('beyond what is counted is output, unless reasoning or a side is counted otherwise', () => {
    assert.deepEqual(read(plain(35, 12, 109)).counts, { input: 35, output: 74 })
    const reasoned = { ...plain(35, 12, 109), reasoning_tokens: 5 }
    assert.deepEqual(read(reasoned).counts, { input: 35, output: 12 })
    assert.deepEqual(read(plain(0, 12, 109)).counts, { input: 0, output: 12 })
    assert.deepEqual(read(plain(35, 12, 40)).counts, { input: 35, output: 12 })
    const usage = new ChatUsage()
    usage.apply({ prompt_tokens: 35, total_tokens: 109 })
    assert.equal(usage.outputTokens, undefined)
    assert.deepEqual(usage.toUsage('m', undefined)?.reported.outputTokens, 0)
  })

  test('of a later object replaces an earlier one', () => {
    const { counts, isImplausible } = read(plain(10, 1, 500), plain(10, 9, 19))
    assert.deepEqual(counts, { input: 10, output: 9 })
    assert.equal(isImplausible, false)
  })
})

describe('a count that is part of another', () => {
  const isImplausible = (details: object, fields: object = {}) =>
    read({ ...plain(100, 50), prompt_tokens_details: details, ...fields }).isImplausible

  test('is not larger than it', () => {
    const audio = (cached: number, all: number, both: number) => ({
      cached_tokens: cached,
      audio_tokens: all,
      cached_tokens_details: { audio_tokens: both },
    })
    assert.equal(isImplausible(audio(4, 9, 4)), false)
    assert.equal(isImplausible(audio(4, 9, 5)), true)
    assert.equal(isImplausible(audio(9, 4, 4)), false)
    assert.equal(isImplausible(audio(9, 4, 5)), true)
    const written = (long: number) => ({
      cache_write_tokens: 6,
      cache_write_tokens_details: { ttl_12h_tokens: long },
    })
    assert.equal(isImplausible(written(6)), false)
    assert.equal(isImplausible(written(7)), true)
    const spoken = (tokens: number) => ({ completion_tokens_details: { audio_tokens: tokens } })
    assert.equal(isImplausible({}, spoken(50)), false)
    assert.equal(isImplausible({}, spoken(51)), true)
  })

  test('of reasoning may fall, as the total may', () => {
    const reasoned = (tokens: number) => ({ ...plain(10, 9), reasoning_tokens: tokens })
    assert.equal(read(reasoned(5), reasoned(3)).isImplausible, false)
    assert.equal(read(plain(10, 9), plain(10, 8)).isImplausible, true)
  })
})

describe('cached tokens above the prompt', () => {
  test('are beside it, with or without a total', () => {
    for (const total of [undefined, 18, 31]) {
      const details = { prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 6 } }
      const { counts, promptTokens, reported, isImplausible } = read({
        ...plain(12, 6, total),
        ...details,
      })
      assert.deepEqual(counts, { input: 12, cache_read: 7, cache_write_5m: 6, output: 6 })
      assert.equal(promptTokens, 25)
      assert.deepEqual(reported, { inputTokens: 25, outputTokens: 6, cacheTokens: 7 })
      assert.equal(isImplausible, false)
    }
  })
})

describe('a count under several names', () => {
  test('is the first that is not zero, and never a sum', () => {
    const { counts } = read({
      ...plain(100, 5),
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, cache_creation_tokens: 8 },
      num_cached_tokens: 60,
      prompt_cache_hit_tokens: 60,
      cache_creation_input_tokens: 8,
      cache_creation: { ephemeral_1h_input_tokens: 3 },
    })
    assert.deepEqual(counts, {
      input: 32,
      cache_read: 60,
      cache_write_5m: 5,
      cache_write_1h: 3,
      output: 5,
    })
  })

  test('is the first of two that differ', () => {
    const details = { cached_tokens: 60 }
    const { counts } = read({
      ...plain(100, 5),
      prompt_tokens_details: details,
      num_cached_tokens: 50,
    })
    assert.equal(counts.cache_read, 60)
  })

  const names: readonly (readonly [UsageClass, object])[] = [
    ['cache_read', { prompt_tokens_details: { cached_tokens: 7 } }],
    ['cache_read', { cached_tokens: 7 }],
    ['cache_read', { num_cached_tokens: 7 }],
    ['cache_read', { prompt_cache_hit_tokens: 7 }],
    ['cache_read', { cache_read_input_tokens: 7 }],
    ['cache_write_5m', { prompt_tokens_details: { cache_write_tokens: 7 } }],
    ['cache_write_5m', { prompt_tokens_details: { cache_creation_tokens: 7 } }],
    ['cache_write_5m', { prompt_tokens_details: { cache_creation_input_tokens: 7 } }],
    ['cache_write_5m', { cache_creation_input_tokens: 7 }],
    ['input_audio', { prompt_tokens_details: { audio_tokens: 7 } }],
    ['output_audio', { completion_tokens_details: { audio_tokens: 7 } }],
  ]

  test('has its class by each of them', () => {
    for (const [usageClass, named] of names) {
      const { counts } = read({ ...plain(100, 50), ...named })
      const side = usageClass === 'output_audio' ? { output: 43 } : { input: 93 }
      assert.deepEqual(counts, { input: 100, output: 50, ...side, [usageClass]: 7 })
    }
    for (const split of [
      { prompt_tokens_details: { cache_write_tokens_details: { ttl_12h_tokens: 3 } } },
      { prompt_tokens_details: { cache_creation: { ephemeral_1h_input_tokens: 3 } } },
      { cache_creation: { ephemeral_1h_input_tokens: 3 } },
    ]) {
      const { counts } = read({ ...plain(100, 50), cache_creation_input_tokens: 7, ...split })
      const written = { cache_write_5m: 4, cache_write_1h: 3 }
      assert.deepEqual(counts, { input: 93, output: 50, ...written })
    }
  })

  test('may be searches in any object of the usage', () => {
    const searched = { ...plain(10, 5), details: { web_search_requests: 2 }, other: null }
    assert.equal(read(searched).counts.web_search, 2)
    const none = { ...searched, details: { web_search_requests: 0 } }
    assert.equal(read({ ...none, other: searched.details }).counts.web_search, 2)
    assert.deepEqual(read(none).counts, { input: 10, output: 5 })
    assert.equal(read(searched, none).isImplausible, true)
    const usage = new ChatUsage()
    usage.apply(searched)
    assert.equal(usage.toUsage('m', undefined, 2)?.parts[0]?.counts.web_search, 2)
  })
})

test('the model and the tier are part of it where the answer names them', () => {
  const usage = new ChatUsage()
  for (const value of [undefined, null, 5, 'x', []]) usage.apply(value)
  assert.equal(usage.toUsage('m', 'flex'), undefined)
  assert.equal(usage.outputTokens, undefined)
  usage.apply(plain(10, 5))
  const counted = { counts: { input: 10, output: 5 }, promptTokens: 10 }
  assert.deepEqual(usage.toUsage(undefined, undefined)?.parts, [counted])
  assert.deepEqual(usage.toUsage('m', 'flex')?.parts, [{ ...counted, model: 'm', tier: 'flex' }])
})
