/** Tests of medians and percentiles, compared with their definition on sorted values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Histogram, median } from './statistics.ts'

test('returns the middle of an odd number of values and the mean of the two middle ones of an even number', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.ok(Number.isNaN(median([])))
})

test('returns as a percentile the value at its rank', () => {
  const values = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 100 }), (recorded, percent) => {
      const histogram = new Histogram(500)
      for (const value of recorded) histogram.record(value)
      const sorted = recorded.toSorted((left, right) => left - right)
      const rank = Math.ceil((percent / 100) * sorted.length)
      assert.equal(histogram.percentile(percent), sorted[rank - 1])
    }),
  )
})

test('counts values above the limit at the limit and keeps the highest', () => {
  const histogram = new Histogram(10)
  for (const value of [1, 2, 5_000]) histogram.record(value)
  assert.equal(histogram.percentile(99), 10)
  assert.equal(histogram.highest, 5_000)
  assert.equal(histogram.total, 3)
})

test('returns NaN as percentile of an empty or cleared histogram', () => {
  const histogram = new Histogram(10)
  histogram.record(3)
  histogram.clear()
  assert.ok(Number.isNaN(histogram.percentile(50)))
  assert.equal(histogram.total, 0)
})
