import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow, formatFields, formatTable } from './output.ts'

test('shows small amounts without an exponent', () => {
  assert.equal(formatFields({ cost: 2.2e-7, least: 1e-12, correction: -2e-8 }).match(/e-/), null)
  assert.equal(formatTable(['USD'], [[2.2e-7]], ''), 'USD\n0.00000022')
  assert.equal(formatTable(['USD'], [[1e-12]], ''), 'USD\n0.000000000001')
  assert.equal(formatTable(['USD'], [[10]], ''), 'USD\n10')
  assert.equal(csvRow([-2e-8, 'a']), '-0.00000002,a\r\n')
})
