/** Tallies: what is added comes out once, by its labels, however often somebody reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Samples, Tally } from './tally.ts'

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

test('samples are passed on by their labels, at a scrape and when 128 have gathered', () => {
  const handed: [label: string, samples: number[]][] = []
  const samples = new Samples(([label = ''], taken) => handed.push([label, [...taken]]))
  samples.add(0.5, 'a-main', 'large')
  samples.add(2, 'b-main', 'large')
  samples.add(1.5, 'a-main', 'large')
  assert.equal(handed.length, 0)
  samples.flush()
  samples.flush()
  assert.deepEqual(handed, [
    ['a-main', [0.5, 1.5]],
    ['b-main', [2]],
  ])
  handed.length = 0
  const many = Array.from({ length: 1_000 }, (_, index) => index)
  for (const sample of many) samples.add(sample, 'a-main', 'large')
  const early = handed.flatMap(([, taken]) => taken)
  assert.ok(early.length > 400, `only ${early.length} handed over`)
  samples.flush()
  assert.deepEqual(
    handed.flatMap(([, taken]) => taken),
    many,
  )
})
