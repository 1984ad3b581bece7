import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestWord } from './nearest.ts'

const known = ['listen', 'store', 'region']

test('counts insertions, deletions and substitutions', () => {
  for (const given of ['listn', 'llisten', 'lisden', 'listen'])
    assert.equal(nearestWord(given, known, 1), 'listen', given)
  assert.equal(nearestWord('lst', known, 3), 'listen')
  assert.equal(nearestWord('lst', known, 2), undefined)
})

test('takes the nearest, the first of equals, and none beyond the bound', () => {
  assert.equal(nearestWord('abcd', ['abxy', 'abcx', 'abcz'], 2), 'abcx')
  assert.equal(nearestWord('', known, 4), undefined)
  assert.equal(nearestWord('', known, 5), 'store')
  assert.equal(nearestWord('x', [], 9), undefined)
})

test('does not compare very long words', () => {
  assert.equal(nearestWord('a'.repeat(65), ['a'.repeat(65)], 100), undefined)
})
