import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { boundReported, checkAgainstRequest, type Usage } from './usage.ts'

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

describe('checkAgainstRequest', () => {
  test('believes output up to the limit of all choices and no further', () => {
    assert.equal(checkAgainstRequest(usageOf(10, 1_000), bounds), 'ok')
    assert.equal(checkAgainstRequest(usageOf(10, 1_001), bounds), 'implausible')
  })

  test('believes input up to its bound, of all parts together', () => {
    assert.equal(checkAgainstRequest(usageOf(2_900, 1), bounds), 'ok')
    assert.equal(checkAgainstRequest(usageOf(2_901, 1), bounds), 'implausible')
    const several = (prompt: number): Usage => ({
      ...usageOf(1, 1),
      parts: [...usageOf(prompt, 1).parts, ...usageOf(1_450, 1).parts],
    })
    assert.equal(checkAgainstRequest(several(1_450), bounds), 'ok')
    assert.equal(checkAgainstRequest(several(1_451), bounds), 'implausible')
  })

  test('believes one allowance of output where the vendor works by itself', () => {
    const worked = (output: number, count: number): Usage => ({
      ...usageOf(1, 1),
      parts: Array.from({ length: count }, () => usageOf(1, output).parts).flat(),
    })
    assert.equal(checkAgainstRequest(worked(100_500, 2), bounds), 'ok')
    assert.equal(checkAgainstRequest(worked(100_501, 2), bounds), 'implausible')
    const withTools = { ...bounds, serverTools: { uses: 3 } }
    assert.equal(checkAgainstRequest(usageOf(1, 201_000), withTools), 'ok')
    assert.equal(checkAgainstRequest(usageOf(1, 201_001), withTools), 'implausible')
  })

  test('believes uses that the request asks for, of all parts together', () => {
    const withTools = { ...bounds, serverTools: { uses: 3 }, vendorTools: { file_search: 2 } }
    const using = (web_search: number, file_search = 0): Usage =>
      usageOf(10, 1, { web_search, file_search })
    assert.equal(checkAgainstRequest(using(3, 2), withTools), 'ok')
    assert.equal(checkAgainstRequest(using(4), withTools), 'implausible')
    assert.equal(checkAgainstRequest(using(1, 3), withTools), 'implausible')
    assert.equal(checkAgainstRequest(using(1), bounds), 'implausible')
    assert.equal(checkAgainstRequest(using(0), bounds), 'ok')
    const twice = { ...using(2), parts: [...using(2).parts, ...using(2).parts] }
    assert.equal(checkAgainstRequest(twice, withTools), 'implausible')
  })

  test('applies the same bounds to the reported figures', () => {
    const { parts } = usageOf(10, 5)
    const figures = { inputTokens: 10, outputTokens: 5, cacheTokens: 0 }
    const check = (more: object): string =>
      checkAgainstRequest({ parts, reported: { ...figures, ...more } }, bounds)
    assert.equal(check({}), 'ok')
    for (const figure of ['inputTokens', 'outputTokens', 'cacheTokens'])
      assert.equal(check({ [figure]: Number.MAX_SAFE_INTEGER }), 'implausible')
    assert.equal(check({ cacheTokens: NaN }), 'implausible')
    assert.equal(check({ cacheTokens: 2_900 }), 'ok')
    assert.equal(check({ cacheTokens: 2_901 }), 'implausible')
  })

  test('never believes a count that would overflow a sum of figures', () => {
    const vast = { ...bounds, maxOutputTokens: Number.MAX_SAFE_INTEGER, inputTokensMax: Infinity }
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
    assert.deepEqual(reported, { inputTokens: 2_900, outputTokens: 1_000, cacheTokens: 0 })
    assert.equal(parts, usage.parts)
  })

  test('shows zero for values that are not counts', () => {
    const reported = { inputTokens: NaN, outputTokens: -1, cacheTokens: 2 ** 53 }
    const none = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }
    assert.deepEqual(boundReported({ parts: [], reported }, bounds).reported, none)
  })
})
