// What counts as a count, and what a counter makes of a value that is none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counters, isCount } from './counts.ts'

const odd: readonly unknown[] = [-1, 1.5, 2 ** 53, Infinity, NaN, '12', '', true, [], {}, 12n]

test('a count is a whole number that is exact and not below zero', () => {
  for (const value of [0, 1, 2 ** 53 - 1]) assert.equal(isCount(value), true, String(value))
  for (const value of [...odd, null, undefined]) assert.equal(isCount(value), false)
})

test('a value that is no count leaves the count, which is not known any more until the next one', () => {
  for (const value of odd) {
    for (const write of ['set', 'replace'] as const) {
      const counters = new Counters<'a' | 'b'>()
      counters[write]('a', 5)
      counters[write]('a', value)
      assert.deepEqual([counters.get('a'), counters.isKnown('a')], [5, false])
      assert.deepEqual([counters.has('a'), counters.isImplausible], [true, true])
      counters[write]('b', 1)
      assert.deepEqual([counters.isKnown('a'), counters.isKnown('b')], [false, true])
      counters[write]('a', 6)
      assert.deepEqual([counters.get('a'), counters.isKnown('a')], [6, true])
    }
  }
})

test('no value and null leave everything as it is', () => {
  for (const nothing of [undefined, null]) {
    const counters = new Counters<'a'>()
    counters.set('a', nothing)
    counters.replace('a', nothing)
    assert.deepEqual(
      [counters.get('a'), counters.has('a'), counters.isKnown('a')],
      [0, false, false],
    )
    counters.set('a', 5)
    counters.set('a', nothing)
    counters.replace('a', nothing)
    assert.deepEqual([counters.get('a'), counters.isKnown('a')], [5, true])
    assert.equal(counters.isImplausible, false)
    assert.equal(counters.read(nothing), undefined)
  }
})

test('a count that falls is not believed, unless the earlier one was a placeholder', () => {
  const counters = new Counters<'a'>()
  counters.set('a', 5)
  counters.set('a', 5)
  counters.replace('a', 4)
  assert.deepEqual([counters.get('a'), counters.isImplausible], [4, false])
  counters.set('a', 3)
  assert.deepEqual([counters.get('a'), counters.isImplausible], [4, true])
})

test('a format can call its counts implausible', () => {
  const counters = new Counters<'a'>()
  assert.equal(counters.isImplausible, false)
  counters.markImplausible()
  assert.equal(counters.isImplausible, true)
})
