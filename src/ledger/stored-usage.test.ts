/** The text of a usage: what is written is read again exactly. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Usage } from '../metering/usage.ts'
import { formatUsage, parseUsage, readReported } from './stored-usage.ts'

const usages: Readonly<Record<string, Usage>> = {
  'of one part': {
    parts: [{ model: 'large-1', counts: { input: 26, output: 34 }, promptTokens: 26 }],
    reported: { inputTokens: 26, outputTokens: 34, cacheTokens: 0 },
  },
  'of the requested model, with a cache': {
    parts: [{ counts: { input: 10, cache_read: 5, cache_write_1h: 7 }, promptTokens: 22 }],
    reported: { inputTokens: 10, outputTokens: 0, cacheTokens: 12 },
  },
  'of another prompt than is counted, with all other facts': {
    parts: [
      { counts: { output: 3 }, promptTokens: 200_001, tier: 'flex', speed: 'fast', geo: 'us' },
      { model: 'small-1', isOtherModel: true, counts: {}, promptTokens: 0 },
    ],
    reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
  },
  'without a part': { parts: [], reported: { inputTokens: 1, outputTokens: 2, cacheTokens: 3 } },
}

describe('the text of a usage', () => {
  for (const [name, usage] of Object.entries(usages)) {
    it(`is read as it was written: ${name}`, () => {
      assert.deepEqual(parseUsage(formatUsage(usage)), usage)
      assert.deepEqual(readReported(formatUsage(usage)), usage.reported)
    })
  }

  it('contains the counts, and nothing that they give', () => {
    const { 'of one part': usage } = usages
    assert.ok(usage !== undefined)
    assert.equal(formatUsage(usage), '[[26,34],["large-1",{"input":26,"output":34}]]')
  })

  it('counts as zero where a row has none', () => {
    assert.deepEqual(readReported(null), { inputTokens: 0, outputTokens: 0, cacheTokens: 0 })
  })

  for (const text of ['', '{}', '5', '[]', '[5]', '[[1,2],5]'])
    it(`is refused where it is none: ${text}`, () => {
      assert.throws(() => parseUsage(text))
    })
})
