/** Tests of rows as the text of an array; that the server reads it as meant shows test/storage. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toRowArray } from './row-array.ts'

test('writes numbers and plain texts as they are, and nothing for NULL', () => {
  assert.equal(
    toRowArray([
      [1, 'acc_1', null, 20n],
      [2, '', null, -3n],
    ]),
    String.raw`{"(1,acc_1,,20)","(2,\"\",,-3)"}`,
  )
  assert.equal(toRowArray([]), '{}')
})

test('escapes quotes and backslashes for the row and for the array', () => {
  assert.equal(
    toRowArray([['a"b', 'c\\d', 'e, (f)']]),
    String.raw`{"(\"a\\\"b\",\"c\\\\d\",\"e, (f)\")"}`,
  )
})
