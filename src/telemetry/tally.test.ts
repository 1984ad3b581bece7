/** Tallies: what is added comes out once, by its labels, however often somebody reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Samples, Tally } from './tally.ts'

function taken(tally: Tally): (string | number)[][] {
  const all: (string | number)[][] = []
  tally.take((values, sum) => all.push([...values, sum]))
  return all
}

test('sums are kept by all their labels and handed over once', () => {
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

test('samples come out in order, when they are read and before they are many', () => {
  const handed: number[] = []
  const samples = new Samples((values, sample) => handed.push(values.length, sample))
  samples.add(0.5, 'a-main', 'large')
  assert.deepEqual(handed, [])
  samples.flush()
  samples.flush()
  assert.deepEqual(handed, [2, 0.5])
  for (let index = 0; index < 1_000; index++) samples.add(index, 'a-main', 'large')
  assert.ok(handed.length > 2 + 900, `only ${handed.length} handed over`)
})
