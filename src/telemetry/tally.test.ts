/** Tallies: what is added comes out once, by its labels, however often somebody reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tally } from './tally.ts'

function taken(tally: Tally): (string | number)[][] {
  const all: (string | number)[][] = []
  tally.take((values, sum) => all.push([...values, sum]))
  return all
}

test('sums are kept by all their labels and passed on once', () => {
  const tally = new Tally()
  tally.add(1, 'alpha', 'completed', '200')
  tally.add(2, 'alpha', 'completed', '200')
  tally.add(4, 'alpha', 'failed', '200')
  tally.add(8, 'beta', 'completed', '200')
  assert.deepEqual(taken(tally), [
    ['alpha', 'completed', '200', 3],
    ['alpha', 'failed', '200', 4],
    ['beta', 'completed', '200', 8],
  ])
  assert.deepEqual(taken(tally), [])
  tally.add(16, 'beta', 'completed', '200')
  assert.deepEqual(taken(tally), [['beta', 'completed', '200', 16]])
})
