import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  boundReported,
  isPlausible,
  isWellFormed,
  outputTokensOf,
  promptTokensOf,
  type Usage,
} from './usage.ts'

const bounds = {
  promptTokensLikely: 213,
  inputTokensMax: 2_900,
  maxOutputTokens: 500,
  choiceCount: 2,
}

function usageOf(
  prompt: number,
  output: number,
  more: { web_search?: number; file_search?: number } = {},
): Usage {
  return {
    parts: [{ promptTokens: prompt, counts: { input: prompt, output, ...more } }],
    reported: { inputTokens: prompt, outputTokens: output, cacheTokens: 0 },
  }
}

describe('isPlausible', () => {
  test('believes output up to the limit of all choices and no further', () => {
    assert.ok(isPlausible(usageOf(10, 1_000), bounds))
    assert.ok(!isPlausible(usageOf(10, 1_001), bounds))
  })

  test('believes input up to its bound, of all parts together', () => {
    assert.ok(isPlausible(usageOf(2_900, 1), bounds))
    assert.ok(!isPlausible(usageOf(2_901, 1), bounds))
    const several = (prompt: number): Usage => ({
      ...usageOf(1, 1),
      parts: [...usageOf(prompt, 1).parts, ...usageOf(1_450, 1).parts],
    })
    assert.ok(isPlausible(several(1_450), bounds))
    assert.ok(!isPlausible(several(1_451), bounds))
  })

  test('believes one allowance of output where the vendor works by itself', () => {
    const worked = (output: number, count: number): Usage => ({
      ...usageOf(1, 1),
      parts: Array.from({ length: count }, () => usageOf(1, output).parts).flat(),
    })
    assert.ok(isPlausible(worked(100_500, 2), bounds))
    assert.ok(!isPlausible(worked(100_501, 2), bounds))
    const withTools = { ...bounds, serverTools: { uses: 3 } }
    assert.ok(isPlausible(usageOf(1, 201_000), withTools))
    assert.ok(!isPlausible(usageOf(1, 201_001), withTools))
  })

  test('believes uses that the request asks for, of all parts together', () => {
    const withTools = { ...bounds, serverTools: { uses: 3 }, vendorTools: { file_search: 2 } }
    const using = (web_search: number, file_search = 0): Usage =>
      usageOf(10, 1, { web_search, file_search })
    assert.ok(isPlausible(using(3, 2), withTools))
    assert.ok(!isPlausible(using(4), withTools))
    assert.ok(!isPlausible(using(1, 3), withTools))
    assert.ok(!isPlausible(using(1), bounds))
    assert.ok(isPlausible(using(0), bounds))
    const twice = { ...using(2), parts: [...using(2).parts, ...using(2).parts] }
    assert.ok(!isPlausible(twice, withTools))
  })

  test('applies the same bounds to the reported counts', () => {
    const { parts } = usageOf(10, 5)
    const counts = { inputTokens: 10, outputTokens: 5, cacheTokens: 0 }
    const check = (more: object): boolean =>
      isPlausible({ parts, reported: { ...counts, ...more } }, bounds)
    assert.ok(check({}))
    for (const name of ['inputTokens', 'outputTokens', 'cacheTokens'])
      assert.ok(!check({ [name]: Number.MAX_SAFE_INTEGER }))
    assert.ok(!check({ cacheTokens: NaN }))
    assert.ok(check({ cacheTokens: 2_900 }))
    assert.ok(!check({ cacheTokens: 2_901 }))
  })

  test('never believes a count that would overflow a sum of counts', () => {
    const vast = { ...bounds, maxOutputTokens: Number.MAX_SAFE_INTEGER, inputTokensMax: Infinity }
    assert.ok(isPlausible(usageOf(10 ** 9, 10 ** 9), vast))
    assert.ok(!isPlausible(usageOf(10 ** 9 + 1, 1), vast))
    assert.ok(!isPlausible(usageOf(1, 10 ** 9 + 1), vast))
    const { reported } = boundReported(usageOf(10 ** 15, 10 ** 15), vast)
    assert.deepEqual(reported, { inputTokens: 10 ** 9, outputTokens: 10 ** 9, cacheTokens: 0 })
  })

  test('believes up to a thousand parts', () => {
    const vast = { ...bounds, inputTokensMax: 1_000_000 }
    const runs = (count: number): Usage => ({
      ...usageOf(1, 1),
      parts: Array.from({ length: count }, () => usageOf(1, 1).parts).flat(),
    })
    assert.ok(isPlausible(runs(1_000), vast))
    assert.ok(!isPlausible(runs(1_001), vast))
  })

  test('never believes values that are not counts', () => {
    for (const count of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
      assert.ok(!isWellFormed(usageOf(10, count)))
      assert.ok(!isPlausible(usageOf(10, count), bounds))
    }
  })
})

describe('boundReported', () => {
  test("cuts the reported counts to the request's bounds and leaves the counts unchanged", () => {
    const usage = usageOf(5_000_000, 7_000)
    const { reported, parts } = boundReported(usage, bounds)
    assert.deepEqual(reported, { inputTokens: 2_900, outputTokens: 1_000, cacheTokens: 0 })
    assert.equal(parts, usage.parts)
  })

  test('shows zero for values that are not counts', () => {
    const reported = { inputTokens: NaN, outputTokens: -1, cacheTokens: 2 ** 53 }
    const none = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }
    assert.deepEqual(boundReported({ parts: [], reported }, bounds).reported, none)
  })
})

test('the prompt and the output of a part are the sums of their classes', () => {
  const counts = {
    input: 1,
    output: 2,
    cache_read: 4,
    cache_write_5m: 8,
    cache_write_1h: 16,
    input_audio: 32,
    output_audio: 64,
    cache_read_audio: 128,
    web_search: 256,
  }
  assert.equal(promptTokensOf({ counts, promptTokens: 0 }), 1 + 4 + 8 + 16 + 32 + 128)
  assert.equal(promptTokensOf({ counts, promptTokens: 500 }), 500, 'the vendor counts more')
  assert.equal(promptTokensOf({ counts: {}, promptTokens: 0 }), 0)
  assert.equal(outputTokensOf({ counts, promptTokens: 0 }), 2 + 64)
  assert.equal(outputTokensOf({ counts: {}, promptTokens: 0 }), 0)
})
