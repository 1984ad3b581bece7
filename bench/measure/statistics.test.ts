/** Tests of medians and percentiles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median, percentileOf } from './statistics.ts'

test('returns the middle of an odd number of values and the mean of the two middle ones of an even number', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.ok(Number.isNaN(median([])))
})

test('returns as a percentile the value at its rank', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index)
  assert.deepEqual(
    [1, 50, 99, 100].map((percent) => percentileOf(values, percent)),
    [2, 100, 198, 200],
  )
  assert.equal(percentileOf([7], 1), 7)
  assert.equal(percentileOf([], 50), null)
})
