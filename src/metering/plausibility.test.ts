import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { boundReported, checkAgainstRequest } from './plausibility.ts'
import type { Usage } from './usage.ts'

const bounds = { inputTokensEstimate: 300, maxOutputTokens: 500, choiceCount: 2, bodyBytes: 900 }

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

  test('believes more where the vendor searched the web or ran several models', () => {
    assert.equal(checkAgainstRequest(usageOf(90_000, 9_000, { web_search: 3 }), bounds), 'ok')
    const [part] = usageOf(90_000, 9_000).parts
    assert.ok(part)
    const several = { ...usageOf(1, 1), parts: [part, part] }
    assert.equal(checkAgainstRequest(several, bounds), 'ok')
    const searches = usageOf(10, 1, { web_search: 1_000_000 })
    assert.equal(checkAgainstRequest(searches, bounds), 'implausible')
  })

  test('believes more where the request asks for tools of the vendor, or brings documents', () => {
    const usage = usageOf(60_000, 1)
    assert.equal(checkAgainstRequest(usage, bounds), 'implausible')
    assert.equal(checkAgainstRequest(usage, { ...bounds, hasServerTools: true }), 'ok')
    assert.equal(checkAgainstRequest(usage, { ...bounds, blobTokensMax: 50_000 }), 'ok')
    assert.equal(checkAgainstRequest(usage, { ...bounds, blobTokensMax: 40_000 }), 'implausible')
  })

  test('cannot use what is no count', () => {
    for (const count of [-1, 0.5, NaN, Infinity, 2 ** 53])
      assert.equal(checkAgainstRequest(usageOf(10, count), bounds), 'unusable')
  })
})

describe('boundReported', () => {
  test('cuts the figures to what the request allows and leaves the counts as they came', () => {
    const usage = usageOf(5_000_000, 7_000)
    const { reported, parts } = boundReported(usage, bounds)
    assert.deepEqual(reported, { inputTokens: 17_584, outputTokens: 1_000, cacheTokens: 0 })
    assert.equal(parts, usage.parts)
  })
})
