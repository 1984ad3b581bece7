import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { boundReported, checkAgainstRequest, type Usage } from './usage.ts'

const bounds = {
  inputTokensEstimate: 300,
  promptTokensUsual: 213,
  maxOutputTokens: 500,
  choiceCount: 2,
  bodyBytes: 900,
}

function usageOf(prompt: number, output: number, more: { web_search?: number } = {}): Usage {
  return {
    parts: [{ promptTokens: prompt, counts: { input: prompt, output, ...more } }],
    reported: { inputTokens: prompt, outputTokens: output, cacheTokens: 0 },
  }
}

describe('checkAgainstRequest', () => {
  test('believes output up to the limit of all choices and no further', () => {
    assert.equal(checkAgainstRequest(usageOf(10, 1_000), bounds), 'ok')
    assert.equal(checkAgainstRequest(usageOf(10, 1_001), bounds), 'implausible')
  })

  test('believes a prompt of one token per byte, with images and templates on top', () => {
    assert.equal(checkAgainstRequest(usageOf(900 + 300 + 16_384, 1), bounds), 'ok')
    assert.equal(checkAgainstRequest(usageOf(900 + 300 + 16_385, 1), bounds), 'implausible')
  })

  test('believes more where the vendor ran several models', () => {
    const [part] = usageOf(90_000, 9_000).parts
    assert.ok(part)
    const several = { ...usageOf(1, 1), parts: [part, part] }
    assert.equal(checkAgainstRequest(several, bounds), 'ok')
  })

  test('bounds the output of all parts together', () => {
    const partsOf = (output: number): Usage => ({
      ...usageOf(1, 1),
      parts: [...usageOf(10, output).parts, ...usageOf(10, 100_000).parts],
    })
    assert.equal(checkAgainstRequest(partsOf(101_000), bounds), 'ok')
    assert.equal(checkAgainstRequest(partsOf(101_001), bounds), 'implausible')
    const withTools = { ...bounds, hasServerTools: true }
    assert.equal(checkAgainstRequest(usageOf(10, 201_000), withTools), 'ok')
    assert.equal(checkAgainstRequest(usageOf(10, 201_001), withTools), 'implausible')
  })

  test('believes searches where the request has tools to search with', () => {
    const withTools = { ...bounds, hasServerTools: true }
    const searching = (count: number): Usage => usageOf(90_000, 9_000, { web_search: count })
    assert.equal(checkAgainstRequest(searching(200), withTools), 'ok')
    assert.equal(checkAgainstRequest(searching(201), withTools), 'implausible')
    assert.equal(checkAgainstRequest(searching(1), bounds), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(10, 1, { web_search: 1 }), bounds), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(10, 1, { web_search: 0 }), bounds), 'ok')
  })

  test('believes more where the request uses tools of the vendor, or has documents', () => {
    const usage = usageOf(60_000, 1)
    assert.equal(checkAgainstRequest(usage, bounds), 'implausible')
    assert.equal(checkAgainstRequest(usage, { ...bounds, hasServerTools: true }), 'ok')
    assert.equal(checkAgainstRequest(usage, { ...bounds, payloadTokensMax: 50_000 }), 'ok')
    assert.equal(checkAgainstRequest(usage, { ...bounds, payloadTokensMax: 40_000 }), 'implausible')
  })

  test('believes a prompt that is stored at the vendor, and no more output or searches for it', () => {
    const continued = { ...bounds, hasStoredPrompt: true }
    assert.equal(checkAgainstRequest(usageOf(120_000, 1_000), bounds), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(120_000, 1_000), continued), 'ok')
    assert.equal(checkAgainstRequest(usageOf(5_100_000, 1_000), continued), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(120_000, 1_001), continued), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(10, 1, { web_search: 1 }), continued), 'implausible')
  })

  test('applies the same bounds to the reported figures', () => {
    const { parts } = usageOf(10, 5)
    const figures = { inputTokens: 10, outputTokens: 5, cacheTokens: 0 }
    const check = (more: object, count = 1): string => {
      const all = Array.from({ length: count }, () => parts).flat()
      return checkAgainstRequest({ parts: all, reported: { ...figures, ...more } }, bounds)
    }
    assert.equal(check({}), 'ok')
    for (const figure of ['inputTokens', 'outputTokens', 'cacheTokens'])
      for (const count of [1, 3])
        assert.equal(check({ [figure]: Number.MAX_SAFE_INTEGER }, count), 'implausible')
    assert.equal(check({ cacheTokens: NaN }), 'implausible')
    assert.equal(check({ cacheTokens: 17_584 }), 'ok')
    assert.equal(check({ cacheTokens: 17_585 }), 'implausible')
    // Each of three turns has read what the cache holds.
    assert.equal(check({ cacheTokens: 3 * 5_000_000 }, 3), 'ok')
  })

  test('never believes a count that would overflow a sum of figures', () => {
    const vast = { ...bounds, maxOutputTokens: Number.MAX_SAFE_INTEGER, payloadTokensMax: 10 ** 15 }
    assert.equal(checkAgainstRequest(usageOf(10 ** 9, 10 ** 9), vast), 'ok')
    assert.equal(checkAgainstRequest(usageOf(10 ** 9 + 1, 1), vast), 'implausible')
    assert.equal(checkAgainstRequest(usageOf(1, 10 ** 9 + 1), vast), 'implausible')
    const { reported } = boundReported(usageOf(10 ** 15, 10 ** 15), vast)
    assert.deepEqual(reported, { inputTokens: 10 ** 9, outputTokens: 10 ** 9, cacheTokens: 0 })
  })

  test('calls values that are not counts unusable', () => {
    for (const count of [-1, 0.5, NaN, Infinity, 2 ** 53])
      assert.equal(checkAgainstRequest(usageOf(10, count), bounds), 'unusable')
  })
})

describe('boundReported', () => {
  test("cuts the figures to the request's bounds and leaves the counts unchanged", () => {
    const usage = usageOf(5_000_000, 7_000)
    const { reported, parts } = boundReported(usage, bounds)
    assert.deepEqual(reported, { inputTokens: 17_584, outputTokens: 1_000, cacheTokens: 0 })
    assert.equal(parts, usage.parts)
  })

  test('shows zero for values that are not counts', () => {
    const reported = { inputTokens: NaN, outputTokens: -1, cacheTokens: 2 ** 53 }
    const none = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }
    assert.deepEqual(boundReported({ parts: [], reported }, bounds).reported, none)
  })
})
