import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, systemRandom } from './random.ts'

test('the same seed gives the same sequence, another seed another one', () => {
  const take = (seed: number): number[] => {
    const random = seededRandom(seed)
    return Array.from({ length: 100 }, () => random())
  }
  assert.deepEqual(take(1), take(1))
  assert.notDeepEqual(take(1), take(2))
})

test('numbers lie in [0, 1) and spread over it', () => {
  for (const random of [seededRandom(7), systemRandom]) {
    const buckets = Array.from({ length: 10 }, () => 0)
    for (let index = 0; index < 10_000; index++) {
      const number = random()
      assert.ok(number >= 0 && number < 1)
      const bucket = Math.floor(number * 10)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    assert.ok(
      buckets.every((count) => count > 700 && count < 1_300),
      buckets.join(),
    )
  }
})
