/** Tests of reading which cores may be used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCoreList } from './machine.ts'

test('a list of cores may have single ones and ranges', () => {
  assert.deepEqual(parseCoreList('0-3,8\n'), [0, 1, 2, 3, 8])
  assert.deepEqual(parseCoreList('5'), [5])
  assert.deepEqual(parseCoreList(''), [])
})
