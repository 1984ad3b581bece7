import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainStringEnd } from './scan.ts'

test('finds the end of a string after any run of backslashes', () => {
  assert.equal(plainStringEnd('abc"', 0), 3)
  assert.equal(plainStringEnd('\\"x"', 0), 3)
  assert.equal(plainStringEnd('\\\\"x"', 0), 2)
  assert.equal(plainStringEnd('x\\\\\\"', 1), -1)
  assert.equal(plainStringEnd('', 0), -1)
})
