/** Tests of parsing the list of allowed cores. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCoreList } from './machine.ts'

test('parses single cores and ranges', () => {
  assert.deepEqual(parseCoreList('0-3,8\n'), [0, 1, 2, 3, 8])
  assert.deepEqual(parseCoreList('5'), [5])
  assert.deepEqual(parseCoreList(''), [])
})
